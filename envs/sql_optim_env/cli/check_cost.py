"""``sql-optim check --cost``: does a cost mean CPU time?

Refits the weights on one half of the corpus, judges the packaged weights and the refit on the other half, tries to hide work, and runs
honest statements beside a busy neighbour. Imported only when asked for: it needs numpy and scipy, which the server does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.duckdb.cost.calibration import CalibrationReport, Plan, calibrate
from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.calibration.pairs import Pair
from sql_optim_env.engines.duckdb.cost.calibration.report import write_report
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["catalogue_pairs", "catalogue_statements", "check_cost", "cost_report", "figures_table"]

_DATASET = "shop"
_FULL_PASSES = 4
_QUICK_PASSES = 3


def _rewrites() -> Iterator[Task]:
    """The rewrite tasks over the dataset of the corpus."""
    return (task for task in catalogue().hand_made() if task.family == "rewrite" and task.dataset == _DATASET)


def catalogue_statements(databases: Iterable[str], tasks: Iterable[Task] | None = None) -> list[Statement]:
    """Original, reference and equivalents of every rewrite task on every instance; a task is a template."""
    found: dict[tuple[str, str], Statement] = {}
    for task in _rewrites() if tasks is None else tasks:
        for sql in (task.sql, task.rewrite.reference_sql, *task.rewrite.equivalents):
            for database in databases:
                found.setdefault((database, sql), Statement(database, "catalogue", f"catalogue_{task.id}", sql))
    return list(found.values())


def catalogue_pairs(tasks: Iterable[Task] | None = None) -> list[Pair]:
    """Original and reference of every rewrite task that claims a faster reference."""
    return [
        Pair(task.id, task.sql, task.rewrite.reference_sql)
        for task in (_rewrites() if tasks is None else tasks)
        if not task.rewrite.optimal
    ]


def cost_report(store: DatasetStore, say: Callable[[str], None], *, quick: bool) -> CalibrationReport:
    """Measure and judge. Takes a quarter of an hour on a quiet machine, two minutes with ``quick``."""
    wanted = [instance for instance in get_dataset(_DATASET).instances if instance.role in ("public", "twin")]
    databases = {instance.name: store.ensure(instance) for instance in wanted}
    return calibrate(
        databases,
        Plan(_QUICK_PASSES if quick else _FULL_PASSES, quick=quick),
        extra=catalogue_statements(databases),
        pairs=catalogue_pairs(),
        progress=say,
    )


def check_cost(store: DatasetStore, console: Console, out: Path | None, *, quick: bool) -> bool:
    """Run the check, show its figures, and write ``report.md``, ``report.json``, ``scatter.svg`` and the refitted ``weights.json`` into
    ``out``. Returns whether every figure keeps its bound."""
    report = cost_report(store, lambda line: console.print(line, style="dim", markup=False), quick=quick)
    if out is not None:
        write_report(report, out)
        console.print(f"written to {out}", markup=False)
    console.print(figures_table(report))
    return report.ok


def figures_table(report: CalibrationReport) -> Table:
    """Every figure with its bound."""
    table = Table(title=f"cost check of {report.packaged.version}")
    table.add_column("figure")
    for heading in ("value", "bound"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for figure in report.figures():
        verdict = "[green]ok[/]" if figure.holds else "[red]missed[/]"
        table.add_row(figure.name, f"{figure.value:.4g}", f"{'≤' if figure.most else '≥'} {figure.bound:g}", verdict)
    return table
