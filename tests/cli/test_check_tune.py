from __future__ import annotations

from dataclasses import replace

import pytest

from sql_optim_env.cli.check_tune import FRESH_SEEDS, TuneCheck, check_tune_task, medians
from sql_optim_env.datasets.store import DatasetStore, default_data_dir
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task, TuneVariant


@pytest.fixture(scope="module")
def store() -> DatasetStore:
    return DatasetStore(default_data_dir())


@pytest.fixture(scope="module")
def task() -> Task:
    return catalogue().get("tune_seed_bank")


def failed(check: TuneCheck) -> list[str]:
    return [claim.name for claim in check.claims if not claim.holds]


def test_a_sound_task_holds_all_it_claims_on_five_seeds(task: Task, store: DatasetStore) -> None:
    check = check_tune_task(task, store)
    assert check.ok, failed(check)
    assert set(check.pages) == {"original", "indexes only", "rewrite only", "both", "plausible"}
    assert all(len(pages) == 3 + len(FRESH_SEEDS) for pages in check.pages.values())
    assert max(check.pages["both"]) < 200 < 600 < min(check.pages["original"])
    assert len(medians(check)) == 5


def test_a_reference_that_gains_nothing_is_found(task: Task, store: DatasetStore) -> None:
    lazy = replace(task, grader=replace(task.tune, reference_sql=task.sql, reference_ddl=()))
    assert "the reference reads at least 4 times fewer pages on every seed" in failed(check_tune_task(lazy, store))


def test_a_wrong_submission_that_is_right_is_found(task: Task, store: DatasetStore) -> None:
    grader = replace(task.tune, wrong=(TuneVariant("honest", task.sql, (), "it is the original"),))
    assert failed(check_tune_task(replace(task, grader=grader), store)) == ["the wrong submission honest is refused"]


def test_a_reference_with_other_rows_is_found(task: Task, store: DatasetStore) -> None:
    grader = replace(task.tune, reference_sql=task.tune.wrong[0].sql)
    assert "both has the right rows everywhere" in failed(check_tune_task(replace(task, grader=grader), store))
