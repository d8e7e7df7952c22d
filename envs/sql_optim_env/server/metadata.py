"""What ``/metadata``, ``/tasks`` and the web page say about the environment and its tasks: public facts, and no task is made for them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import metadata

from openenv.core.env_server.types import EnvironmentMetadata
from pydantic import BaseModel, Field

from sql_optim_env import __version__
from sql_optim_env.families.base import FamilyRegistry
from sql_optim_env.models import ActionKind
from sql_optim_env.tasks.catalogue import Catalogue
from sql_optim_env.tasks.splits import SPLITS
from sql_optim_env.tasks.task import Difficulty, Family, Split

__all__ = [
    "DISTRIBUTION",
    "ENV_NAME",
    "AboutEnvironment",
    "FamilyFacts",
    "ListedTask",
    "TaskList",
    "environment_metadata",
    "family_facts",
    "task_list",
]

DISTRIBUTION = "openenv-sql-optim-env"
ENV_NAME = "sql_optim_env"
"""The environment's name on the wire, part of the Task API's paths."""


class FamilyFacts(BaseModel):
    """A family in the registry."""

    tasks: dict[Split, int] = Field(description="How many tasks each split has")
    hand_made: list[str] = Field(description="Ids of the tasks that were made by hand; the others are generated")
    graders: list[str] = Field(description="Names of what grades them")
    action_kinds: list[ActionKind] = Field(description="Kinds of action that its episodes may allow")


class AboutEnvironment(EnvironmentMetadata):
    """OpenEnv's metadata, with the registry of families."""

    registry: dict[str, FamilyFacts] = Field(default_factory=dict, description="The families that this server plays")


class ListedTask(BaseModel):
    """A task in ``/tasks``."""

    id: str
    family: Family
    split: Split
    difficulty: Difficulty
    attempts: int = Field(description="Fixes that an episode may try where the task wants one, else submissions")
    grader: str = Field(description="The name of what grades it")


class TaskList(BaseModel):
    """All tasks of all families."""

    tasks: list[ListedTask]
    total: int
    graded: int = Field(description="How many of them have a grader")


def environment_metadata(tasks: Catalogue, families: FamilyRegistry) -> AboutEnvironment:
    """Name, description, version and README of the installed distribution, and the registry."""
    name, description, readme, version = _installed()
    return AboutEnvironment(
        name=name,
        description=description,
        readme_content=readme,
        version=version,
        author="sql_optim_env contributors",
        documentation_url="/docs",
        registry=family_facts(tasks, families),
    )


def family_facts(tasks: Catalogue, families: FamilyRegistry) -> dict[str, FamilyFacts]:
    """The facts of each family that can be played, by its name."""
    facts = {}
    for name in families.names():
        entries = [entry for entry in tasks.entries() if entry.family == name]
        facts[name] = FamilyFacts(
            tasks={split: sum(entry.split == split for entry in entries) for split in SPLITS},
            hand_made=[task.id for task in tasks.hand_made() if task.family == name],
            graders=sorted({entry.grader_name for entry in entries}),
            action_kinds=list(families.builders[name].allowed_kinds),
        )
    return facts


def task_list(tasks: Catalogue) -> TaskList:
    """Every task in catalogue order."""
    listed = [
        ListedTask(
            id=entry.id,
            family=entry.family,
            split=entry.split,
            difficulty=entry.difficulty,
            attempts=entry.attempts,
            grader=entry.grader_name,
        )
        for entry in tasks.entries()
    ]
    return TaskList(tasks=listed, total=len(listed), graded=sum(bool(task.grader) for task in listed))


@cache
def _installed() -> tuple[str, str, str, str]:
    """Read once from the installed distribution, whose long description is the README."""
    installed = metadata(DISTRIBUTION)
    readme = _without_front_matter(str(installed.json.get("description", "")))
    return ENV_NAME, str(installed["Summary"]), readme, __version__


def _without_front_matter(text: str) -> str:
    """The README as prose: what a hosting platform reads at its top is not for people."""
    if text.startswith("---\n") and (end := text.find("\n---\n", 4)) >= 0:
        return text[end + 5 :].lstrip()
    return text
