"""Judge a fit on templates it has not seen: rank correlation, log correlation, error; and on pairs, whether the cheaper one is told."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from sql_optim_env.engines.duckdb.cost.calibration.dataset import Dataset, Vector
from sql_optim_env.engines.duckdb.cost.calibration.fit import FitOptions, fit_weights
from sql_optim_env.engines.duckdb.cost.calibration.pairs import PAIRS

__all__ = ["FOLDS", "PairScore", "Score", "folds_of", "held_out_predictions", "pair_scores", "score"]

FOLDS: Final = 5
SHORTEST_NS: Final = 300_000.0
"""Queries below 0.3 ms are left out of scores: their time is mostly the constant part."""
UNFITTED: Final = frozenset({"recursion"})
"""Families that are measured and reported but never fitted, because the profile does not show what they cost."""


@dataclass(frozen=True, slots=True)
class Score:
    """Agreement of predictions with CPU time. ``within_2x`` is a fraction; ``median_error`` is |predicted / true - 1|."""

    queries: int
    spearman: float
    log_correlation: float
    median_error: float
    within_2x: float


@dataclass(frozen=True, slots=True)
class PairScore:
    """Pairs whose true ratio is at least ``threshold``: how many, the share with the right sign, correlation of log ratios."""

    threshold: float
    pairs: int
    sign_agrees: float
    log_ratio_correlation: float


def folds_of(templates: Sequence[str]) -> NDArray[np.int64]:
    """The fold of each query; a template's queries share one."""
    return np.array([zlib.crc32(template.encode()) % FOLDS for template in templates], dtype=np.int64)


def score(predicted: Vector, true: Vector) -> Score:
    """Compare predictions and targets (both ns) over the queries that are long enough."""
    mask = true > SHORTEST_NS
    predicted, true = predicted[mask], true[mask]
    if len(true) < 4:
        return Score(len(true), float("nan"), float("nan"), float("nan"), float("nan"))
    ratio = predicted / true
    return Score(
        len(true),
        round(float(spearmanr(predicted, true).statistic), 4),
        round(_correlation(np.log(predicted), np.log(true)), 4),
        round(float(np.median(np.abs(ratio - 1.0))), 4),
        round(float(np.mean(np.abs(np.log(ratio)) <= np.log(2.0))), 4),
    )


def _correlation(left: Vector, right: Vector) -> float:
    """Pearson's correlation, 0 where one side does not vary."""
    if left.std() == 0 or right.std() == 0:
        return 0.0
    return float(np.corrcoef(left, right)[0, 1])


def fitted_rows(data: Dataset) -> NDArray[np.int64]:
    """Indices of the queries that may be fitted."""
    return np.array([index for index, item in enumerate(data.measurements) if item.statement.family not in UNFITTED], dtype=np.int64)


def held_out_predictions(data: Dataset, options: FitOptions | None = None) -> Vector:
    """Predict every query from a fit that saw no query of its template."""
    folds = folds_of(data.templates)
    usable = fitted_rows(data)
    predictions = np.zeros(len(data.targets))
    for fold in range(FOLDS):
        weights = fit_weights(data, usable[folds[usable] != fold], options)
        test = np.flatnonzero(folds == fold)
        predictions[test] = data.queries[test] @ weights
    return predictions


def pair_scores(data: Dataset, predicted: Vector) -> list[PairScore]:
    """Sign agreement of the pairs at several true ratios, all instances together."""
    position = {(item.statement.database, item.statement.sql): index for index, item in enumerate(data.measurements)}
    true_logs: list[float] = []
    predicted_logs: list[float] = []
    for database in sorted({item.statement.database for item in data.measurements}):
        for pair in PAIRS:
            slow, fast = position.get((database, pair.slow)), position.get((database, pair.fast))
            if slow is not None and fast is not None:
                true_logs.append(float(np.log(data.targets[slow] / data.targets[fast])))
                predicted_logs.append(float(np.log(predicted[slow] / predicted[fast])))
    true, guess = np.array(true_logs), np.array(predicted_logs)
    scores: list[PairScore] = []
    for threshold in (1.1, 1.5, 2.0, 3.0):
        mask = np.abs(true) >= np.log(threshold)
        if mask.sum() < 3:
            continue
        agrees = float(np.mean(np.sign(true[mask]) == np.sign(guess[mask])))
        correlation = _correlation(true[mask], guess[mask])
        scores.append(PairScore(threshold, int(mask.sum()), round(agrees, 4), round(correlation, 4)))
    return scores
