"""Every hand-made tune task, through the real jobs: what its known submissions are worth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sql_optim_env.grading.tune import grade_tune
from sql_optim_env.sandbox import tune_jobs
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

TASKS = [task for task in catalogue().hand_made() if task.family == "tune"]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    data_dir = Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")
    with Sandbox(workers=1, data_dir=data_dir, deadline_s=60.0, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox:
        yield sandbox


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_reference_is_worth_one_the_original_nothing_and_the_rest_what_it_should(sandbox: Sandbox, task: Task) -> None:
    sandbox.call(tune_jobs.prepare_tune, task.id, deadline_s=240.0)

    def score(sql: str, ddl: tuple[str, ...]) -> float:
        evidence = sandbox.call(tune_jobs.grade_tune, task.id, sql, ddl)
        assert evidence.error_code is None, evidence.error_message
        report = grade_tune(task, evidence)
        assert report.score == 0.0 or evidence.equal
        right.append(evidence.equal)
        return report.score

    right: list[bool] = []
    assert score(task.tune.reference_sql, task.tune.reference_ddl) == 1.0
    assert score(task.sql, ()) == 0.0
    worth = {variant.name: score(variant.sql, variant.ddl) for variant in task.tune.variants}
    assert all(right), "every variant has the right rows"
    assert worth["plausible"] < 0.8
    assert [score(variant.sql, variant.ddl) for variant in task.tune.wrong] == [0.0] * len(task.tune.wrong)
    assert not any(right[-len(task.tune.wrong) :]), "every wrong submission is caught by its rows"
