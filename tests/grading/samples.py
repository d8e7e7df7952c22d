"""Tasks, evidence and reviews for tests, made without an engine."""

from __future__ import annotations

from random import Random

from sql_optim_env.engines.base import Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.evidence import InstanceMeasurement, Measure, RewriteEvidence, Role
from sql_optim_env.tasks.task import ExpectedIssue, RewriteGrader, Task
from sql_optim_env.tasks.vocabulary import ISSUE_TYPES, IssueType, Severity

EQUAL = Difference("equal", "")
WRONG_ROWS = Difference("rows", "2 rows are missing and 1 row is extra.", 2, 1, missing=(("7", "NULL"), ("8", "x")), extra=(("7", "0"),))
WRONG_TYPES = Difference("types", "column 2 (n) is BIGINT in the original and HUGEINT here.")

ISSUES = (
    ExpectedIssue(IssueType.CORRELATED_SUBQUERY, 3, Severity.CRITICAL),
    ExpectedIssue(IssueType.FUNCTION_ON_COLUMN, 7, Severity.MEDIUM, also=(IssueType.NON_SARGABLE_PREDICATE,)),
    ExpectedIssue(IssueType.IMPLICIT_JOIN, 6, Severity.LOW),
    ExpectedIssue(IssueType.LATE_FILTER, 9, Severity.HIGH),
)


def make_task(
    *,
    task_id: str = "task_sample",
    optimal: bool = False,
    issues: tuple[ExpectedIssue, ...] | None = None,
    lines: int = 12,
    summary: str | None = None,
    max_steps: int = 3,
    max_explorations: int = 8,
) -> Task:
    """A task on ``lines`` lines; its reference is the text REFERENCE, or a copy where it is optimal."""
    sql = "\n".join(["SELECT 1", *(f"     , {n}" for n in range(2, lines + 1))])
    expected = issues if issues is not None else (() if optimal else ISSUES)
    words = "Found " + ", ".join(issue.issue_type.value.replace("_", " ") for issue in expected) + "."
    return Task(
        id=task_id,
        name="A sample",
        family="rewrite",
        split="train",
        difficulty="medium",
        dataset="shop",
        dialect="duckdb",
        description="Orders per user.",
        sql=sql,
        tables=("users", "orders"),
        max_steps=max_steps,
        max_explorations=max_explorations,
        grader=RewriteGrader(
            reference_sql=sql if optimal else "REFERENCE",
            issues=expected,
            summary=summary if summary is not None else ("The query is already optimal." if optimal else words),
            optimal=optimal,
        ),
    )


def random_task(seed: int) -> Task:
    """A task with 3 to 5 distinct issues on 10 to 20 lines, some with an accepted alternate, some close together."""
    rng = Random(seed)
    lines = rng.randint(10, 20)
    kinds = rng.sample(sorted(IssueType), 10)
    count = rng.randint(3, 5)
    issues = tuple(
        ExpectedIssue(kinds[n], rng.randint(1, lines), rng.choice(sorted(Severity)), also=(kinds[n + 5],) if rng.random() < 0.3 else ())
        for n in range(count)
    )
    return make_task(issues=issues, lines=lines)


def measurement(
    role: Role = "public",
    *,
    submitted: int = 100,
    original: int = 1_000,
    reference: int = 100,
    difference: Difference = EQUAL,
    hidden_work: bool = False,
    submitted_ms: float = 1.0,
) -> InstanceMeasurement:
    """One measurement; by default the reference's own cost."""
    return InstanceMeasurement(
        instance=role,
        role=role,
        difference=difference,
        original_cost=original,
        reference_cost=reference,
        submitted_cost=submitted,
        original_ms=10.0,
        reference_ms=1.0,
        submitted_ms=submitted_ms,
        hidden_work=hidden_work,
    )


def evidence(*measurements: InstanceMeasurement, measure: Measure = "cost", plan: str = "SCAN orders") -> RewriteEvidence:
    """Evidence of a submission that ran."""
    return RewriteEvidence(measure, "engine 1, weights 1", measurements, plan=plan, row_count=3, wall_ms=2.0)


def ran(submitted: int = 100, *, measure: Measure = "cost") -> RewriteEvidence:
    """Equal everywhere, at this cost on both scored instances (the original costs 1,000, the reference 100)."""
    return evidence(
        measurement("public", submitted=submitted), measurement("twin", submitted=submitted), measurement("adversarial"), measure=measure
    )


def failed(code: ErrorCode = ErrorCode.SYNTAX_ERROR, message: str = "syntax error at or near FORM.") -> RewriteEvidence:
    """Evidence of a submission that was refused."""
    return RewriteEvidence("cost", "engine 1, weights 1", (), error_code=code, error_message=message)


def claims_of(issues: tuple[ExpectedIssue, ...]) -> tuple[ClaimedIssue, ...]:
    """The claims that name exactly these issues."""
    return tuple(ClaimedIssue(issue.issue_type.value, issue.line, issue.severity.value) for issue in issues)


def oracle_review(task: Task) -> SubmittedReview:
    """The review the oracle hands in."""
    return SubmittedReview(claims_of(task.rewrite.issues), task.rewrite.summary, task.rewrite.optimal)


def every_word() -> str:
    """A summary of the whole vocabulary, words and meanings."""
    return " ".join(f"{kind.value} {kind.value.replace('_', ' ')} {meaning}" for kind, meaning in ISSUE_TYPES.items())
