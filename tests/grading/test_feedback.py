from __future__ import annotations

from dataclasses import replace

import pytest

from grading.samples import ISSUES, WRONG_ROWS, WRONG_TYPES, claims_of, evidence, failed, make_task, measurement, oracle_review, ran
from sql_optim_env.engines.base import Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.evidence import RewriteEvidence
from sql_optim_env.grading.feedback import HAZARDS, failure_message
from sql_optim_env.grading.report import RewardProfile, grade_rewrite

TASK = make_task()
REJECTED = SubmittedReview(approved=False)


def _said(review: SubmittedReview, shown: RewriteEvidence | None, profile: RewardProfile = "composite") -> str:
    return grade_rewrite(TASK, review, shown, profile).feedback


def test_a_right_answer_reads_costs_and_verdict() -> None:
    assert _said(REJECTED, ran(100)).splitlines() == [
        "Cost on the public data: original 1,000, submitted 100 work units (10.00x).",
        "Result: equal on the public data and on every hidden instance.",
        "Paid is the smallest improvement over the public data and another instance of similar size.",
    ]


def test_a_difference_on_the_public_data_is_shown_with_rows() -> None:
    text = _said(REJECTED, evidence(measurement(difference=WRONG_ROWS)))
    assert "2 rows are missing and 1 row is extra." in text
    assert "  2 rows missing (expected, not returned), for example:\n    (7, NULL)\n    (8, x)" in text
    assert "  1 row extra (returned, not expected), for example:\n    (7, 0)" in text


def test_at_most_five_rows_of_a_kind_are_shown_and_long_values_are_clipped() -> None:
    rows = tuple((str(n), "v" * 500) for n in range(9))
    text = _said(REJECTED, evidence(measurement(difference=Difference("rows", "differs.", 9, 0, missing=rows))))
    assert text.count("vvv…)") == 5
    assert "v" * 121 not in text


def test_a_difference_in_types_says_which_column() -> None:
    assert "column 2 (n) is BIGINT in the original and HUGEINT here." in _said(REJECTED, evidence(measurement(difference=WRONG_TYPES)))


def test_a_difference_on_hidden_data_shows_hazards_and_no_row() -> None:
    secret = Difference("rows", "1 row is missing: SECRET.", 1, 0, missing=(("SECRET",),))
    text = _said(
        REJECTED, evidence(measurement("public"), replace(measurement("public", difference=secret), role="edge", instance="edge_ties"))
    )
    assert "SECRET" not in text
    assert "edge" not in text
    assert HAZARDS in text


def test_a_refusal_is_said_in_the_engines_words() -> None:
    assert "syntax_error: syntax error at or near FORM." in _said(REJECTED, failed())


def test_a_failure_on_hidden_data_does_not_quote_it() -> None:
    shown = replace(
        evidence(measurement("public")), error_code=ErrorCode.EXECUTION_ERROR, error_message="Could not convert string 'SECRET' to INT32"
    )
    assert "SECRET" not in _said(REJECTED, shown)
    assert "failed on other data" in failure_message(shown)
    assert failure_message(ran(100)) == ""


def test_hidden_work_is_explained() -> None:
    assert "CPU time of the query is far above" in _said(REJECTED, evidence(measurement(hidden_work=True)))


def test_the_same_work_and_too_little_less_are_told_apart() -> None:
    assert "about the same work as the original, or more" in _said(REJECTED, ran(1_000))
    assert "too small to be paid in full" in _said(REJECTED, ran(900))
    assert "too small to be paid in full" in _said(REJECTED, ran(500), "binary")
    assert "too small" not in _said(REJECTED, ran(900), "execution")


@pytest.mark.parametrize("submitted", [900, 1_000, 1_200])
def test_an_optimal_query_that_is_not_paid_gets_the_words_of_a_copy_elsewhere(submitted: int) -> None:
    said = grade_rewrite(make_task(optimal=True), REJECTED, ran(submitted)).feedback
    assert said.splitlines()[1:] == _said(REJECTED, ran(1_000)).splitlines()[1:]
    assert "together with approved=true" in said


def test_an_optimal_query_that_is_kept_and_approved_hears_nothing_of_improvements() -> None:
    said = grade_rewrite(make_task(optimal=True), SubmittedReview((), "It is optimal.", True), ran(1_000)).feedback
    assert said.splitlines()[1:] == ["Result: equal on the public data and on every hidden instance."]


def test_nothing_handed_in_is_said() -> None:
    assert "no optimized_query was submitted" in _said(SubmittedReview(), None)


def test_the_time_measure_says_so() -> None:
    assert "pays for measured CPU time" in _said(REJECTED, ran(100, measure="time"))


def test_no_clock_is_read_aloud() -> None:
    slow = evidence(replace(measurement(), submitted_ms=123.456, original_ms=765.432, reference_ms=99.9))
    assert _said(REJECTED, slow) == _said(REJECTED, evidence(measurement()))


def test_claims_are_confirmed_or_not_and_nothing_else_is_said_about_issues() -> None:
    review = SubmittedReview((*claims_of(ISSUES[:3]), ClaimedIssue("self_join", 2), ClaimedIssue("magic", None)), approved=False)
    text = _said(review, None)
    assert "Issues confirmed: correlated_subquery (line 3), function_on_column (line 7), implicit_join (line 6)." in text
    assert "Not confirmed (wrong type, wrong line, or a duplicate): self_join (line 2), magic." in text
    assert "Not words of the vocabulary: magic." in text
    assert "A suggestion without a line cannot be confirmed." in text
    assert "late_filter" not in text
    assert "missing" not in text


def test_a_list_that_is_mostly_wrong_confirms_nothing() -> None:
    guesses = tuple(
        ClaimedIssue(word, 3) for word in ("self_join", "cross_join", "select_star", "or_in_join", "late_filter", "x", "y", "z")
    )
    text = _said(SubmittedReview((*claims_of(ISSUES[:1]), *guesses), approved=False), None)
    assert "none of it is confirmed" in text
    assert "Issues confirmed" not in text


def test_a_missing_or_contradictory_verdict_is_said() -> None:
    assert "No verdict was given" in _said(SubmittedReview(), ran(100))
    assert "contradicts itself" in _said(SubmittedReview(claims_of(ISSUES), "", True), ran(100))


def test_profiles_without_text_say_nothing_about_it() -> None:
    text = _said(oracle_review(TASK), ran(100), "execution")
    assert "Issues" not in text
    assert "verdict" not in text


def test_an_optimal_task_answers_a_wrong_list_in_the_same_words() -> None:
    review = SubmittedReview((ClaimedIssue("self_join", 2),), approved=False)
    assert grade_rewrite(make_task(optimal=True), review, None).feedback == grade_rewrite(TASK, review, None).feedback
