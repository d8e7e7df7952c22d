"""The grade of an audit episode: what was looked at and in which order, what the fix did to every database, whether it was checked.

The rules, and the loopholes they close, are written down in docs/audit.md. Nothing here reads a statement's words: what a look read was
reported by the engine.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final

from sql_optim_env.grading import audit_feedback
from sql_optim_env.grading.audit_answer import answer_credit
from sql_optim_env.grading.audit_evidence import AuditEvidence
from sql_optim_env.grading.audit_level import Level, repair_level
from sql_optim_env.grading.audit_record import AuditRecord, Marks, RecordedLook
from sql_optim_env.grading.report import BINARY_THRESHOLD, GradeReport, RewardProfile
from sql_optim_env.grading.score import SCORE_DIGITS
from sql_optim_env.tasks.audit.scenario import VARIANTS, AnswerField, Scenario

__all__ = [
    "ANSWER_WEIGHTS",
    "CATASTROPHE_CAP",
    "FIX_WEIGHTS",
    "LEAST_SCORE",
    "LEVEL_WORTH",
    "MOST_SCORE",
    "TERMS",
    "efficiency",
    "gate",
    "grade_audit",
]

FIX_WEIGHTS: Final[Mapping[str, float]] = {
    "diagnostic_efficiency": 0.20,
    "hypothesis_quality": 0.20,
    "fix_correctness": 0.35,
    "self_verification": 0.10,
    "generalisation": 0.15,
}
"""Weights of a task that wants a fix; they sum to 1."""

ANSWER_WEIGHTS: Final[Mapping[str, float]] = {"diagnostic_efficiency": 0.20, "hypothesis_quality": 0.20, "answer_correctness": 0.60}
"""Weights of a task that is answered without a fix; they sum to 1."""

TERMS: Final[tuple[str, ...]] = (*FIX_WEIGHTS, "answer_correctness", "bounds")
"""Every term of a breakdown. ``bounds`` is what holding the score in its bounds adds or takes away, so that the terms always sum to it."""

LEAST_SCORE: Final = 0.001
MOST_SCORE: Final = 0.999
"""A graded episode's score stays within these."""

CATASTROPHE_CAP: Final = 0.05
"""The most that an episode earns whose fix destroyed the data it was to repair."""

LEVEL_WORTH: Final[Mapping[Level, float]] = {
    "perfect": 1.0,
    "acceptable": 0.6,
    "dangerous": 0.2,
    "ineffective": 0.0,
    "catastrophic": 0.0,
}
"""What a repair of the public database is worth. On the other databases a dangerous one is worth nothing."""


def grade_audit(
    scenario: Scenario,
    record: AuditRecord,
    evidence: AuditEvidence,
    answers: Mapping[AnswerField, str],
    profile: RewardProfile = "composite",
) -> GradeReport:
    """Grade an episode at its submission. ``answers`` are the fields as they were handed in; those that are not asked for are not read.

    The profiles ``composite`` and ``execution`` are the same here: there is no review to grade.
    """
    marks = _marks(scenario, record, evidence, answers)
    weights = FIX_WEIGHTS if scenario.fixable else ANSWER_WEIGHTS
    values = _repair_values(marks) if scenario.fixable else _answer_values(marks)
    breakdown = {term: round(weight * values[term], SCORE_DIGITS) for term, weight in weights.items()}
    earned = round(math.fsum(breakdown.values()), SCORE_DIGITS)
    if "catastrophic" in marks.levels[:1]:
        earned = min(earned, CATASTROPHE_CAP)
    feedback = audit_feedback.write(scenario, record, evidence, marks, breakdown, profile)
    if profile == "binary":
        earned = float(earned >= BINARY_THRESHOLD)
        breakdown = {"solved": earned}
    score = round(min(MOST_SCORE, max(LEAST_SCORE, earned)), SCORE_DIGITS)
    breakdown["bounds"] = round(score - math.fsum(breakdown.values()), SCORE_DIGITS)
    return GradeReport(score=score, breakdown=breakdown, feedback=feedback, matched=(), execution=None)


def efficiency(found_at: int | None) -> float:
    """What finding the defect with that many exploring actions is worth."""
    if found_at is None:
        return 0.0
    return next((worth for most, worth in ((2, 1.0), (4, 0.7), (6, 0.4)) if found_at <= most), 0.0)


def gate(level: Level | None) -> float:
    """The share that is paid of how a repair came about. A ritual leads to none, so it earns nothing."""
    worth = LEVEL_WORTH[level] if level is not None else 0.0
    return 1.0 if worth >= LEVEL_WORTH["acceptable"] else worth


def _marks(scenario: Scenario, record: AuditRecord, evidence: AuditEvidence, answers: Mapping[AnswerField, str]) -> Marks:
    looks = record.looks_before
    finding = next((look for look in looks if _finds(scenario, look, evidence.table_rows)), None)
    table = scenario.defect.table.lower()
    first = finding is not None and any(look.action < finding.action and look.reads.structures & {table, "*"} for look in looks)
    owners = {scenario.defect.table, scenario.expected.root_cause_table} - {""}
    facts = {fact.variant: fact for fact in evidence.facts}
    return Marks(
        found_at=finding.action if finding is not None else None,
        structure_first=first,
        checked=_checked(scenario, record, evidence),
        answers={
            name: answer_credit(answers.get(name, ""), expected, record.schema, owners)
            for name, expected in scenario.expected.asked().items()
        },
        # A database on which nothing was measured is one on which nothing was repaired.
        levels=tuple(repair_level(scenario, facts[name]) if name in facts else "ineffective" for name in VARIANTS) if record.fix else (),
    )


def _finds(scenario: Scenario, look: RecordedLook, table_rows: int) -> bool:
    # A few rows are shown unasked: a look finds something only when it went through the table.
    return _reads_any(look, {scenario.defect.table}, scenario.defect.columns) and look.reads.vm_steps >= table_rows


def _checked(scenario: Scenario, record: AuditRecord, evidence: AuditEvidence) -> bool:
    tables = {scenario.target, scenario.defect.table}
    return any(
        could_fail and _reads_any(look, tables, scenario.defect.columns)
        for look, could_fail in zip(record.looks_after, evidence.checks, strict=False)
    )


def _reads_any(look: RecordedLook, tables: Collection[str], columns: Collection[str]) -> bool:
    return any((table.lower(), column.lower()) in look.reads.columns for table in tables for column in columns)


def _repair_values(marks: Marks) -> dict[str, float]:
    base = marks.levels[0] if marks.levels else None
    paid = gate(base)
    return {
        "diagnostic_efficiency": paid * efficiency(marks.found_at),
        "hypothesis_quality": paid * _order(marks) * marks.answer,
        "fix_correctness": LEVEL_WORTH[base] if base is not None else 0.0,
        "self_verification": paid * float(marks.checked),
        "generalisation": sum(_elsewhere(level) for level in marks.levels) / len(VARIANTS),
    }


def _answer_values(marks: Marks) -> dict[str, float]:
    # An answer without a look at the data is a guess.
    answer = marks.answer if marks.found_at is not None else 0.0
    return {
        "diagnostic_efficiency": answer * efficiency(marks.found_at),
        "hypothesis_quality": answer * _order(marks),
        "answer_correctness": answer,
    }


def _order(marks: Marks) -> float:
    if marks.found_at is None:
        return 0.0
    return 1.0 if marks.structure_first else 0.6


def _elsewhere(level: Level) -> float:
    return LEVEL_WORTH[level] if level in ("perfect", "acceptable") else 0.0
