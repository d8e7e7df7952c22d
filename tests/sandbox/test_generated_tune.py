"""Generated tasks through the jobs that prepare and grade them. ``sql-optim check --generated`` measures all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sql_optim_env.datasets.generate.tune.plan import SHAPES, plan_of
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.grading.tune import grade_tune as grade
from sql_optim_env.sandbox import tune_baseline as module
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.sandbox.tune_baseline import TuneBench, TunePrepared
from sql_optim_env.sandbox.tune_jobs import grade_tune, prepare_tune
from sql_optim_env.tasks.catalogue import catalogue

SAMPLE = [
    "tune_g_train_0040",
    "tune_g_train_0073",
    "tune_g_train_0106",
    "tune_g_train_0139",
    "tune_g_train_0164",
    "tune_g_train_0197",
    "tune_g_test_0014",
    "tune_g_test_0039",
]
"""One of each shape, the last two from the test split."""

LEAST_PAGES = 600
LEAST_GAIN = 4.5
"""Above what admission asks, so that no task is on the border."""


@pytest.fixture
def bench(depot: Path, monkeypatch: pytest.MonkeyPatch) -> TuneBench:
    """A bench in this process, where no deadline runs."""
    monkeypatch.setattr(module, "remaining_s", lambda: 60.0)
    return TuneBench(DatasetStore(depot))


@pytest.mark.parametrize("task_id", SAMPLE)
def test_a_sampled_task_is_admitted_with_a_margin(bench: TuneBench, task_id: str) -> None:
    task = catalogue().get(task_id)
    prepared = TunePrepared(bench, task)
    items = prepared.baseline.instances
    for item in items:
        if item.role != "edge":
            assert item.original_pages >= LEAST_PAGES
            assert item.original_pages >= LEAST_GAIN * item.reference_pages
            assert item.row_count > 0
        assert 2 * max(item.original_vm_steps, item.reference_vm_steps) <= task.tune.max_vm_steps
        assert 2 * item.reference_spill_bytes <= task.tune.max_spill_bytes
    assert sum(item.row_count > 0 for item in items if item.role == "edge") >= 3
    assert all(len(bench.database(item.instance)) <= 6_000_000 for item in prepared.instances)


@pytest.mark.parametrize("task_id", SAMPLE)
def test_the_oracle_earns_1_an_echo_and_every_wrong_answer_0(make_sandbox: Callable[..., Sandbox], depot: Path, task_id: str) -> None:
    task, sandbox = catalogue().get(task_id), make_sandbox(data_dir=depot, deadline_s=30.0)
    sandbox.call(prepare_tune, task_id, deadline_s=60.0)

    def score(sql: str, ddl: tuple[str, ...]) -> float:
        return grade(task, sandbox.call(grade_tune, task_id, sql, ddl)).score

    assert score(task.tune.reference_sql, task.tune.reference_ddl) == 1.0
    assert score(task.sql, ()) == 0.0
    for variant in task.tune.variants:
        assert score(variant.sql, variant.ddl) < 0.95
    for variant in task.tune.wrong:
        evidence = sandbox.call(grade_tune, task_id, variant.sql, variant.ddl)
        assert evidence.error_code is None
        assert not evidence.equal
        assert grade(task, evidence).score == 0.0


def test_the_sample_has_one_task_of_each_shape() -> None:
    assert sorted(plan.shape for task_id in SAMPLE if (plan := plan_of(task_id))) == sorted(SHAPES)
