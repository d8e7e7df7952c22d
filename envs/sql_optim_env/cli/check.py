"""``sql-optim check``: is every task of the catalogue what it claims to be?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sql_optim_env.agents.canary import load_canaries
from sql_optim_env.agents.player import Session
from sql_optim_env.cli.check_audit import AuditCheck, check_audit_task
from sql_optim_env.cli.check_gap import CANARY_SETTINGS, LEAST_GAP, MAX_FLOOR, Gap, gaps
from sql_optim_env.cli.check_rewrite import Careless, TaskCheck, check_task, load_careless
from sql_optim_env.cli.check_tune import SHAPES, TuneCheck, check_tune_task, medians
from sql_optim_env.cli.claims import Claim
from sql_optim_env.cli.local_server import local_session
from sql_optim_env.cli.mutation.report import check_mutants
from sql_optim_env.datasets.store import DATA_DIR_VARIABLE, DatasetStore, default_data_dir
from sql_optim_env.errors import AgentError, InfraError, InvalidArgumentError, UnknownTaskError
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["check"]

_WIDTH: Final = 120


def check(
    task_id: Annotated[list[str] | None, typer.Argument(help="Tasks; all hand-made ones without any.")] = None,
    careless: Annotated[Path | None, typer.Option(help="Directory of careless rewrites, <task id>.toml, that must be refused.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where the datasets are; default as for the server.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each statement; the smallest CPU time counts.")] = 3,
    generated: Annotated[bool, typer.Option("--generated", help="All generated tasks instead, each in a temporary directory.")] = False,
    mutants: Annotated[bool, typer.Option("--mutants", help="Only mutate the references: are wrong ones refused? Takes minutes.")] = False,
    gap: Annotated[bool, typer.Option("--gap", help="Only play the canaries: what does an honest answer earn that no other does?")] = False,
    canaries: Annotated[Path, typer.Option(help="Directory of canaries.")] = Path("tests/contract/canaries"),
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the claims that hold, too.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Refit and judge the cost model instead of checking tasks.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --cost: a quarter of the corpus, no micro-benchmarks.")] = False,
    out: Annotated[Path | None, typer.Option(help="With --cost: directory for the report, its plot and the refitted weights.")] = None,
) -> None:
    """Check tasks by measurement: headroom, well-posedness, right answers accepted, wrong ones refused, honesty worth more than any trick.

    Exits 1 when a claim fails.
    """
    # A pipe or a narrow terminal must not cut the figures.
    console = Console(width=max(Console().width, _WIDTH))
    store = DatasetStore(data_dir or default_data_dir(), progress=console.print)
    if cost:
        # Imported here because it needs what only developers have installed.
        from sql_optim_env.cli.check_cost import check_cost

        if not check_cost(store, console, out, quick=quick):
            raise typer.Exit(1)
        return
    try:
        tasks = [catalogue().get(name) for name in task_id] if task_id else _every_task(generated)
    except UnknownTaskError as error:
        raise typer.BadParameter(str(error)) from None
    if mutants:
        check_mutants(tasks, store, console, verbose=verbose)
        return
    holds = gap or _checked_claims(tasks, careless, store, repeats, console, verbose)
    if gap or (canaries.is_dir() and not generated):
        holds = _checked_gaps(tasks, canaries, store, console) and holds
    else:
        console.print(f"gameability was not measured: {'--gap does it' if generated else f'there is no directory {canaries}'}")
    if not holds:
        raise typer.Exit(1)


def _checked_gaps(tasks: Sequence[Task], canaries: Path, store: DatasetStore, console: Console) -> bool:
    try:
        known = load_canaries(canaries)
    except (InvalidArgumentError, OSError) as error:
        raise typer.BadParameter(str(error)) from None
    with local_session({DATA_DIR_VARIABLE: str(store.root), **CANARY_SETTINGS}) as session:
        found = list(gaps(session, tasks, known, lambda name: console.print(f"playing {name}", style="dim")))
    console.print(_gap_table(found))
    return all(each.ok for each in found)


def _checked_claims(
    tasks: Sequence[Task], careless: Path | None, store: DatasetStore, repeats: int, console: Console, verbose: bool
) -> bool:
    results: list[TaskCheck] = []
    tuned: list[TuneCheck] = []
    audited: list[AuditCheck] = []
    for task in tasks:
        if task.family == "tune":
            tuned.append(_checked_tune(task, store))
            _show(tuned[-1], console, verbose)
        elif task.family == "rewrite":
            results.append(_checked_rewrite(task, store, load_careless(careless, task.id) if careless else (), repeats))
            _show(results[-1], console, verbose)
    audits = [task for task in tasks if task.family == "audit"]
    if audits:
        with local_session({DATA_DIR_VARIABLE: str(store.root)}) as session:
            for task in audits:
                audited.append(_checked_audit(session, task))
                _show(audited[-1], console, verbose)
    for table in (_rewrite_table(results), _tune_table(tuned), _audit_table(audited)):
        if table.row_count:
            console.print(table)
    return all([*(each.ok for each in results), *(each.ok for each in tuned), *(each.ok for each in audited)])


def _every_task(generated: bool) -> tuple[Task, ...]:
    return catalogue().generated() if generated else catalogue().hand_made()


def _checked_rewrite(task: Task, store: DatasetStore, careless: Sequence[Careless], repeats: int) -> TaskCheck:
    try:
        store.ensure_all(task_instances(task))
        return check_task(task, store.root, careless, repeats=repeats)
    except (AgentError, InfraError) as error:
        return TaskCheck(task.id, (Claim("the task runs", False, str(error)),), (), 0.0)


def _checked_tune(task: Task, store: DatasetStore) -> TuneCheck:
    """Of a generated task the databases are gone afterwards: those of all of them together take gigabytes."""
    try:
        if "generated" not in task.tags:
            return check_tune_task(task, store)
        with tempfile.TemporaryDirectory() as directory:
            return check_tune_task(task, DatasetStore(Path(directory)))
    except (AgentError, InfraError) as error:
        return TuneCheck(task.id, (Claim("the task runs", False, str(error)),), {})


def _checked_audit(session: Session, task: Task) -> AuditCheck:
    try:
        return check_audit_task(session, task, catalogue().get)
    except InfraError as error:
        return AuditCheck(task.id, (Claim("the task runs", False, str(error)),), 0.0, 0.0, 0.0)


def _show(result: TaskCheck | TuneCheck | AuditCheck, console: Console, verbose: bool) -> None:
    for claim in result.claims:
        if verbose or not claim.holds:
            verdict = "[green]ok[/]" if claim.holds else "[red]no[/]"
            console.print(f"  {verdict} {result.task_id}: {escape(claim.name)}", f"[dim]{escape(claim.seen)}[/]")


def _begun(title: str, *figures: str) -> Table:
    table = Table(title=title)
    for heading in ("task", "verdict"):
        table.add_column(heading, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right")
    return table


def _verdict(ok: bool) -> str:
    return "[green]ok[/]" if ok else "[red]failed[/]"


def _held(result: TaskCheck | TuneCheck | AuditCheck) -> str:
    return f"{sum(claim.holds for claim in result.claims)}/{len(result.claims)}"


def _rewrite_table(results: Sequence[TaskCheck]) -> Table:
    table = _begun("rewrite", "claims", "original CPU ms", "original / reference: cost, CPU")
    for result in results:
        ratios = "  ".join(f"{ratio.instance} {ratio.cost:.1f}x, {ratio.cpu:.1f}x" for ratio in result.headroom)
        table.add_row(result.task_id, _verdict(result.ok), _held(result), f"{result.original_ms:.0f}", ratios)
    return table


def _tune_table(results: Sequence[TuneCheck]) -> Table:
    table = _begun("tune: logical reads, medians of five seeds", "claims", *SHAPES)
    for result in results:
        table.add_row(result.task_id, _verdict(result.ok), _held(result), *medians(result))
    return table


def _audit_table(results: Sequence[AuditCheck]) -> Table:
    table = _begun("audit: scores under the worst of ten seeds", "claims", "oracle", "floor", "looks alone")
    for result in results:
        figures = (f"{figure:.3f}" for figure in (result.oracle, result.floor, result.looks_only))
        table.add_row(result.task_id, _verdict(result.ok), _held(result), *figures)
    return table


def _gap_table(found: Sequence[Gap]) -> Table:
    table = _begun(f"gameability: gap at least {LEAST_GAP}, floor at most {MAX_FLOOR}", "oracle", "floor", "best canary", "gap", "canaries")
    for each in found:
        figures = (f"{figure:.3f}" for figure in (each.oracle, each.floor, each.best, each.gap))
        table.add_row(each.task_id, _verdict(each.ok), *figures, str(each.canaries))
    return table
