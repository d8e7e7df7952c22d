"""``sql-optim tasks``: what can be asked."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sql_optim_env.tasks.catalogue import catalogue, public_spec

__all__ = ["tasks"]


def tasks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the catalogue: id, family, split, difficulty and budgets. Shows no answer."""
    specs = [public_spec(task) for task in catalogue().select()]
    if as_json:
        typer.echo(json.dumps(specs, indent=2))
        return
    table = Table(title=f"{len(specs)} tasks")
    for heading in ("task", "family", "split", "index", "difficulty", "name"):
        table.add_column(heading)
    for spec in specs:
        table.add_row(spec["id"], spec["family"], spec["split"], str(spec["index"]), spec["difficulty"], spec["name"])
    Console().print(table)
