"""``sql-optim build``: make every dataset and prepare every task ahead of time, e.g. into an image."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["build"]

_BUILD_WITHIN_S = 1800.0


def build(
    data_dir: Annotated[Path | None, typer.Option(help="Where to put it; default as for the server.")] = None,
) -> None:
    """Build all datasets and prepare all tasks. What is there and whole is kept, so a second run is quick."""
    from sql_optim_env.server.runtime import Runtime
    from sql_optim_env.server.settings import Settings

    settings = Settings() if data_dir is None else Settings(data_dir=data_dir)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    runtime = Runtime(settings)
    try:
        runtime.start()
        runtime.wait_ready(_BUILD_WITHIN_S)
    finally:
        runtime.close()
    typer.echo(f"built in {settings.data_dir}")
