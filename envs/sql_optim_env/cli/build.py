"""``sql-optim build``: make every dataset and prepare every task ahead of time, e.g. into an image."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.sandbox.tune_baseline import tune_instances
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["build"]

_BUILD_WITHIN_S = 1800.0


def build(
    data_dir: Annotated[Path | None, typer.Option(help="Where to put it; default as for the server.")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove the datasets of other versions; no server may be using them.")] = False,
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
    if prune:
        typer.echo(f"removed {DatasetStore(settings.data_dir).prune(_instances()) / 1e6:,.1f} MB of other versions")


def _instances() -> Iterator[Instance]:
    """Every database that this version may use."""
    for task in (*catalogue().hand_made(), *catalogue().generated()):
        if task.family != "audit":  # those are made in memory, from every seed anew
            yield from task_instances(task) if task.family == "rewrite" else tune_instances(task)
