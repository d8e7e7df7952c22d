"""``sql-optim check --mutants``: the kill rate of every task, and what slipped through."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sql_optim_env.cli.mutation.audit import audit_mutation_test
from sql_optim_env.cli.mutation.run import FATES, LEAST_KILL_RATE, MutationTest, kill_rate, mutation_test
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.task import Task

__all__ = ["DEADLINE_S", "check_mutants", "mutation_tests"]

DEADLINE_S: Final = 8.0
"""Seconds that grading may take for one mutant."""


def mutation_tests(tasks: Sequence[Task], store: DatasetStore) -> Iterator[MutationTest]:
    """Judge the mutants of every reference of ``tasks``, one task after another."""
    logging.getLogger("sql_optim_env.sandbox").setLevel(logging.ERROR)  # mutants that run out of time are no news
    with Sandbox(workers=1, data_dir=store.root, deadline_s=DEADLINE_S) as sandbox:
        for task in tasks:
            yield audit_mutation_test(task) if task.family == "audit" else mutation_test(task, store, sandbox)


def check_mutants(tasks: Sequence[Task], store: DatasetStore, console: Console, *, verbose: bool = False) -> None:
    """Judge the mutants of every reference of ``tasks`` and print what became of them.

    ``verbose`` shows the equivalent ones too. Raises typer.Exit(1) when fewer than ``LEAST_KILL_RATE`` of those that differ were killed.
    """
    tests = []
    for test in mutation_tests(tasks, store):
        tests.append(test)
        _show(test, console, verbose)
    console.print(_table(tests))
    if kill_rate(tests) < LEAST_KILL_RATE:
        raise typer.Exit(1)


def _show(test: MutationTest, console: Console, verbose: bool) -> None:
    console.print(f"{test.task_id}: {', '.join(f'{test.count(fate)} {fate}' for fate in FATES)}")
    if test.disputed:
        console.print(f"  the task's own queries differ on {test.disputed} databases of the search, which were left out")
    for outcome in test.outcomes:
        if outcome.fate == "missed" or (verbose and outcome.fate == "equivalent"):
            console.print(f"  {outcome.fate}, {outcome.mutant.kind} {escape(outcome.where)}\n{escape(outcome.mutant.sql)}")


def _table(tests: Sequence[MutationTest]) -> Table:
    table = Table(title="mutants of the references")
    table.add_column("task", no_wrap=True)
    for heading in ("mutants", *FATES, "kill rate"):
        table.add_column(heading, justify="right")
    for test in tests:
        table.add_row(test.task_id, str(len(test.outcomes)), *(str(test.count(fate)) for fate in FATES), f"{test.kill_rate:.1%}")
    total = [str(sum(test.count(fate) for test in tests)) for fate in FATES]
    table.add_section()
    table.add_row("all", str(sum(len(test.outcomes) for test in tests)), *total, f"{kill_rate(tests):.2%}")
    return table
