"""Turn measurements into matrices: one row a query (its total features and its target), and one row an operator (its features and time)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.features import operator_features, total_features
from sql_optim_env.engines.duckdb.cost.prices import Prices

__all__ = ["CONSTANT_FEATURE", "Dataset", "Matrix", "Vector", "build_dataset"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

CONSTANT_FEATURE: Final = "constant"
"""Name of the column of ones whose weight is the cost of any query."""
UNTIMED: Final = frozenset({"CTE", "ORDER_BY", "WINDOW", "ASOF_JOIN"})
"""Operators whose time by the engine's clock leaves out part of their work or counts their children again."""
SHORTEST_OPERATOR_NS: Final = 20_000.0
"""Shorter operator times are mostly the clock's own cost."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """``queries`` x ``names`` and ``operators`` x ``names``; ``owner`` is each operator's query."""

    names: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    queries: Matrix
    targets: Vector
    operators: Matrix
    operator_targets: Vector
    owner: NDArray[np.int64]

    @property
    def families(self) -> NDArray[np.str_]:
        """Family of every query."""
        return np.array([item.statement.family for item in self.measurements])

    @property
    def templates(self) -> list[str]:
        """Template of every query."""
        return [item.statement.template for item in self.measurements]


def _totals(profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card, prices: Prices) -> dict[str, float]:
    return total_features(operator_features(profile, plan, card, prices))


def build_dataset(measurements: Sequence[Measurement], cards: Mapping[str, Card], prices: Prices) -> Dataset:
    """Compute features with these prices. ``cards`` has one card a database name."""
    totals: list[dict[str, float]] = []
    operator_rows: list[dict[str, float]] = []
    operator_targets: list[float] = []
    owner: list[int] = []
    for index, item in enumerate(measurements):
        operators = operator_features(item.profile, item.plan, cards[item.statement.database], prices)
        totals.append(total_features(operators))
        for operator, seconds in zip(operators, item.operators, strict=True):
            if operator.name not in UNTIMED and seconds * 1e9 > SHORTEST_OPERATOR_NS:
                operator_rows.append(operator.features)
                operator_targets.append(seconds * 1e9)
                owner.append(index)
    names = (*sorted({name for row in totals for name in row}), CONSTANT_FEATURE)
    queries = _matrix(totals, names)
    queries[:, -1] = 1.0
    return Dataset(
        names,
        tuple(measurements),
        queries,
        np.array([item.target_ns for item in measurements]),
        _matrix(operator_rows, names),
        np.array(operator_targets),
        np.array(owner, dtype=np.int64),
    )


def _matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Matrix:
    position = {name: index for index, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)))
    for index, row in enumerate(rows):
        for name, value in row.items():
            matrix[index, position[name]] = value
    return matrix
