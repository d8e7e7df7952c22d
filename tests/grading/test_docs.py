"""docs/grading.md says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.samples import evidence, make_task, measurement
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.report import WEIGHTS, grade_rewrite
from sql_optim_env.tasks.task import ExpectedIssue
from sql_optim_env.tasks.vocabulary import IssueType, Severity

PAGE = (Path(__file__).parents[2] / "docs" / "grading.md").read_text(encoding="utf-8")


def test_the_worked_example_is_what_the_grader_computes() -> None:
    task = make_task(
        issues=(
            ExpectedIssue(IssueType.CORRELATED_SUBQUERY, 3, Severity.CRITICAL),
            ExpectedIssue(IssueType.IMPLICIT_JOIN, 6, Severity.LOW),
            ExpectedIssue(IssueType.FUNCTION_ON_COLUMN, 7, Severity.MEDIUM),
            ExpectedIssue(IssueType.LATE_FILTER, 9, Severity.HIGH),
        )
    )
    review = SubmittedReview(
        (
            ClaimedIssue("correlated_subquery", 3, "critical"),
            ClaimedIssue("function_on_column", 8, "medium"),
            ClaimedIssue("late_filter", 9, "low"),
            ClaimedIssue("self_join", 3, "high"),
        ),
        "A correlated subquery, a function on the column and a late filter.",
        False,
    )
    shown = evidence(
        measurement("public", original=48_000_000, submitted=9_600_000, reference=4_000_000),
        measurement("twin", original=12_000_000, submitted=3_000_000, reference=1_000_000),
    )
    report = grade_rewrite(task, review, shown)
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    for name, share in report.breakdown.items():
        assert any(row.startswith(f"| `{name}` |") and row.endswith(f"| {share} |") for row in rows), (name, share)
    assert f"**{report.score}**" in PAGE


@pytest.mark.parametrize(("name", "weight"), WEIGHTS.items())
def test_every_weight_is_documented(name: str, weight: float) -> None:
    assert f"| `{name}` | {weight:.2f} |" in PAGE


def test_the_size_of_the_vocabulary_in_the_floor_is_the_real_one() -> None:
    assert f"({len(IssueType)} + expected)" in PAGE
