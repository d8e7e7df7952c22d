"""The deterministic cost of one execution: a weighted sum of what its operators did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.features import OperatorFeatures, operator_features, total_features
from sql_optim_env.engines.duckdb.cost.weights import Weights, packaged_weights

__all__ = ["CostModel", "OperatorCost"]

UNWEIGHTED_ROW: Final = 5.0
"""ns a row for operators without a module of their own, should the weights have none for them."""


@dataclass(frozen=True, slots=True)
class OperatorCost:
    """What one operator adds to the cost, for people and tests."""

    name: str
    depth: int
    rows: int
    cost: int
    """Integer nanoseconds."""
    terms: Mapping[str, float]
    """Feature → nanoseconds."""


@dataclass(frozen=True, slots=True)
class CostModel:
    """Turns a profile into work units (nanoseconds). Pure: the same profile, plan and card give the same integer on every machine."""

    weights: Weights

    @classmethod
    def load(cls) -> CostModel:
        """The model with the packaged weights."""
        return _packaged()

    @property
    def version(self) -> str:
        """Engine version and weights version; costs of different versions must not be compared."""
        return f"duckdb-{self.weights.engine_version}/weights-{self.weights.version}"

    def weight(self, feature: str) -> float:
        """ns for one unit of a feature. One that no weights know costs a little, never nothing."""
        known = self.weights.weights.get(feature)
        if known is not None:
            return known
        return UNWEIGHTED_ROW if feature.startswith("other.") else 0.0

    def cost(self, profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card) -> int:
        """Integer nanoseconds of one execution.

        ``profile`` is ``json.loads(con.get_profiling_information("json"))`` after the result was read to its end; ``plan`` is the parsed
        ``json_serialize_plan(sql, optimize := true)`` of the same connection (None when it cannot be serialised); ``card`` describes the
        database. A profile without operators (``{"result": "error"}``: answered from statistics or folded to constants) costs the constant
        alone. Heavy constant folding happens in planning, which no profile counts: the CPU guard and the statement's deadline bound it.
        """
        return self.cost_of_features(total_features(self.features(profile, plan, card)))

    def features(self, profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card) -> list[OperatorFeatures]:
        """What the operators of this execution did, in pre-order."""
        return operator_features(profile, plan, card, self.weights.prices)

    def cost_of_features(self, features: Mapping[str, float]) -> int:
        """Weighted sum in sorted order, rounded once, so that the bits do not depend on the order of operators or of a dictionary."""
        total = self.weights.constant_ns
        for key in sorted(features):
            total += self.weight(key) * features[key]
        return round(total)

    def breakdown(self, profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card) -> tuple[OperatorCost, ...]:
        """The cost by operator, in pre-order. The parts and the constant add up to the cost except for rounding."""
        return tuple(self._operator_cost(operator) for operator in self.features(profile, plan, card))

    def _operator_cost(self, operator: OperatorFeatures) -> OperatorCost:
        terms = {key: self.weight(key) * operator.features[key] for key in sorted(operator.features)}
        terms = {key: value for key, value in terms.items() if value}
        return OperatorCost(operator.name, operator.depth, int(operator.rows), round(sum(terms.values())), terms)


@lru_cache(maxsize=1)
def _packaged() -> CostModel:
    return CostModel(packaged_weights())
