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
from sql_optim_env.engines.duckdb.cost.calibration.pairs import Pair
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import SYNTHETIC

__all__ = [
    "FITTED_HALF",
    "Groups",
    "PairScore",
    "Score",
    "found_pairs",
    "groups_of",
    "halves_of",
    "held_out_predictions",
    "pair_scores",
    "score",
]

SHORTEST_NS: Final = 300_000.0
"""Queries below 0.3 ms are left out of scores: their time is mostly the constant part."""
UNFITTED: Final = frozenset({"recursion"})
"""Families that are measured and reported but never fitted, because the profile does not show what they cost."""
UNSEEN: Final = frozenset({"catalogue", "tpch"})
"""Families that no fit may see: the tasks that are scored with the weights, and another schema."""
FITTED_HALF: Final = 0
"""Weights are fitted on this half of the templates and on the synthetic suite, and judged on the other half."""


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


@dataclass(frozen=True, slots=True)
class Groups:
    """Which queries may be fitted and which are judged (masks over the queries). ``corpus``: what is judged in halves."""

    synthetic: NDArray[np.bool_]
    corpus: NDArray[np.bool_]
    halves: NDArray[np.int64]

    def fitted(self, half: int) -> NDArray[np.int64]:
        """Indices of what a fit on this half sees: the half and the synthetic suite."""
        return np.flatnonzero(self.synthetic | (self.corpus & (self.halves == half)))

    def judged(self, half: int) -> NDArray[np.bool_]:
        """The corpus' queries of this half."""
        mask: NDArray[np.bool_] = self.corpus & (self.halves == half)
        return mask


def halves_of(templates: Sequence[str]) -> NDArray[np.int64]:
    """The half (0 or 1) of each query; a template's queries share one."""
    return np.array([zlib.crc32(f"half {template}".encode()) % 2 for template in templates], dtype=np.int64)


def groups_of(data: Dataset) -> Groups:
    """Tell the queries of a dataset apart."""
    families = data.families
    synthetic = np.array([item.statement.database == SYNTHETIC for item in data.measurements])
    fittable = ~np.isin(families, sorted(UNFITTED | UNSEEN))
    return Groups(synthetic & fittable, ~synthetic & fittable, halves_of(data.templates))


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


def held_out_predictions(data: Dataset, options: FitOptions | None = None) -> tuple[Vector, Vector]:
    """Predict every query from the fit on the half that it is not in. Also returns the weights fitted on ``FITTED_HALF``."""
    groups = groups_of(data)
    weights = [fit_weights(data, groups.fitted(half), options) for half in (0, 1)]
    predictions = np.where(groups.halves == 0, data.queries @ weights[1], data.queries @ weights[0])
    return predictions, weights[FITTED_HALF]


def found_pairs(data: Dataset, pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    """Indices of the dear and the cheap query of every pair that was measured, on each instance. Pairs whose queries did exactly the same
    are left out: the optimizer made one plan of both, so that only noise tells their times apart."""
    position = {(item.statement.database, item.statement.sql): index for index, item in enumerate(data.measurements)}
    found: list[tuple[int, int]] = []
    for database in sorted({item.statement.database for item in data.measurements}):
        for pair in pairs:
            slow, fast = position.get((database, pair.slow)), position.get((database, pair.fast))
            if slow is not None and fast is not None and not np.array_equal(data.queries[slow], data.queries[fast]):
                found.append((slow, fast))
    return found


def pair_scores(true: Vector, predicted: Vector, pairs: Sequence[tuple[int, int]]) -> list[PairScore]:
    """Sign agreement of the pairs at several true ratios, all instances together."""
    if len(pairs) < 3:
        return []
    slow, fast = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    wanted, guess = np.log(true[slow] / true[fast]), np.log(predicted[slow] / predicted[fast])
    scores: list[PairScore] = []
    for threshold in (1.1, 1.25, 1.5, 2.0, 3.0):
        mask = np.abs(wanted) >= np.log(threshold)
        if mask.sum() < 3:
            continue
        agrees = float(np.mean(np.sign(wanted[mask]) == np.sign(guess[mask])))
        correlation = _correlation(wanted[mask], guess[mask])
        scores.append(PairScore(threshold, int(mask.sum()), round(agrees, 4), round(correlation, 4)))
    return scores
