"""The grade of one submission of the tune family: a correctness gate times a log scale over pages, the minimum over instances.

The rules, and the loopholes they close, are written down in docs/tune.md.
"""

from __future__ import annotations

from sql_optim_env.grading import tune_feedback
from sql_optim_env.grading.report import BINARY_THRESHOLD, GradeReport, RewardProfile
from sql_optim_env.grading.score import SCORE_DIGITS, log_score
from sql_optim_env.grading.tune_evidence import TuneEvidence, TuneMeasurement
from sql_optim_env.models import ExecutionInfo
from sql_optim_env.tasks.task import Task

__all__ = ["LEAST_SCORED", "TERM", "grade_tune", "pages_score"]

TERM = "logical_reads"
"""The only term: nothing but pages is paid."""

LEAST_SCORED = 3
"""Scored instances that a verdict needs: the public one and two twins."""


def grade_tune(task: Task, evidence: TuneEvidence | None, profile: RewardProfile = "composite") -> GradeReport:
    """Grade one submission of ``task``; ``evidence`` is None when neither a query nor DDL was handed in.

    The profiles ``composite`` and ``execution`` are the same here, since there is no text to grade.
    """
    gain = pages_score(evidence) if evidence is not None else 0.0
    score = gain
    if profile == "binary":
        score = float(gain >= BINARY_THRESHOLD)
    return GradeReport(
        score=score,
        breakdown={TERM if profile != "binary" else "solved": score},
        feedback=tune_feedback.write(task, evidence, gain, profile),
        matched=(),
        execution=_execution(evidence),
    )


def pages_score(evidence: TuneEvidence) -> float:
    """The log score of a submission's pages, in [0, 1]: the minimum over the scored instances, 0.0 unless it was right on every instance.

    The minimum, because a submission that is cheap only on the data it has seen is not cheap.
    """
    scored = [m for m in evidence.measurements if m.scored]
    if not evidence.equal or len(scored) < LEAST_SCORED:
        return 0.0
    return round(min(map(_instance_score, scored)), SCORE_DIGITS)


def _instance_score(measurement: TuneMeasurement) -> float:
    # A query that asks for no page at all counts as one: the scale has no place for zero.
    return log_score(measurement.original_pages, max(measurement.submitted_pages, 1), measurement.reference_pages)


def _execution(evidence: TuneEvidence | None) -> ExecutionInfo | None:
    if evidence is None or not evidence.measurements:
        return None
    public = evidence.measurements[0]
    ratios = [m.original_pages / max(m.submitted_pages, 1) for m in evidence.measurements if m.scored]
    return ExecutionInfo(
        measure="cost",
        cost_version=evidence.engine_version,
        original_cost=public.original_pages,
        submitted_cost=public.submitted_pages,
        speedup=round(min(ratios), 4) if evidence.equal else None,
        wall_ms=round(evidence.wall_ms, 3),
        row_count=evidence.row_count,
        equal=evidence.equal,
    )
