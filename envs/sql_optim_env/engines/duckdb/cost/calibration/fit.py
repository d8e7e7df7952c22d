"""Fit non-negative weights: a least-squares warm start, then pseudo-Huber loss on log ratios, which judges a 1 ms and a 1 s query alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from sql_optim_env.engines.duckdb.cost.calibration.dataset import Dataset, Matrix, Vector

__all__ = ["FitOptions", "fit_weights", "is_priced"]

QUERY_EPSILON_NS: Final = 10_000.0
OPERATOR_EPSILON_NS: Final = 30_000.0
"""Added to predictions and targets, so that relative errors of tiny queries and operators do not rule the fit."""
HUBER_WIDTH: Final = 0.6
"""Log ratio beyond which an error counts linearly (a factor of 1.8)."""
PRICED_FLOOR: Final = 0.5
"""Least weight of a micro-benchmarked feature. Without it filter expressions fell to zero, which made any expression in a filter free."""
PRICED_CEILING: Final = 2.5
"""Greatest weight of a micro-benchmarked feature; beyond it something else is missing from the model."""
SCAN_CEILING: Final = 5.0
"""ns a row for scanning a fixed-width or dictionary column: one uncalibrated encoding caused 450-fold errors until it was capped."""

FLOORS: Final = {
    "blockwise.pairs": 0.2,
    "group.filtered_rows": 0.3,
    "hash_join.matched_pairs": 3.0,
    "hash_join.output_rows": 0.5,
    "hash_join.probe_rows": 1.0,
    "nested_loop.pairs": 0.2,
    "sort.comparisons": 0.5,
    "window.holistic_frame": 400.0,
    "window.rows": 2.0,
    "window.sort": 0.5,
}
"""Least ns for work that one statement can multiply. Features that nearly always come together would otherwise share one weight at random,
and a statement that has only the one whose weight is zero would be free."""

_PRICED_ENDINGS = (".expressions", ".key_expressions", ".filter_expressions", ".aggregates", ".states", ".holistic_values")
_CAPPED_SCANS = frozenset(f"scan.{kind}_rows" for kind in ("integer", "float", "decimal", "time", "huge", "dictionary", "alprd"))


@dataclass(frozen=True, slots=True)
class FitOptions:
    """``operator_share``: weight of operator timings beside query totals; ``prior``: pull of priced features towards 1."""

    operator_share: float = 0.3
    prior: float = 1e-3
    iterations: int = 250


def is_priced(name: str) -> bool:
    """Whether the feature is already nanoseconds by micro-benchmark, so that its ideal weight is 1."""
    return name.endswith(_PRICED_ENDINGS)


def _bounds(names: Sequence[str]) -> tuple[Vector, Vector]:
    low = np.zeros(len(names))
    high = np.full(len(names), np.inf)
    for index, name in enumerate(names):
        if is_priced(name):
            low[index], high[index] = PRICED_FLOOR, PRICED_CEILING
        elif name in _CAPPED_SCANS:
            high[index] = SCAN_CEILING
        else:
            low[index] = FLOORS.get(name, 0.0)
    return low, high


def _warm_start(queries: Matrix, targets: Vector, operators: Matrix, operator_targets: Vector, share: float) -> Vector:
    scale = np.maximum(queries.max(axis=0), operators.max(axis=0) if len(operators) else 0.0)
    scale[scale == 0] = 1.0
    weight = 1.0 / np.maximum(targets, 1e5) ** 0.8
    operator_weight = share / np.maximum(operator_targets, 1e5) ** 0.8
    matrix = np.vstack([queries / scale * weight[:, None], operators / scale * operator_weight[:, None]])
    solution, _ = nnls(matrix, np.concatenate([targets * weight, operator_targets * operator_weight]), maxiter=20_000)
    return np.asarray(solution / scale, dtype=np.float64)


def _huber(predicted: Vector, wanted: Vector) -> tuple[float, Vector]:
    """Loss and its derivative by the prediction."""
    ratio = np.log(predicted / wanted)
    root = np.sqrt(1.0 + (ratio / HUBER_WIDTH) ** 2)
    return float((HUBER_WIDTH**2 * (root - 1.0)).sum()), ratio / root / predicted


def fit_weights(data: Dataset, train: NDArray[np.int64], options: FitOptions | None = None) -> Vector:
    """Weights, in ns for one unit of each feature of ``data.names``, from the queries with these indices."""
    chosen = options or FitOptions()
    queries, targets = data.queries[train], data.targets[train]
    mask = np.isin(data.owner, train)
    operators, operator_targets = data.operators[mask], data.operator_targets[mask]
    low, high = _bounds(data.names)
    start = np.clip(_warm_start(queries, targets, operators, operator_targets, chosen.operator_share), low, high)
    priced = np.array([is_priced(name) for name in data.names])
    # Optimise in units in which every coordinate starts near 1, or near its smallest useful size.
    typical = np.maximum(queries.max(axis=0), 1.0)
    unit = np.maximum(start, 1e3 / typical)
    share = chosen.operator_share * len(targets) / max(len(operator_targets), 1)
    pull = chosen.prior * len(targets)

    def objective(scaled: Vector) -> tuple[float, Vector]:
        weights = scaled * unit
        loss, slope = _huber(queries @ weights + QUERY_EPSILON_NS, targets + QUERY_EPSILON_NS)
        gradient = queries.T @ slope
        operator_loss, operator_slope = _huber(operators @ weights + OPERATOR_EPSILON_NS, operator_targets + OPERATOR_EPSILON_NS)
        gradient += share * (operators.T @ operator_slope)
        distance = np.where(priced, weights - 1.0, 0.0)
        loss += share * operator_loss + 0.5 * pull * float(distance @ distance)
        return loss, (gradient + pull * distance) * unit

    result = minimize(
        objective,
        start / unit,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low / unit, np.where(np.isinf(high), None, high / unit), strict=True)),
        options={"maxiter": chosen.iterations, "maxcor": 30},
    )
    return np.asarray(np.clip(result.x * unit, low, high), dtype=np.float64)
