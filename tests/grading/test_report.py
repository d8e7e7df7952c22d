from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.samples import (
    ISSUES,
    WRONG_ROWS,
    claims_of,
    every_word,
    evidence,
    failed,
    make_task,
    measurement,
    oracle_review,
    ran,
    random_task,
)
from sql_optim_env.errors import InfraError
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.report import PROFILES, WEIGHTS, GradeReport, MatchedIssue, RewardProfile, grade_rewrite

TASK = make_task()
OPTIMAL = make_task(optimal=True)
NOTHING = SubmittedReview()
REJECTED = SubmittedReview(approved=False)


def _term(report: GradeReport, name: str) -> float:
    """A term in [0, 1], unweighted."""
    return report.breakdown[name] / WEIGHTS[name]


@pytest.mark.parametrize("seed", range(40))
def test_the_oracle_earns_exactly_one(seed: int) -> None:
    task = random_task(seed)
    assert grade_rewrite(task, oracle_review(task), ran(100)).score == 1.0


def test_the_oracle_of_an_optimal_task_earns_exactly_one() -> None:
    report = grade_rewrite(OPTIMAL, oracle_review(OPTIMAL), ran(1_000))
    assert report.score == 1.0
    assert report.breakdown == dict(WEIGHTS)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("task", [TASK, OPTIMAL])
def test_the_null_action_earns_exactly_nothing(task: object, profile: RewardProfile) -> None:
    report = grade_rewrite(task, NOTHING, None, profile)
    assert report.score == 0.0
    assert set(report.breakdown.values()) == {0.0}
    assert report.execution is None


def test_a_copy_earns_nothing_where_there_is_headroom() -> None:
    assert grade_rewrite(TASK, REJECTED, ran(1_000)).score == 0.0
    assert grade_rewrite(TASK, SubmittedReview(approved=True), ran(1_000)).score == 0.0


def test_nearly_the_same_work_earns_next_to_nothing() -> None:
    report = grade_rewrite(TASK, REJECTED, ran(900))
    assert _term(report, "result_correctness") == 0.0
    assert report.score == pytest.approx(0.35 * 0.045757, abs=1e-5)


def test_correctness_is_paid_from_a_tenth_of_the_improvement() -> None:
    assert _term(grade_rewrite(TASK, NOTHING, ran(794)), "result_correctness") == 1.0
    assert _term(grade_rewrite(TASK, NOTHING, ran(795)), "result_correctness") == 0.0


def test_speed_is_paid_on_the_log_scale() -> None:
    assert _term(grade_rewrite(TASK, NOTHING, ran(316)), "execution_speedup") == pytest.approx(0.5, abs=0.001)


@pytest.mark.parametrize("role", ["public", "twin", "adversarial", "edge"])
def test_a_wrong_result_on_any_instance_closes_the_gate(role: str) -> None:
    taken = [measurement("public"), measurement("twin")]
    wrong = replace(measurement("public", difference=WRONG_ROWS), role=role)
    report = grade_rewrite(TASK, REJECTED, evidence(*taken, wrong))
    assert report.score == 0.0
    assert report.execution is not None
    assert report.execution.equal is False
    assert report.execution.speedup is None


@pytest.mark.parametrize("role", ["public", "twin"])
def test_hidden_work_is_not_paid(role: str) -> None:
    flagged = replace(measurement("public", hidden_work=True), role=role)
    assert grade_rewrite(TASK, REJECTED, evidence(measurement("public"), flagged)).score == 0.0


def test_cpu_time_on_small_instances_is_no_ground_for_suspicion() -> None:
    report = grade_rewrite(TASK, NOTHING, evidence(measurement("public"), measurement("edge", hidden_work=True)))
    assert _term(report, "execution_speedup") == 1.0


def test_a_result_that_was_never_measured_on_a_scored_instance_is_not_paid() -> None:
    assert grade_rewrite(TASK, REJECTED, evidence(measurement("adversarial"))).score == 0.0


def test_a_refused_statement_is_graded_on_its_review_alone() -> None:
    review = oracle_review(TASK)
    assert grade_rewrite(TASK, review, failed()).breakdown == grade_rewrite(TASK, review, None).breakdown
    assert grade_rewrite(TASK, review, failed()).score == 0.45


@pytest.mark.parametrize(
    ("review", "submitted", "paid"),
    [
        (SubmittedReview(approved=False), 100, 1.0),
        (SubmittedReview(approved=None), 100, 0.0),
        (SubmittedReview(approved=True), 100, 0.0),
        (SubmittedReview(approved=False), 1_000, 0.0),
        (SubmittedReview(claims_of(ISSUES[:2]), approved=False), 1_000, 1.0),
        (SubmittedReview(claims_of(ISSUES[:1]), approved=False), 1_000, 0.0),
        (SubmittedReview((ClaimedIssue("self_join", 3),), approved=False), 1_000, 0.0),
    ],
)
def test_rejecting_is_paid_only_with_a_reason(review: SubmittedReview, submitted: int, paid: float) -> None:
    assert _term(grade_rewrite(TASK, review, ran(submitted)), "approval_correctness") == paid


def test_a_review_that_approves_and_accuses_contradicts_itself() -> None:
    review = replace(oracle_review(TASK), approved=True)
    report = grade_rewrite(TASK, review, ran(100))
    assert {name for name, value in report.breakdown.items() if value} == {"execution_speedup", "result_correctness"}
    assert report.matched == ()


def test_severities_are_not_paid_in_a_list_that_is_not_credited() -> None:
    stuffed = SubmittedReview(tuple(ClaimedIssue(issue.issue_type.value, 3, "critical") for issue in ISSUES[:1]) * 40, approved=False)
    report = grade_rewrite(TASK, stuffed, None)
    assert report.score == 0.0
    assert report.matched == ()


def test_confirmed_issues_carry_the_agents_own_words() -> None:
    review = SubmittedReview((ClaimedIssue("Non Sargable Predicate", 8, "low"), ClaimedIssue("late_filter", 9)), approved=False)
    assert grade_rewrite(TASK, review, None).matched == (
        MatchedIssue(1, "non_sargable_predicate", 8),
        MatchedIssue(3, "late_filter", 9),
    )


@pytest.mark.parametrize(
    ("review", "submitted"),
    [
        (SubmittedReview((), "The query is optimal.", False), 1_000),
        (SubmittedReview((), "The query is optimal.", None), 1_000),
        (SubmittedReview((), "The query is optimal.", True), 1_051),
    ],
)
def test_an_optimal_query_pays_nothing_without_approval_and_an_equal_cost(review: SubmittedReview, submitted: int) -> None:
    assert grade_rewrite(OPTIMAL, review, ran(submitted)).score == 0.0


def test_an_optimal_query_pays_nothing_for_a_wrong_result_or_no_query() -> None:
    approved = oracle_review(OPTIMAL)
    assert grade_rewrite(OPTIMAL, approved, None).score == 0.0
    assert grade_rewrite(OPTIMAL, approved, failed()).score == 0.0
    assert grade_rewrite(OPTIMAL, approved, evidence(measurement("public", submitted=1_000, difference=WRONG_ROWS))).score == 0.0
    assert grade_rewrite(OPTIMAL, approved, evidence(measurement("public", submitted=1_000, hidden_work=True))).score == 0.0


def test_accusing_an_optimal_query_loses() -> None:
    report = grade_rewrite(OPTIMAL, SubmittedReview(claims_of(ISSUES[:1]), "The query is optimal.", True), ran(1_000))
    assert _term(report, "issue_detection") == pytest.approx(0.5)
    assert _term(report, "severity_labels") == 0.0
    wordy = grade_rewrite(OPTIMAL, SubmittedReview((), "Optimal. " + every_word(), True), ran(1_000))
    assert _term(wordy, "summary_quality") < 0.05


def test_the_execution_profile_pays_the_log_score_behind_the_gate() -> None:
    assert grade_rewrite(TASK, NOTHING, ran(316), "execution").score == pytest.approx(0.5, abs=0.001)
    assert grade_rewrite(TASK, oracle_review(TASK), None, "execution").score == 0.0
    assert grade_rewrite(TASK, NOTHING, evidence(measurement(difference=WRONG_ROWS)), "execution").score == 0.0
    assert grade_rewrite(TASK, NOTHING, ran(100), "execution").breakdown == {"execution_speedup": 1.0}


def test_the_binary_profile_pays_all_or_nothing_at_half_the_improvement() -> None:
    assert grade_rewrite(TASK, NOTHING, ran(316), "binary").breakdown == {"solved": 1.0}
    assert grade_rewrite(TASK, NOTHING, ran(317), "binary").breakdown == {"solved": 0.0}
    assert grade_rewrite(TASK, NOTHING, evidence(measurement(difference=WRONG_ROWS)), "binary").score == 0.0


@pytest.mark.parametrize("profile", ["execution", "binary"])
def test_without_the_text_an_optimal_query_asks_for_equality_and_cost_alone(profile: RewardProfile) -> None:
    assert grade_rewrite(OPTIMAL, NOTHING, ran(1_000), profile).score == 1.0
    assert grade_rewrite(OPTIMAL, NOTHING, ran(1_051), profile).score == 0.0


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
def test_scores_are_bounded_repeatable_and_the_sum_of_their_terms(profile: RewardProfile, data: st.DataObject) -> None:
    task = random_task(data.draw(st.integers(0, 50)))
    claim = st.builds(
        ClaimedIssue, st.sampled_from([*(i.issue_type.value for i in task.rewrite.issues), "x"]), st.integers(1, 20), st.just("high")
    )
    review = SubmittedReview(
        tuple(data.draw(st.lists(claim, max_size=8))), data.draw(st.text(max_size=40)), data.draw(st.sampled_from([None, True, False]))
    )
    shown = ran(data.draw(st.integers(1, 2_000)))
    report = grade_rewrite(task, review, shown, profile)
    assert 0.0 <= report.score <= 1.0
    assert report.score == round(sum(report.breakdown.values()), 6)
    assert grade_rewrite(task, review, shown, profile) == report


def test_a_task_that_cannot_be_graded_is_our_fault() -> None:
    with pytest.raises(InfraError, match="expects no issue"):
        grade_rewrite(make_task(issues=()), NOTHING, None)


def test_execution_figures_are_those_of_the_public_instance_and_the_smallest_speedup() -> None:
    info = grade_rewrite(
        TASK, NOTHING, evidence(measurement("public", submitted=100), measurement("twin", original=800, submitted=400))
    ).execution
    assert info is not None
    assert (info.original_cost, info.submitted_cost, info.speedup) == (1_000, 100, 2.0)
    assert (info.original_ms, info.submitted_ms, info.wall_ms) == (10.0, 1.0, 2.0)
    assert (info.measure, info.cost_version, info.row_count, info.equal) == ("cost", "engine 1, weights 1", 3, True)
