from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sql_optim_env.engines.duckdb.cost.calibration.dataset import CONSTANT_FEATURE, Dataset
from sql_optim_env.engines.duckdb.cost.calibration.evaluate import (
    FITTED_HALF,
    found_pairs,
    groups_of,
    halves_of,
    held_out_predictions,
    pair_scores,
    score,
)
from sql_optim_env.engines.duckdb.cost.calibration.fit import PRICED_FLOOR, SCAN_CEILING, fit_weights, is_priced
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement
from sql_optim_env.engines.duckdb.cost.calibration.pairs import PAIRS

NAMES = ("filter.expressions", "join.rows", "scan.integer_rows", "sort.comparisons", CONSTANT_FEATURE)


def measurement(sql: str, family: str = "test", template: str = "test", database: str = "public") -> Measurement:
    return Measurement(Statement(database, family, template, sql), {}, None)


def invented(weights: tuple[float, ...], rows: int = 400, noise: float = 0.05) -> Dataset:
    rng = np.random.default_rng(5)
    queries = 10 ** rng.uniform(4, 7, size=(rows, len(NAMES))) * (rng.random((rows, len(NAMES))) < 0.6)
    queries[:, -1] = 1.0
    targets = queries @ np.array(weights) * np.exp(rng.normal(0, noise, rows))
    return Dataset(
        NAMES,
        tuple(measurement(f"SELECT {n}", template=f"t{n % 40}") for n in range(rows)),
        queries,
        targets,
        np.zeros((0, len(NAMES))),
        np.zeros(0),
        np.zeros(0, dtype=np.int64),
    )


def everything(data: Dataset) -> NDArray[np.int64]:
    return np.arange(len(data.targets), dtype=np.int64)


def test_weights_that_made_the_data_are_found_again() -> None:
    true = (1.0, 7.0, 0.6, 2.5, 30_000.0)
    data = invented(true)
    found = fit_weights(data, everything(data))
    assert found == pytest.approx(np.array(true), rel=0.15)


def test_a_priced_feature_never_falls_to_zero() -> None:
    data = invented((0.0, 7.0, 0.6, 2.5, 30_000.0))
    found = fit_weights(data, everything(data))
    assert found[0] == PRICED_FLOOR
    assert is_priced("filter.expressions")
    assert not is_priced("filter.rows")


def test_a_scan_weight_stays_physical() -> None:
    data = invented((1.0, 7.0, 300.0, 2.5, 30_000.0))
    assert fit_weights(data, everything(data))[2] == SCAN_CEILING


def test_no_weight_is_negative() -> None:
    data = invented((1.0, 0.0, 0.6, 0.0, 30_000.0), noise=0.3)
    assert (fit_weights(data, everything(data)) >= 0).all()


def test_a_perfect_prediction_scores_one_and_short_queries_do_not_count() -> None:
    true = np.array([1e5, 1e6, 2e6, 4e6, 8e6])
    perfect = score(np.array([9e9, 1e6, 2e6, 4e6, 8e6]), true)
    assert (perfect.queries, perfect.spearman, perfect.log_correlation, perfect.median_error, perfect.within_2x) == (4, 1.0, 1.0, 0.0, 1.0)


def test_a_reversed_prediction_scores_minus_one() -> None:
    true = np.array([1e6, 2e6, 4e6, 8e6])
    assert score(true[::-1].copy(), true).spearman == -1.0


def test_queries_of_one_template_share_a_half() -> None:
    halves = halves_of(["a", "b", "a", "c"] + [f"t{n}" for n in range(60)])
    assert halves[0] == halves[2]
    assert 20 < halves.sum() < 44


def test_no_query_is_predicted_by_weights_that_saw_its_template() -> None:
    data = invented((1.0, 7.0, 0.6, 2.5, 30_000.0))
    halves = halves_of(data.templates)
    # On the second half everything takes three times as long: weights from the first half cannot know.
    targets = np.where(halves == 1, 3 * data.targets, data.targets)
    slower = Dataset(NAMES, data.measurements, data.queries, targets, data.operators, data.operator_targets, data.owner)
    predicted, weights = held_out_predictions(slower)
    assert np.median(predicted[halves == 1] / targets[halves == 1]) == pytest.approx(1 / 3, rel=0.1)
    assert np.median(predicted[halves == 0] / targets[halves == 0]) == pytest.approx(3, rel=0.1)
    assert FITTED_HALF == 0
    assert weights[1] == pytest.approx(7.0, rel=0.2)


def test_tasks_and_the_third_schema_are_never_fitted_and_the_synthetic_suite_always_is() -> None:
    items = [
        measurement("SELECT 1", "catalogue", "x"),
        measurement("SELECT 2", "tpch", "y", "tpch"),
        measurement("SELECT 3", "recursion", "z"),
        measurement("SELECT 4", "group", "w", "synthetic"),
        measurement("SELECT 5", "group", "v"),
    ]
    data = Dataset(NAMES, tuple(items), np.ones((5, 5)), np.ones(5), np.zeros((0, 5)), np.zeros(0), np.zeros(0, dtype=np.int64))
    groups = groups_of(data)
    seen = [set(groups.fitted(half).tolist()) for half in (0, 1)]
    assert seen[0] & seen[1] == {3}
    assert seen[0] | seen[1] == {3, 4}
    assert groups.corpus.tolist() == [False, False, False, False, True]


def paired(queries: NDArray[np.float64]) -> Dataset:
    items = [measurement(sql, "pair", pair.name) for pair in PAIRS[:4] for sql in (pair.slow, pair.fast)]
    targets = np.array([8e6, 1e6] * 4)
    return Dataset(NAMES, tuple(items), queries, targets, np.zeros((0, 5)), np.zeros(0), np.zeros(0, dtype=np.int64))


def test_pairs_are_judged_by_the_sign_of_their_ratio() -> None:
    data = paired(np.arange(40.0).reshape(8, 5))
    predicted = np.array([8e6, 1e6, 5e6, 1e6, 1e6, 2e6, 9e6, 1e6])
    scores = pair_scores(data.targets, predicted, found_pairs(data, PAIRS))
    assert [(item.threshold, item.pairs, item.sign_agrees) for item in scores] == [(t, 4, 0.75) for t in (1.1, 1.25, 1.5, 2.0, 3.0)]


def test_a_pair_of_which_the_optimizer_made_one_plan_is_no_pair() -> None:
    queries = np.arange(40.0).reshape(8, 5)
    queries[3] = queries[2]
    assert found_pairs(paired(queries), PAIRS) == [(0, 1), (4, 5), (6, 7)]
    assert pair_scores(np.ones(8), np.ones(8), [(0, 1)]) == []
