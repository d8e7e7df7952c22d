from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.samples import evidence, measurement, ran
from sql_optim_env.grading.score import (
    clamp,
    execution_score,
    log_score,
    not_costlier,
    speedup,
    telescoping_reward,
    total,
)

anything = st.one_of(st.floats(), st.integers(-(2**70), 2**70))
costs = st.integers(1, 10**15)


@given(anything, anything, anything)
def test_the_log_scale_is_total_and_bounded(original: float, submitted: float, reference: float) -> None:
    assert 0.0 <= log_score(original, submitted, reference) <= 1.0


@given(costs, costs, costs)
def test_nothing_is_earned_at_or_above_the_original(original: int, more: int, reference: int) -> None:
    assert log_score(original, original, reference) == 0.0
    assert log_score(original, original + more, reference) == 0.0


@given(costs, costs, costs)
def test_everything_is_earned_at_or_below_the_reference(reference: int, headroom: int, submitted: int) -> None:
    assert log_score(reference + headroom, min(submitted, reference), reference) == 1.0


@given(costs, costs, costs, costs)
def test_a_costlier_answer_never_scores_more(original: int, reference: int, one: int, other: int) -> None:
    cheaper, costlier = sorted((one, other))
    assert log_score(original, cheaper, reference) >= log_score(original, costlier, reference)


def test_the_scale_is_logarithmic() -> None:
    assert log_score(1_000, 100, 10) == pytest.approx(0.5)
    assert log_score(10_000, 100, 1) == pytest.approx(0.5)
    assert log_score(1_000, 500, 100) == pytest.approx(math.log(2) / math.log(10))


@pytest.mark.parametrize(
    ("original", "submitted", "reference", "score"),
    [(0, 0, 0, 0.0), (-5, 3, 1, 0.0), (10, 0, 1, 1.0), (10, -1, -1, 1.0), (10, 5, 10, 1.0), (10, 5, 20, 1.0), (10, 10, 20, 0.0)],
)
def test_degenerate_figures_have_a_defined_score(original: float, submitted: float, reference: float, score: float) -> None:
    assert log_score(original, submitted, reference) == score


def test_what_is_not_finite_earns_nothing() -> None:
    assert log_score(math.inf, 1, 1) == 0.0
    assert log_score(10, math.nan, 1) == 0.0


def test_a_tolerance_narrows_the_scale_at_both_ends_without_a_jump() -> None:
    assert log_score(100, 91, 10, tolerance=0.1) == 0.0
    assert log_score(100, 11, 10, tolerance=0.1) == 1.0
    assert 0.0 < log_score(100, 90, 10, tolerance=0.1) < 0.01
    assert 0.99 < log_score(100, 11.1, 10, tolerance=0.1) < 1.0


def test_the_worst_scored_instance_decides() -> None:
    mixed = evidence(measurement("public", submitted=100), measurement("twin", submitted=1_000), measurement("edge", submitted=100))
    assert execution_score(mixed) == 0.0


def test_cost_on_small_instances_means_nothing() -> None:
    assert (
        execution_score(evidence(measurement("public"), measurement("adversarial", submitted=9_999), measurement("edge", submitted=9_999)))
        == 1.0
    )


def test_nothing_measured_scores_nothing() -> None:
    assert execution_score(evidence()) == 0.0
    assert execution_score(evidence(measurement("adversarial"))) == 0.0
    assert not not_costlier(evidence(measurement("adversarial")))
    assert speedup(evidence()) is None


def test_the_time_measure_reads_the_clock_and_forgives_its_noise() -> None:
    quick = evidence(measurement(submitted=1_000, submitted_ms=1.05), measure="time")
    assert execution_score(quick) == 1.0
    assert execution_score(evidence(measurement(submitted=1, submitted_ms=9.5), measure="time")) == 0.0
    assert speedup(evidence(measurement(submitted_ms=2.0), measure="time")) == 5.0


def test_a_copy_may_cost_five_percent_more_and_not_a_unit_beyond() -> None:
    assert not_costlier(ran(1_050))
    assert not not_costlier(ran(1_051))
    assert not not_costlier(evidence(measurement("public", submitted=900), measurement("twin", submitted=1_100)))


def test_the_speedup_shown_is_the_smallest_of_the_scored_instances() -> None:
    assert (
        speedup(evidence(measurement("public", submitted=100), measurement("twin", submitted=400), measurement("edge", submitted=1_000)))
        == 2.5
    )


@given(st.lists(st.floats(0, 1).map(lambda value: round(value, 6)), min_size=1, max_size=10))
def test_rewards_over_an_episode_sum_to_its_best_score(scores: list[float]) -> None:
    best, paid = 0.0, []
    for score in scores:
        paid.append(telescoping_reward(score, best))
        best = max(best, score)
    assert math.fsum(paid) == pytest.approx(max(scores), abs=1e-9)
    assert all(reward >= 0.0 for reward in paid)


def test_repeating_an_answer_pays_exactly_nothing() -> None:
    assert telescoping_reward(0.7, 0.0) == 0.7
    assert telescoping_reward(0.7, 0.7) == 0.0
    assert telescoping_reward(0.4, 0.7) == 0.0


@given(st.permutations([0.35, 0.20, 0.25, 0.08, 0.07, 0.05]))
def test_the_weights_sum_to_exactly_one_in_any_order(weights: list[float]) -> None:
    assert total(weights) == 1.0


def test_clamp_holds_a_value_between_zero_and_one() -> None:
    assert [clamp(value) for value in (-1.0, 0.25, 2.0, math.nan)] == [0.0, 0.25, 1.0, 0.0]
