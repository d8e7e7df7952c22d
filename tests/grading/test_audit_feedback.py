from __future__ import annotations

from typing import Any

import pytest

from grading.audit_samples import (
    ACCEPTABLE,
    COLUMN,
    DANGEROUS,
    ELSEWHERE,
    FAILED,
    GONE,
    NO_FIX,
    NOTHING,
    SCHEMA,
    SECRETS,
    STRUCTURE,
    evidence,
    make_identification,
    make_scenario,
    record,
)
from sql_optim_env.grading.audit import grade_audit
from sql_optim_env.grading.audit_record import AuditRecord

SCENARIO = make_scenario()
IDENTIFICATION = make_identification()
RIGHT: Any = {"root_cause_table": "payment", "offending_key": "order_ref"}


def said(
    played: AuditRecord | None = None, found: Any = None, answers: Any = RIGHT, profile: Any = "composite", **changes: Any
) -> list[str]:
    scenario = make_scenario(**changes)
    return grade_audit(scenario, played or record(), found or evidence(), answers, profile).feedback.splitlines()


def test_a_perfect_run_is_told_term_by_term() -> None:
    assert said() == [
        "The fix (0.35): perfect. Everything defective is mended, and everything else is as it was.",
        "The same fix elsewhere (0.15): perfect on 4 of 4 databases, acceptable on 0.",
        "The search (0.2): query or profile number 2 found the defect.",
        "The order (0.2): structure before columns. It is multiplied by what you named. root_cause_table: right; offending_key: right.",
        "The check (0.1): a look after the standing fix could have shown that it had failed.",
    ]


def test_submitting_at_once_is_told_what_was_missing() -> None:
    assert said(AuditRecord(SCHEMA), NO_FIX) == [
        "The fix (0): no fix stands, so nothing was repaired. Only a fix that runs without error stands.",
        "The same fix elsewhere (0): there was none to try.",
        "The search (0): nothing was found before the standing fix. What counts is a look at the defective column that went through all the"
        " rows of its table; a few rows of it are in sample_rows anyway.",
        "The order (0): nothing was found, so there was no order.",
        "The check (0): there was no fix to check.",
        "Search, order and check are paid for what they lead to, and there is no repair that counts.",
    ]


@pytest.mark.parametrize(
    ("base", "line"),
    [
        (ACCEPTABLE, "The fix (0.21): acceptable. Of 160 defects 152 are mended."),
        (DANGEROUS, "The fix (0.07): dangerous. Of 160 defects 80 are mended."),
        (NOTHING, "The fix (0): ineffective. Of 160 defects 0 are mended."),
        (FAILED, "The fix (0): it did not come to its end when it was graded, so nothing counts as repaired."),
        (GONE, "The fix (0): catastrophic. The table that was to be repaired is gone, or some of its columns are."),
        ({"target_rows": 0}, "The fix (0): catastrophic. The table that was to be repaired is empty."),
        ({"good_kept": 3}, "The fix (0): catastrophic. Of 160 good rows 3 are left as they were."),
        (
            {"good_kept": 159, "surplus": 2, "others_surplus": 1, "declared": False},
            "The fix (0.21): acceptable. Of 160 defects 160 are mended. Of 160 good rows 159 are left as they were. Rows that should not be"
            " there like this: 2. Tables that had nothing to do with the defect were changed. A column is not declared with the type that"
            " the task asks for.",
        ),
    ],
)
def test_the_level_of_the_fix_has_its_reasons(base: Any, line: str) -> None:
    assert said(found=evidence(base=base))[0] == line


def test_losing_other_tables_is_told_where_the_table_is_to_be_made() -> None:
    line = said(found=evidence(base={"others_emptied": 1}), good_decides=False)[0]
    assert line == "The fix (0): catastrophic. Other tables lost their rows, or most of them; they are to be left as they are."


def test_a_fix_of_the_visible_rows_is_told_to_write_down_the_rule() -> None:
    line = said(found=evidence(elsewhere=FAILED))[1]
    assert line.startswith(
        "The same fix elsewhere (0.0375): perfect on 1 of 4 databases, acceptable on 0. It failed on at least one. Write down"
    )


def test_a_late_search_and_a_wrong_order_are_told_what_pays() -> None:
    lines = said(record(*[ELSEWHERE] * 2, COLUMN))
    assert lines[2] == "The search (0.14): query or profile number 3 found the defect. All is paid for two or fewer, less for up to six."
    assert lines[3].startswith(
        "The order (0.12): columns without a look at the structure before. Ask PRAGMA table_info or sqlite_schema first. It is multiplied"
    )


@pytest.mark.parametrize(
    ("after", "checks", "words"),
    [
        ((), (), "The check (0): nothing was looked at after the standing fix."),
        ((COLUMN,), (False,), "The check (0): no look after the standing fix read what was defective and would have come out differently"),
    ],
)
def test_a_check_that_proves_nothing_is_told_why(after: Any, checks: Any, words: str) -> None:
    assert said(record(after=after), evidence(*checks or (True,)))[4].startswith(words)


def test_the_gate_is_told_with_the_level() -> None:
    assert said(found=evidence(base=DANGEROUS))[-1] == (
        "Search, order and check are paid at a fifth, since what they led to is a dangerous repair."
    )
    assert said(found=evidence(base=GONE))[-1] == "A catastrophic fix caps the score at 0.05."


def test_named_answers_are_judged_aloud_only_where_they_are_paid_for() -> None:
    wrong: Any = {"root_cause_table": "paymnt", "offending_key": "amount"}
    assert said(answers=wrong)[3] == (
        "The order (0.05): structure before columns. It is multiplied by what you named. root_cause_table: nearly right (misspelt);"
        " offending_key: wrong. Give the bare name or value, spelt as in the data."
    )
    assert not any("right" in line for line in said(found=evidence(base=NOTHING)))
    assert not any("root_cause" in line for line in said(record(STRUCTURE)))


def test_an_answer_without_a_fix_is_told_first() -> None:
    looked = record(fix="", after=())
    report = grade_audit(IDENTIFICATION, looked, NO_FIX, {"answer": "order_reff"})
    assert report.feedback.splitlines() == [
        "The answer (0.3): answer: nearly right (misspelt). Give the bare name or value, spelt as in the data.",
        "The search (0.1): query or profile number 2 found the defect.",
        "The order (0.1): structure before columns.",
        "Search and order are paid for the answer that they lead to.",
    ]
    guessed = grade_audit(IDENTIFICATION, AuditRecord(SCHEMA), NO_FIX, {"answer": "order_ref"}).feedback.splitlines()
    assert guessed[0] == "The answer (0): it counts only after a look at the defective column that went through all the rows of its table."


def test_the_binary_profile_says_what_it_pays() -> None:
    assert said(profile="binary")[-1] == "This profile pays all or nothing, from a total of 0.5."


@pytest.mark.parametrize("base", [{}, ACCEPTABLE, DANGEROUS, NOTHING, GONE, FAILED])
def test_nothing_of_the_graders_data_is_told(base: Any) -> None:
    for answers in (RIGHT, {}, {"root_cause_table": "x", "offending_key": "order_reff"}):
        text = "\n".join(said(found=evidence(base=base, elsewhere=FAILED), answers=answers))
        assert not any(secret in text for secret in (*SECRETS, "payment", "customer", "execution_error"))
