"""``sql-optim bench``: the speed figures, as ratios within one run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sql_optim_env.cli import measures, tune_measures
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.cli.measures import Figure

__all__ = ["bench"]

_YARDSTICK = Path("bench") / "reference_grader.py"


def bench(
    repeats: Annotated[int, typer.Option(min=3, help="Repetitions of every timed step; the median is shown.")] = 7,
    reference: Annotated[Path, typer.Option(help="The plain grader to compare with.", exists=True, dir_okay=False)] = _YARDSTICK,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure grading against the bare engine and a plain grader, throughput, time to ready, and memory."""
    said = Console(stderr=True, highlight=False)
    figures = [*measures.measure_all(repeats, reference, said.print), *_tune(repeats, said.print)]
    if as_json:
        typer.echo(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        Console().print(_table(figures))


def _tune(repeats: int, say: measures.Say) -> Iterator[Figure]:
    say("queries on a large scratch copy")
    yield from tune_measures.scratch_steps(repeats)
    with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning", "SQL_OPTIM_WORKERS": "1"}) as server:
        say("graded tune submissions")
        yield from tune_measures.graded_submissions(server, repeats)


def _table(figures: list[Figure]) -> Table:
    table = Table(title="Medians of one run; spread is the middle half", caption="every ratio compares two measurements of this run")
    for heading in ("measure", "case"):
        table.add_column(heading)
    for heading in ("value", "spread", "unit", "goal"):
        table.add_column(heading, justify="right")
    last = ""
    for figure in figures:
        if figure.measure != last:
            table.add_section()
        table.add_row(
            figure.measure if figure.measure != last else "",
            figure.case,
            f"{figure.value:.2f}",
            f"{figure.low:.2f}–{figure.high:.2f}",
            figure.unit,
            figure.goal,
        )
        last = figure.measure
    return table
