from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from sql_optim_env.cli.mutation import Mutant, report, run
from sql_optim_env.cli.mutation.run import MutationTest, Outcome, kill_rate
from sql_optim_env.cli.mutation.tune_databases import TuneDatabases
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("tune_beehives")
REFERENCE = TASK.tune.reference_sql
WRONG = Mutant("boundary moved", REFERENCE.replace("43999", "43998"))
SAME = Mutant("distinct", REFERENCE.replace("SELECT", "SELECT DISTINCT"))
BROKEN = Mutant("arithmetic", REFERENCE.replace("i.minute BETWEEN", "i.nothing BETWEEN"))


def outcome(fate: Any) -> Outcome:
    return Outcome(WRONG, fate, "")


@pytest.fixture
def only_three(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> DatasetStore:
    """Three mutants, and no sandbox: what the small instances let through is accepted."""
    monkeypatch.setattr(run, "mutants", lambda sql, dialect: (WRONG, SAME, BROKEN))
    monkeypatch.setattr(run, "constants", lambda sql, public: ())
    monkeypatch.setattr(run, "_graded", lambda task, sandbox, sql: ("", False))
    monkeypatch.setattr(Sandbox, "start", lambda self: None)
    monkeypatch.setattr(Sandbox, "call", lambda self, *args, **kwargs: None)
    return DatasetStore(data_dir)


def test_the_rate_counts_those_that_differ_somewhere() -> None:
    tests = [
        MutationTest("a", (outcome("killed"), outcome("killed"), outcome("equivalent")), 0),
        MutationTest("b", (outcome("missed"),), 0),
    ]
    assert [test.kill_rate for test in tests] == [1.0, 0.0]
    assert kill_rate(tests) == pytest.approx(2 / 3)
    assert kill_rate([]) == 1.0


def test_a_wrong_mutant_is_killed_an_equal_one_is_found_equal_and_one_that_does_not_run_is_not_counted(
    only_three: DatasetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = run.mutation_test(TASK, only_three, Sandbox(workers=1, data_dir=only_three.root))
    assert [(outcome.mutant, outcome.fate) for outcome in test.outcomes] == [(WRONG, "killed"), (SAME, "equivalent")]


def test_the_longer_search_finds_what_grading_misses_and_the_command_fails(
    only_three: DatasetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TuneDatabases, "grading", lambda self: [])
    console = Console(record=True, width=200)
    with pytest.raises(typer.Exit) as stopped:
        report.check_mutants([TASK], only_three, console)
    assert stopped.value.exit_code == 1
    shown = console.export_text()
    assert "0 killed, 1 equivalent, 1 missed" in shown
    assert "43998" in shown
