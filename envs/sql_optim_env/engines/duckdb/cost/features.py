"""Walk an executed plan and describe every operator by features whose weighted sum is the query's cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.operators import aggregates, joins, plumbing, rowwise, scans, sorts, windows
from sql_optim_env.engines.duckdb.cost.plan import AGGREGATES, JOINS, Json, LogicalOperator, match_plans
from sql_optim_env.engines.duckdb.cost.prices import Prices
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench, operator_rows

__all__ = ["OperatorFeatures", "operator_features", "total_features"]

_HANDLERS: Final[dict[str, Callable[[Workbench], Relation]]] = {
    "SEQ_SCAN": scans.table_scan,
    "TABLE_SCAN": scans.table_scan,
    "INDEX_SCAN": scans.table_scan,
    "RANGE": scans.generated_rows,
    "GENERATE_SERIES": scans.generated_rows,
    "PROJECTION": rowwise.projection,
    "FILTER": rowwise.filter_rows,
    "UNNEST": rowwise.unnest,
    "INOUT_FUNCTION": rowwise.in_out_function,
    **dict.fromkeys(JOINS, joins.pair_join),
    "HASH_JOIN": joins.hash_join,
    **dict.fromkeys(AGGREGATES, aggregates.aggregation),
    "ORDER_BY": sorts.sort,
    "TOP_N": sorts.top_n,
    "WINDOW": windows.window,
    "STREAMING_WINDOW": windows.streaming_window,
    "RESULT_COLLECTOR": plumbing.result,
    "CTE": plumbing.common_table,
    "REC_CTE": plumbing.recursive_table,
    "RECURSIVE_CTE": plumbing.recursive_table,
    "UNION": plumbing.union,
    "LIMIT": plumbing.limit,
    "STREAMING_LIMIT": plumbing.limit,
    "LIMIT_PERCENT": plumbing.limit,
}
_READERS: Final = frozenset({"CTE_SCAN", "REC_CTE_SCAN", "COLUMN_DATA_SCAN", "DELIM_SCAN"})
_DEFINERS: Final = frozenset({"CTE", "REC_CTE", "RECURSIVE_CTE"})


@dataclass(frozen=True, slots=True)
class OperatorFeatures:
    """One operator of the executed plan, in pre-order."""

    name: str
    depth: int
    rows: float
    features: dict[str, float]


@dataclass(slots=True)
class _Walker:
    prices: Prices
    card: Card
    pairs: dict[int, LogicalOperator]
    take_window: Callable[[str], Json | None]
    tables: dict[str, Relation] = field(default_factory=dict)
    """CTE index → columns of its definition."""
    operators: list[OperatorFeatures] = field(default_factory=list)

    def visit(self, node: Json, depth: int = 0, parent: LogicalOperator | None = None, recursive: bool = False) -> Relation:
        name = str(node.get("name", ""))
        children = list(node.get("children") or ())
        position = len(self.operators)
        self.operators.append(OperatorFeatures(name, depth, 0.0, {}))
        logical = self.pairs.get(id(node))
        passed_on = logical if name in AGGREGATES else None
        inputs: list[Relation] = []
        for index, child in enumerate(children):
            inputs.append(self.visit(child, depth + 1, passed_on, recursive or (index > 0 and name in _DEFINERS - {"CTE"})))
            if index == 0 and name in _DEFINERS:
                self.tables[str((node.get("extra_info") or {}).get("Table Index", ""))] = inputs[0]
        if name in _READERS:
            inputs = [self.tables.get(str((node.get("extra_info") or {}).get("CTE Index", "")), Relation())]
        bench = Workbench(
            node=node,
            inputs=inputs,
            logical=logical,
            parent_logical=parent if logical is None else None,
            prices=self.prices,
            card=self.card,
            take_window=self.take_window,
        )
        handler = plumbing.cte_scan if name in _READERS else _HANDLERS.get(name, plumbing.other)
        relation = handler(bench)
        bench.features["operator.count"] = 1.0
        if recursive:
            bench.features["recursion.operators"] = 1.0
        if any(child.get("name") == "INOUT_FUNCTION" for child in children):
            # What stands above an unnest in FROM is called with tiny chunks, once for each of the unnest's input rows.
            bench.features["lateral_unnest.parent_rows"] = bench.rows_in
        features = {key: bench.features[key] for key in sorted(bench.features) if bench.features[key]}
        self.operators[position] = OperatorFeatures(name, depth, operator_rows(node), features)
        return relation


def operator_features(profile: Json, plan: Json | None, card: Card, prices: Prices) -> list[OperatorFeatures]:
    """Describe every operator of a profile, in pre-order.

    ``profile`` is the engine's profiling JSON of one execution, ``plan`` the ``json_serialize_plan`` of the same statement on the same
    connection settings, or None when it cannot be serialised. A profile without operators gives an empty list.
    """
    roots = list(profile.get("operator") or ())
    pairs, take_window = match_plans(roots, plan)
    walker = _Walker(prices, card, pairs, take_window)
    for root in roots:
        relation = walker.visit(root)
        if str(root.get("name")) != "RESULT_COLLECTOR":
            bench = Workbench({"name": "RESULT_COLLECTOR"}, [relation], None, None, prices, card, take_window)
            plumbing.result(bench)
            walker.operators.append(OperatorFeatures("RESULT_COLLECTOR", 0, relation.rows, dict(bench.features)))
    return walker.operators


def total_features(operators: list[OperatorFeatures]) -> dict[str, float]:
    """Sum the features of all operators, in the operators' order, so that the same plan gives the same bits."""
    total: dict[str, float] = defaultdict(float)
    for operator in operators:
        for key, value in operator.features.items():
            total[key] += value
    return {key: total[key] for key in sorted(total)}
