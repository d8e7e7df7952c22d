"""The grade of one submission of the rewrite family: terms, score, and what the agent is told about it.

The rules, and the loopholes they close, are written down in docs/grading.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sql_optim_env.errors import InfraError
from sql_optim_env.grading import feedback
from sql_optim_env.grading.analysis import (
    Match,
    SubmittedReview,
    clean_list_score,
    clean_summary_score,
    detection_score,
    match_issues,
    severity_score,
    summary_score,
)
from sql_optim_env.grading.evidence import InstanceMeasurement, RewriteEvidence
from sql_optim_env.grading.score import SCORE_DIGITS, execution_score, not_costlier, speedup, total
from sql_optim_env.models import ExecutionInfo
from sql_optim_env.tasks.task import Task

__all__ = [
    "BINARY_THRESHOLD",
    "IMPROVEMENT_THRESHOLD",
    "PROFILES",
    "REASON_THRESHOLD",
    "WEIGHTS",
    "GradeReport",
    "MatchedIssue",
    "RewardProfile",
    "grade_rewrite",
]

RewardProfile = Literal["composite", "execution", "binary"]
PROFILES: tuple[RewardProfile, ...] = ("composite", "execution", "binary")

WEIGHTS: Mapping[str, float] = {
    "execution_speedup": 0.35,
    "result_correctness": 0.20,
    "issue_detection": 0.25,
    "approval_correctness": 0.08,
    "summary_quality": 0.07,
    "severity_labels": 0.05,
}
"""The composite profile's weights, as in the first public version of this environment; they sum to 1."""

IMPROVEMENT_THRESHOLD = 0.1
"""Least execution score that counts as an improvement: a tenth of the available gain on the log scale."""

BINARY_THRESHOLD = 0.5
"""Least execution score that the binary profile pays: half of the available gain on the log scale."""

REASON_THRESHOLD = 0.5
"""Least detection score that counts as a reason for rejecting a query."""


@dataclass(frozen=True, slots=True)
class MatchedIssue:
    """An expected issue that a credited list named: its position in the task's list, and the agent's own word and line for it."""

    expected: int
    issue_type: str
    line: int


@dataclass(frozen=True, slots=True)
class GradeReport:
    """One submission's grade. ``breakdown`` holds each term's weighted share and sums to ``score``."""

    score: float
    breakdown: dict[str, float]
    feedback: str
    """What the agent is told: deterministic, no clock's figures, nothing of the grader's data beyond the claims it confirms."""
    matched: tuple[MatchedIssue, ...]
    execution: ExecutionInfo | None
    """None when nothing ran."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the terms are computed from."""

    correct: bool
    """Equal on every instance, and no work hidden from the cost."""
    gain: float
    """Execution score; 0.0 unless correct."""
    kept: bool
    """Correct and not costlier than the original."""
    matches: tuple[Match, ...]


def grade_rewrite(
    task: Task, review: SubmittedReview, evidence: RewriteEvidence | None, profile: RewardProfile = "composite"
) -> GradeReport:
    """Grade one submission of ``task``; ``evidence`` is None when no query was handed in.

    Raises :class:`InfraError` when the task itself cannot be graded (a query with headroom and no expected issue).
    """
    grader = task.rewrite
    if not grader.optimal and not grader.issues:
        raise InfraError(f"task {task.id} expects no issue and is not marked optimal")
    facts = _facts(review, task, evidence)
    terms = _terms(task, review, facts, profile)
    text_counts = profile == "composite"
    credited = terms.get("issue_detection", 0.0) > 0.0 and not grader.optimal
    matched = tuple(_named(review, match) for match in facts.matches) if credited else ()
    weights = WEIGHTS if text_counts else dict.fromkeys(terms, 1.0)
    breakdown = {name: round(weights[name] * value, SCORE_DIGITS) for name, value in terms.items()}
    return GradeReport(
        score=total(breakdown),
        breakdown=breakdown,
        feedback=feedback.write(
            evidence,
            review if text_counts else None,
            tuple(match.claim for match in facts.matches) if credited else (),
            _gain(facts, terms, profile, optimal=grader.optimal),
        ),
        matched=matched,
        execution=_execution(evidence),
    )


def _facts(review: SubmittedReview, task: Task, evidence: RewriteEvidence | None) -> _Facts:
    # Without a scored instance nothing was shown: the gate stays closed.
    scored = [m for m in evidence.measurements if m.scored] if evidence is not None else []
    correct = evidence is not None and evidence.equal and bool(scored) and not any(m.hidden_work for m in scored)
    return _Facts(
        correct=correct,
        gain=execution_score(evidence) if evidence is not None and correct else 0.0,
        kept=evidence is not None and correct and not_costlier(evidence),
        matches=match_issues(task.rewrite.issues, review.claims),
    )


def _terms(task: Task, review: SubmittedReview, facts: _Facts, profile: RewardProfile) -> dict[str, float]:
    """Each term in [0, 1], unweighted."""
    optimal = task.rewrite.optimal
    if profile == "execution":
        return {"execution_speedup": float(facts.kept) if optimal else facts.gain}
    if profile == "binary":
        return {"solved": float(facts.kept if optimal else facts.gain >= BINARY_THRESHOLD)}
    return _optimal_terms(review, facts) if optimal else _headroom_terms(task, review, facts)


def _headroom_terms(task: Task, review: SubmittedReview, facts: _Facts) -> dict[str, float]:
    expected = task.rewrite.issues
    improved = facts.gain >= IMPROVEMENT_THRESHOLD
    # Approving says that nothing is wrong: a review that approves and accuses contradicts itself and is not paid as a review.
    consistent = review.approved is not True
    detection = detection_score(expected, review.claims, facts.matches) if consistent else 0.0
    reason = improved or detection >= REASON_THRESHOLD
    return {
        "execution_speedup": facts.gain,
        "result_correctness": float(improved),
        "issue_detection": detection,
        "approval_correctness": float(review.approved is False and reason),
        "summary_quality": summary_score(expected, review.summary) if consistent else 0.0,
        # Severities of a list that is not credited would pay for guessing.
        "severity_labels": severity_score(expected, review.claims, facts.matches) if detection > 0.0 else 0.0,
    }


def _optimal_terms(review: SubmittedReview, facts: _Facts) -> dict[str, float]:
    gate = float(facts.kept and review.approved is True)
    return {
        "execution_speedup": gate,
        "result_correctness": gate,
        "issue_detection": gate * clean_list_score(review.claims),
        "approval_correctness": gate,
        "summary_quality": gate * clean_summary_score(review.summary),
        "severity_labels": gate * float(not review.claims),
    }


def _gain(facts: _Facts, terms: Mapping[str, float], profile: RewardProfile, *, optimal: bool) -> feedback.Gain:
    """What the feedback says of a correct answer's execution."""
    if optimal:
        return "kept" if max(terms.get("execution_speedup", 0.0), terms.get("solved", 0.0)) > 0.0 else "none"
    if facts.gain <= 0.0:
        return "none"
    full = {"composite": IMPROVEMENT_THRESHOLD, "execution": 0.0, "binary": BINARY_THRESHOLD}[profile]
    return "paid" if facts.gain >= full else "small"


def _named(review: SubmittedReview, match: Match) -> MatchedIssue:
    claim = review.claims[match.claim]
    if claim.kind is None or claim.line is None:  # match_issues pairs neither; this tells the type checker
        raise AssertionError("a claim without a type or a line cannot match")
    return MatchedIssue(match.expected, claim.kind.value, claim.line)


def _execution(evidence: RewriteEvidence | None) -> ExecutionInfo | None:
    if evidence is None or not evidence.measurements:
        return None
    public: InstanceMeasurement | None = next((m for m in evidence.measurements if m.role == "public"), None)
    return ExecutionInfo(
        measure=evidence.measure,
        cost_version=evidence.cost_version,
        original_cost=public.original_cost if public else None,
        submitted_cost=public.submitted_cost if public else None,
        speedup=speedup(evidence) if evidence.equal else None,
        original_ms=round(public.original_ms, 3) if public else None,
        submitted_ms=round(public.submitted_ms, 3) if public else None,
        wall_ms=round(evidence.wall_ms, 3),
        row_count=evidence.row_count,
        equal=evidence.equal,
    )
