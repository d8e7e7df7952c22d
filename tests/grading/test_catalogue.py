"""The bounds of the grade on every built-in task: text terms depend only on the task, so the execution can be made up."""

from __future__ import annotations

from collections import Counter

import pytest

from grading.samples import oracle_review, ran
from grading.stuffing import reviews
from sql_optim_env.grading.analysis import SubmittedReview
from sql_optim_env.grading.report import PROFILES, RewardProfile, grade_rewrite
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

TASKS = [task for task in catalogue().hand_made() if task.family == "rewrite"]
HEADROOM = [task for task in TASKS if not task.rewrite.optimal]
PRIOR = tuple(kind for kind, _ in Counter(issue.issue_type for task in HEADROOM for issue in task.rewrite.issues).most_common())
ORIGINAL, REFERENCE = 1_000, 100
LIMIT = 0.2


def _id(task: Task) -> str:
    return task.id


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_the_oracle_earns_exactly_one(task: Task, profile: RewardProfile) -> None:
    report = grade_rewrite(task, oracle_review(task), ran(ORIGINAL if task.rewrite.optimal else REFERENCE), profile)
    assert report.score == 1.0, report.breakdown


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_the_null_action_earns_exactly_nothing(task: Task) -> None:
    assert grade_rewrite(task, SubmittedReview(), None).score == 0.0


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_a_rejected_echo_earns_exactly_nothing(task: Task) -> None:
    assert grade_rewrite(task, SubmittedReview(approved=False), ran(ORIGINAL)).score == 0.0


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_stuffing_an_echo_stays_under_the_limit(task: Task) -> None:
    best = max((grade_rewrite(task, review, ran(ORIGINAL)).score, name) for name, review in reviews(task, PRIOR))
    assert best[0] <= LIMIT, best


@pytest.mark.parametrize("task", HEADROOM, ids=_id)
def test_every_expected_line_stands_in_the_query(task: Task) -> None:
    lines = task.sql.splitlines()
    assert all(1 <= issue.line <= len(lines) and lines[issue.line - 1].strip() for issue in task.rewrite.issues)
