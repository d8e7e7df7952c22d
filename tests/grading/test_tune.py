from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.tune_samples import (
    VERSION,
    WRONG_ROWS,
    make_tune_task,
    refused,
    tune_evidence,
    tune_measurement,
    tuned,
)
from sql_optim_env.engines.base import Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.report import PROFILES, RewardProfile
from sql_optim_env.grading.tune import grade_tune, pages_score

TASK = make_tune_task()


@pytest.mark.parametrize("profile", PROFILES)
def test_the_reference_earns_exactly_one_and_the_original_exactly_nothing(profile: RewardProfile) -> None:
    assert grade_tune(TASK, tuned(100), profile).score == 1.0
    assert grade_tune(TASK, tuned(1_000), profile).score == 0.0
    assert grade_tune(TASK, None, profile).score == 0.0


@pytest.mark.parametrize(
    ("pages", "score"), [(1, 1.0), (0, 1.0), (99, 1.0), (316, 0.500313), (500, 0.30103), (999, 0.000435), (50_000, 0.0)]
)
def test_pages_are_paid_on_a_log_scale(pages: int, score: float) -> None:
    assert pages_score(tuned(pages)) == score


def test_the_least_gain_over_public_and_twins_counts() -> None:
    assert pages_score(tuned(100, twin_1=500, twin_2=316)) == pages_score(tuned(500)) == 0.30103
    assert pages_score(tuned(4, twin_1=1_000, twin_2=4)) == 0.0


def test_pages_on_edge_instances_are_never_paid_for() -> None:
    evidence = tuned(100)
    costly = tune_evidence(*evidence.measurements[:1], tune_measurement("edge", 10**6), *evidence.measurements[1:])
    assert pages_score(costly) == pages_score(evidence) == 1.0


@pytest.mark.parametrize("kind", ["columns", "types", "rows"])
@pytest.mark.parametrize("place", range(8))
def test_one_difference_anywhere_earns_nothing(place: int, kind: str) -> None:
    measurements = list(tuned(100).measurements)
    right = measurements[place]
    measurements[place] = tune_measurement(right.role, right.submitted_pages, difference=Difference(kind, "x", 1))
    assert grade_tune(TASK, tune_evidence(*measurements)).score == 0.0


def test_without_every_scored_instance_there_is_no_verdict() -> None:
    assert pages_score(tune_evidence(tune_measurement(), tune_measurement("edge"), tune_measurement("twin"))) == 0.0
    assert pages_score(tune_evidence()) == 0.0


def test_what_is_refused_earns_nothing_however_few_pages_it_asked_for() -> None:
    assert grade_tune(TASK, refused()).score == 0.0
    late = tune_evidence(*tuned(1).measurements, error_code=ErrorCode.TIMEOUT, error_message="stopped")
    assert grade_tune(TASK, late).score == 0.0


def test_the_only_term_is_the_score() -> None:
    half = tuned(316)
    assert grade_tune(TASK, half).breakdown == {"logical_reads": 0.500313}
    assert grade_tune(TASK, half, "execution").breakdown == {"logical_reads": 0.500313}
    assert grade_tune(TASK, half, "binary").breakdown == {"solved": 1.0}
    assert grade_tune(TASK, tuned(317), "binary").breakdown == {"solved": 0.0}


def test_the_execution_shows_the_pages_of_the_public_data_and_the_least_ratio() -> None:
    execution = grade_tune(TASK, tuned(100, twin_2=250)).execution
    assert execution is not None
    assert (execution.original_cost, execution.submitted_cost, execution.speedup) == (1_000, 100, 4.0)
    assert (execution.cost_version, execution.row_count, execution.equal, execution.wall_ms) == (VERSION, 3, True, 2.0)
    wrong = grade_tune(TASK, tune_evidence(tune_measurement(difference=WRONG_ROWS))).execution
    assert wrong is not None
    assert (wrong.equal, wrong.speedup) == (False, None)
    assert grade_tune(TASK, None).execution is None
    assert grade_tune(TASK, refused()).execution is None


pages = st.integers(0, 10**6)


@given(st.tuples(pages, pages, pages), st.integers(0, 2), st.integers(1, 10**5), st.integers(4, 200))
def test_asking_for_fewer_pages_anywhere_never_earns_less(asked: tuple[int, int, int], where: int, reference: int, gain: int) -> None:
    def score(counts: tuple[int, ...]) -> float:
        measured = [tune_measurement("twin", count, original=reference * gain, reference=reference) for count in counts]
        return pages_score(tune_evidence(*measured))

    fewer = tuple(count // 2 if place == where else count for place, count in enumerate(asked))
    assert 0.0 <= score(asked) <= score(fewer) <= 1.0
    assert (score(asked) == 1.0) is (max(asked) <= reference or math.isclose(max(asked), reference, rel_tol=1e-5))
