"""The hidden instances bite: of a fixed sample of mutants, those that differ on some database are refused at grading.

``sql-optim check --mutants`` judges all mutants of all tasks; this is what fits into every run of the suite.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sql_optim_env.cli.mutation.run import LEAST_KILL_RATE, mutation_test
from sql_optim_env.datasets import DatasetStore, default_data_dir
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

SAMPLE = {"task_6_segment_revenue": 4, "tune_beehives": 2, "tune_seed_bank": 5, "tune_ticket_office": 9}
"""Tasks, and of how many mutants of each one is judged."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with Sandbox(workers=1, data_dir=default_data_dir(), deadline_s=8.0, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox:
        yield sandbox


@pytest.mark.parametrize("task_id", SAMPLE)
def test_mutants_that_differ_somewhere_are_refused_at_grading(task_id: str, sandbox: Sandbox) -> None:
    step = SAMPLE[task_id]
    test = mutation_test(
        catalogue().get(task_id), DatasetStore(default_data_dir()), sandbox, wanted=lambda number, mutant: number % step == 0
    )
    assert [(outcome.mutant.sql, outcome.where) for outcome in test.outcomes if outcome.fate == "missed"] == []
    assert test.count("killed") >= 2
    assert test.kill_rate >= LEAST_KILL_RATE
    assert test.disputed == 0
