"""What ``/metadata`` and the web page say about the environment."""

from __future__ import annotations

from functools import cache
from importlib.metadata import metadata

from openenv.core.env_server.types import EnvironmentMetadata

from sql_optim_env import __version__

__all__ = ["DISTRIBUTION", "ENV_NAME", "environment_metadata"]

DISTRIBUTION = "openenv-sql-optim-env"
ENV_NAME = "sql_optim_env"
"""The environment's name on the wire, part of the Task API's paths."""


@cache
def environment_metadata() -> EnvironmentMetadata:
    """Read once from the installed distribution, whose long description is the README."""
    installed = metadata(DISTRIBUTION)
    return EnvironmentMetadata(
        name=ENV_NAME,
        description=str(installed["Summary"]),
        readme_content=_without_front_matter(str(installed.json.get("description", ""))),
        version=__version__,
        author="sql_optim_env contributors",
        documentation_url="/docs",
    )


def _without_front_matter(text: str) -> str:
    """The README as prose: what a hosting platform reads at its top is not for people."""
    if text.startswith("---\n") and (end := text.find("\n---\n", 4)) >= 0:
        return text[end + 5 :].lstrip()
    return text
