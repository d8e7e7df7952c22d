"""Scores as plain arithmetic: the log scale of execution, its minimum over instances, and the reward of a step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from sql_optim_env.grading.evidence import InstanceMeasurement, Measure, RewriteEvidence

__all__ = [
    "COPY_TOLERANCE",
    "SCORE_DIGITS",
    "TIME_TOLERANCE",
    "clamp",
    "execution_score",
    "log_score",
    "not_costlier",
    "speedup",
    "telescoping_reward",
    "total",
]

SCORE_DIGITS = 6
"""Decimal digits a score, a breakdown term and a reward are rounded to, so that sums of weights are exact where they should be."""

COPY_TOLERANCE = 0.05
"""How much costlier than the original an answer to an already optimal query may be (5 %)."""

TIME_TOLERANCE = 0.10
"""Width of a clock's noise around the original and the reference (10 %); only for the ``time`` measure, cost has none."""

_TINY = 1e-9
"""Stands for every non-positive cost or time, so that the log scale is total."""


def clamp(value: float) -> float:
    """``value`` held in [0, 1]; a value that is not a number is 0.0."""
    return 0.0 if math.isnan(value) else min(1.0, max(0.0, value))


def log_score(original: float, submitted: float, reference: float, *, tolerance: float = 0.0) -> float:
    """How far ``submitted`` went from ``original`` to ``reference`` on the log scale, in [0, 1].

    Exactly 0.0 at or above the original, exactly 1.0 at or below the reference (the first rule wins where both hold), and never rising
    with ``submitted``. Non-positive inputs count as the smallest positive one; infinities and NaN earn 0.0. ``tolerance`` narrows the
    scale at both ends: within that share of the original nothing is earned yet, within that share of the reference everything is.
    """
    if not (math.isfinite(original) and math.isfinite(submitted) and math.isfinite(reference)):
        return 0.0
    top = max(original, _TINY) / (1.0 + tolerance) if tolerance else max(original, _TINY)
    bottom = max(reference, _TINY) * (1.0 + tolerance) if tolerance else max(reference, _TINY)
    value = max(submitted, _TINY)
    if value >= top:
        return 0.0
    if value <= bottom:
        return 1.0
    return clamp((math.log(top) - math.log(value)) / (math.log(top) - math.log(bottom)))


def execution_score(evidence: RewriteEvidence) -> float:
    """The log score of a submission: the minimum over the scored instances, 0.0 when none was measured.

    The minimum, because a query that is quick only on the data it has seen is not quick. It says nothing about correctness.
    """
    return min((_instance_score(m, evidence.measure) for m in evidence.measurements if m.scored), default=0.0)


def not_costlier(evidence: RewriteEvidence) -> bool:
    """Whether the submission stays within :data:`COPY_TOLERANCE` of the original on every scored instance (False when there is none)."""
    tolerance = max(COPY_TOLERANCE, _tolerance(evidence.measure))
    pairs = [_figures(m, evidence.measure)[:2] for m in evidence.measurements if m.scored]
    return bool(pairs) and all(submitted <= original * (1.0 + tolerance) for original, submitted in pairs)


def speedup(evidence: RewriteEvidence) -> float | None:
    """Original over submitted, the minimum over the scored instances, in the unit that is paid; None when none was measured."""
    pairs = [_figures(m, evidence.measure)[:2] for m in evidence.measurements if m.scored]
    return min((round(max(original, _TINY) / max(submitted, _TINY), 4) for original, submitted in pairs), default=None)


def telescoping_reward(score: float, best_before: float) -> float:
    """What a step pays: the gain over the best score so far, so that an episode's rewards sum to its best score."""
    return round(max(0.0, score - best_before), SCORE_DIGITS)


def total(breakdown: Mapping[str, float] | Iterable[float]) -> float:
    """The sum of weighted terms, exact to :data:`SCORE_DIGITS` digits and independent of their order."""
    terms = breakdown.values() if isinstance(breakdown, Mapping) else breakdown
    return clamp(round(math.fsum(terms), SCORE_DIGITS))


def _instance_score(measurement: InstanceMeasurement, measure: Measure) -> float:
    original, submitted, reference = _figures(measurement, measure)
    return log_score(original, submitted, reference, tolerance=_tolerance(measure))


def _figures(measurement: InstanceMeasurement, measure: Measure) -> tuple[float, float, float]:
    if measure == "time":
        return measurement.original_ms, measurement.submitted_ms, measurement.reference_ms
    return measurement.original_cost, measurement.submitted_cost, measurement.reference_cost


def _tolerance(measure: Measure) -> float:
    return TIME_TOLERANCE if measure == "time" else 0.0
