from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.conftest import TASK
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox.baseline import Prepared
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.workbench import Workbench
from sql_optim_env.sandbox.worker import WorkerConfig
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task


@pytest.fixture
def bench(tmp_path: Path, shop: Path) -> Iterator[Workbench]:
    (tmp_path / "scratch").mkdir()
    bench = Workbench(WorkerConfig(tmp_path, shop, 256, 512, 20, WorkerLimits()))
    yield bench
    bench.release()


@pytest.fixture
def task() -> Task:
    return catalogue().get(TASK)


def with_reference(task: Task, sql: str) -> Task:
    return replace(task, grader=replace(task.rewrite, reference_sql=sql))


def test_a_reference_that_differs_anywhere_breaks_the_task(bench: Workbench, task: Task) -> None:
    broken = with_reference(task, f"SELECT * FROM ({task.rewrite.reference_sql}) LIMIT 1")
    with pytest.raises(InfraError, match=f"task {TASK} is broken: its reference differs on instance public"):
        Prepared(bench, broken)


def test_a_query_that_is_not_admitted_breaks_the_task(bench: Workbench, task: Task) -> None:
    with pytest.raises(InfraError, match=r"not admitted \(refused_table\)"):
        Prepared(bench, with_reference(task, "SELECT * FROM nowhere"))


def test_a_query_that_fails_breaks_the_task(bench: Workbench, task: Task) -> None:
    with pytest.raises(InfraError, match=r"its reference fails on instance public \(execution_error\)"):
        Prepared(bench, with_reference(task, "SELECT CAST(tier AS INTEGER) AS tier, 1 AS events, 1 AS last_event_at FROM users"))


def test_nothing_of_a_broken_task_is_kept(bench: Workbench, task: Task) -> None:
    broken = with_reference(task, f"SELECT * FROM ({task.rewrite.reference_sql}) LIMIT 1")
    for _ in range(2):
        with pytest.raises(InfraError, match="differs"):
            Prepared(bench, broken)


def test_figures_of_another_query_are_not_taken_for_ones_own(bench: Workbench, task: Task) -> None:
    first = Prepared(bench, task).baseline
    # Same rows, other work.
    slower = with_reference(task, task.sql)
    other = Prepared(bench, slower).baseline
    public, again = first.instances[0], other.instances[0]
    assert public.original_cost == again.original_cost == again.reference_cost
    assert public.reference_cost < again.reference_cost


def test_the_right_result_on_each_instance_is_kept_and_has_the_rows_it_says(bench: Workbench, task: Task) -> None:
    prepared = Prepared(bench, task)
    assert prepared.public == prepared.instances[0].instance
    for item in prepared.instances:
        assert bench.expected(item.expected).row_count == item.baseline.row_count
