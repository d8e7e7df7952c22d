from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.samples import ISSUES, claims_of, every_word, make_task, oracle_review
from sql_optim_env.grading.analysis import (
    ClaimedIssue,
    Match,
    above_floor,
    clean_list_score,
    clean_summary_score,
    detection_floor,
    detection_score,
    f1,
    match_issues,
    severity_score,
    summary_floor,
    summary_score,
)
from sql_optim_env.tasks.task import ExpectedIssue
from sql_optim_env.tasks.vocabulary import IssueType, Severity

RIGHT = claims_of(ISSUES)


def _detection(claims: tuple[ClaimedIssue, ...]) -> float:
    return detection_score(ISSUES, claims, match_issues(ISSUES, claims))


def test_the_expected_list_is_worth_one() -> None:
    assert _detection(RIGHT) == 1.0
    assert severity_score(ISSUES, RIGHT, match_issues(ISSUES, RIGHT)) == 1.0


def test_the_order_of_claims_does_not_matter() -> None:
    assert _detection(RIGHT[::-1]) == 1.0


@pytest.mark.parametrize(("offset", "found"), [(-2, 0), (-1, 4), (0, 4), (1, 4), (2, 0)])
def test_a_claim_may_be_one_line_off_and_no_more(offset: int, found: int) -> None:
    moved = tuple(ClaimedIssue(claim.issue_type, claim.line + offset) for claim in RIGHT if claim.line)
    assert len(match_issues(ISSUES, moved)) == found


def test_a_claim_without_a_line_is_false() -> None:
    assert match_issues(ISSUES, (ClaimedIssue("correlated_subquery", None),)) == ()


@pytest.mark.parametrize("word", ["Correlated Subquery", " correlated-subquery ", "CORRELATED_SUBQUERY"])
def test_case_and_separators_of_a_type_do_not_matter(word: str) -> None:
    assert match_issues(ISSUES, (ClaimedIssue(word, 3),)) == (Match(0, 0),)


def test_an_accepted_alternate_matches_once() -> None:
    both = (ClaimedIssue("non_sargable_predicate", 7), ClaimedIssue("function_on_column", 7))
    assert len(match_issues(ISSUES, both)) == 1
    assert _detection((both[0], *RIGHT[:1], *RIGHT[2:])) == 1.0


def test_a_duplicate_counts_as_a_false_claim() -> None:
    assert _detection((*RIGHT, RIGHT[0])) == _detection((*RIGHT, ClaimedIssue("nonsense", 3))) < 1.0


def test_an_unknown_type_counts_as_a_false_claim() -> None:
    assert _detection((*RIGHT, ClaimedIssue("make_it_faster", 3))) == pytest.approx(above_floor(f1(4, 5, 4), detection_floor(4)))


@given(st.integers(0, 4), st.integers(0, 4))
def test_a_right_claim_adds_and_a_wrong_one_takes(right: int, wrong: int) -> None:
    claims = RIGHT[:right] + tuple(ClaimedIssue("nonsense", n + 1) for n in range(wrong))
    value = _detection(claims)
    if right < 4:
        assert _detection((*claims, RIGHT[right])) >= value
    assert _detection((*claims, ClaimedIssue("nonsense", 9))) <= value


@given(st.integers(1, 8))
def test_a_list_as_long_as_the_vocabulary_is_worth_nothing_however_right(expected: int) -> None:
    assert above_floor(f1(expected, len(IssueType), expected), detection_floor(expected)) == 0.0


def test_two_issues_of_one_type_on_neighbouring_lines_keep_their_severities() -> None:
    issues = (
        ExpectedIssue(IssueType.SELF_JOIN, 5, Severity.LOW),
        ExpectedIssue(IssueType.SELF_JOIN, 6, Severity.HIGH),
    )
    claims = claims_of(issues)[::-1]
    assert severity_score(issues, claims, match_issues(issues, claims)) == 1.0


@pytest.mark.parametrize(("severity", "share"), [("critical", 0.25), ("CRITICAL ", 0.25), ("high", 0.0), ("", 0.0), ("very bad", 0.0)])
def test_a_severity_must_be_right_and_not_merely_present(severity: str, share: float) -> None:
    claims = (ClaimedIssue("correlated_subquery", 3, severity),)
    assert severity_score(ISSUES, claims, match_issues(ISSUES, claims)) == share


def test_the_severity_of_a_false_claim_counts_for_nothing() -> None:
    claims = (ClaimedIssue("self_join", 3, "critical"),)
    assert severity_score(ISSUES, claims, match_issues(ISSUES, claims)) == 0.0


def test_a_summary_that_names_what_is_there_is_worth_one() -> None:
    assert summary_score(ISSUES, oracle_review(make_task()).summary) == 1.0
    assert summary_score(ISSUES, "correlated subquery, function on column, comma join; late filter") == 1.0


def test_an_alternate_names_its_issue_in_a_summary_too() -> None:
    assert summary_score(ISSUES, "correlated subquery, non-sargable predicate, implicit join, late filter") == 1.0


def test_a_summary_earns_nothing_for_length() -> None:
    short = "late filter, implicit join"
    assert summary_score(ISSUES, short) == summary_score(ISSUES, short + " and so on" * 500)
    assert summary_score(ISSUES, "a" * 130) == 0.0
    assert summary_score(ISSUES, "") == 0.0


def test_naming_what_is_not_there_loses() -> None:
    right = "correlated subquery, function on column, implicit join, late filter"
    assert summary_score(ISSUES, right + ", self join") < summary_score(ISSUES, right)
    assert summary_score(ISSUES, every_word()) == 0.0


def test_the_floor_of_a_summary_counts_accepted_alternates() -> None:
    precision = 5 / len(IssueType)
    assert summary_floor(ISSUES) == pytest.approx(2 * precision / (precision + 1))


def test_where_nothing_is_expected_nothing_is_found() -> None:
    assert detection_score((), (), ()) == severity_score((), (), ()) == summary_score((), "anything") == 0.0


def test_on_a_clean_query_every_claim_costs() -> None:
    assert [clean_list_score(RIGHT[:n]) for n in range(4)] == [1.0, 0.5, pytest.approx(1 / 3), 0.25]


def test_on_a_clean_query_the_summary_must_say_so_and_accuse_nothing() -> None:
    assert clean_summary_score("The query is optimal.") == 1.0
    assert clean_summary_score("The query is optimal, apart from a self-join.") == 0.5
    assert clean_summary_score("") == clean_summary_score("a" * 130) == clean_summary_score("Fast.") == 0.0


def test_a_floor_of_one_leaves_only_the_perfect_answer() -> None:
    assert above_floor(1.0, 1.0) == 1.0
    assert above_floor(0.9, 1.0) == 0.0
