"""What an agent is told about an audit episode, in words: what each part earned, why, and what would have earned more.

It holds only what the agent may know: figures of the database it saw, how good the fix was on how many of the others, which of its own
answers were right. Never the expected answer, the defect's place, a hidden database's figures or error texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sql_optim_env.grading.audit_evidence import AuditEvidence, RepairFacts
from sql_optim_env.grading.audit_record import AuditRecord, Marks
from sql_optim_env.grading.report import BINARY_THRESHOLD, RewardProfile
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario

__all__ = ["write"]

_NAMES: Final[Mapping[str, str]] = {
    "fix_correctness": "The fix",
    "generalisation": "The same fix elsewhere",
    "answer_correctness": "The answer",
    "diagnostic_efficiency": "The search",
    "hypothesis_quality": "The order",
    "self_verification": "The check",
}
"""Each term as a heading, in the order in which they are told."""

_FULL: Final = "a look at the defective column that went through all the rows of its table"


def write(
    scenario: Scenario,
    record: AuditRecord,
    evidence: AuditEvidence,
    marks: Marks,
    breakdown: Mapping[str, float],
    profile: RewardProfile,
) -> str:
    """The feedback text; ``breakdown`` holds each term's share before any bound and before a profile makes something else of it."""
    said = {
        "fix_correctness": lambda: _fix(scenario, record, evidence, marks),
        "generalisation": lambda: _elsewhere(evidence, marks),
        "answer_correctness": lambda: _answers(marks) if marks.found_at is not None else f"it counts only after {_FULL}.",
        "diagnostic_efficiency": lambda: _search(marks, fixable=scenario.fixable),
        "hypothesis_quality": lambda: _order(scenario, marks),
        "self_verification": lambda: _check(record, marks),
    }
    lines = [f"{_NAMES[term]} ({breakdown[term]:g}): {said[term]()}" for term in _NAMES if term in breakdown]
    return "\n".join([*lines, *_remarks(scenario, marks, breakdown, profile)])


def _fix(scenario: Scenario, record: AuditRecord, evidence: AuditEvidence, marks: Marks) -> str:
    if not record.fix:
        return "no fix stands, so nothing was repaired. Only a fix that runs without error stands."
    facts = next((fact for fact in evidence.facts if fact.variant == "base"), None)
    if facts is None or facts.error_code is not None:
        return "it did not come to its end when it was graded, so nothing counts as repaired."
    level = marks.levels[0]
    if level == "catastrophic":
        return f"catastrophic. {_destroyed(scenario, facts)}"
    if level == "perfect":
        return "perfect. Everything defective is mended, and everything else is as it was."
    return f"{level}. {' '.join(_shortfalls(facts))}"


def _destroyed(scenario: Scenario, facts: RepairFacts) -> str:
    if not scenario.good_decides:
        return "Other tables lost their rows, or most of them; they are to be left as they are."
    if not facts.target_present:
        return "The table that was to be repaired is gone, or some of its columns are."
    if not facts.target_rows:
        return "The table that was to be repaired is empty."
    return f"Of {facts.good_total:,} good rows {facts.good_kept:,} are left as they were."


def _shortfalls(facts: RepairFacts) -> Iterator[str]:
    yield f"Of {facts.defects:,} defects {facts.mended:,} are mended."
    if facts.good_kept < facts.good_total:
        yield f"Of {facts.good_total:,} good rows {facts.good_kept:,} are left as they were."
    if facts.surplus:
        yield f"Rows that should not be there like this: {facts.surplus:,}."
    if facts.others_kept < facts.others_total or facts.others_surplus:
        yield "Tables that had nothing to do with the defect were changed."
    if not facts.declared:
        yield "A column is not declared with the type that the task asks for."


def _elsewhere(evidence: AuditEvidence, marks: Marks) -> str:
    if not marks.levels:
        return "there was none to try."
    perfect, acceptable = (sum(level == name for level in marks.levels) for name in ("perfect", "acceptable"))
    text = f"perfect on {perfect} of {len(VARIANTS)} databases, acceptable on {acceptable}."
    if any(fact.error_code is not None for fact in evidence.facts):
        text += " It failed on at least one."
    if perfect < len(VARIANTS):
        text += (
            " Write down the rule and not the rows: rely on no id, count, value or list of columns that only this data has. A table may"
            " have a column more."
        )
    return text


def _answers(marks: Marks) -> str:
    words = {1.0: "right", 0.5: "nearly right (misspelt)", 0.0: "wrong"}
    said = "; ".join(f"{name}: {words[credit]}" for name, credit in marks.answers.items())
    hint = "" if marks.answer == 1.0 else " Give the bare name or value, spelt as in the data."
    return f"{said}.{hint}"


def _search(marks: Marks, *, fixable: bool) -> str:
    if marks.found_at is None:
        when = " before the standing fix" if fixable else ""
        return f"nothing was found{when}. What counts is {_FULL}; a few rows of it are in sample_rows anyway."
    text = f"query or profile number {marks.found_at} found the defect."
    return text if marks.found_at <= 2 else f"{text} All is paid for two or fewer, less for up to six."


def _order(scenario: Scenario, marks: Marks) -> str:
    if marks.found_at is None:
        text = "nothing was found, so there was no order."
    elif marks.structure_first:
        text = "structure before columns."
    else:
        text = "columns without a look at the structure before. Ask PRAGMA table_info or sqlite_schema first."
    # Names are judged aloud only where they are paid for: else they could be tried out.
    if scenario.fixable and marks.answers and marks.found_at is not None and _repaired(marks):
        text += f" It is multiplied by what you named. {_answers(marks)}"
    return text


def _repaired(marks: Marks) -> bool:
    """Whether there is a repair that counts at all."""
    return bool(marks.levels) and marks.levels[0] in ("perfect", "acceptable", "dangerous")


def _check(record: AuditRecord, marks: Marks) -> str:
    if marks.checked:
        return "a look after the standing fix could have shown that it had failed."
    if not record.fix:
        return "there was no fix to check."
    advice = "Ask for something that a failed repair would show: count what was wrong, in the column that was wrong."
    if not record.looks_after:
        return f"nothing was looked at after the standing fix. {advice}"
    return f"no look after the standing fix read what was defective and would have come out differently for a failed repair. {advice}"


def _remarks(scenario: Scenario, marks: Marks, breakdown: Mapping[str, float], profile: RewardProfile) -> Iterator[str]:
    if scenario.fixable:
        if not _repaired(marks):
            yield "Search, order and check are paid for what they lead to, and there is no repair that counts."
        elif marks.levels[0] == "dangerous":
            yield "Search, order and check are paid at a fifth, since what they led to is a dangerous repair."
        if "catastrophic" in marks.levels[:1]:
            yield "A catastrophic fix caps the score at 0.05."
    elif marks.answer < 1.0 and marks.found_at is not None:
        yield "Search and order are paid for the answer that they lead to."
    if profile == "binary":
        yield f"This profile pays all or nothing, from a total of {BINARY_THRESHOLD:g}."
