"""Turn a fit into a weights file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import duckdb

from sql_optim_env.engines.duckdb.cost.calibration.dataset import CONSTANT_FEATURE, Dataset, Vector
from sql_optim_env.engines.duckdb.cost.prices import Prices
from sql_optim_env.engines.duckdb.cost.weights import Weights

__all__ = ["RARE_WEIGHTS", "assemble"]

LEAST_SUPPORT: Final = 5
"""Queries a feature needs before it gets a weight of its own."""
RARE_WEIGHTS: Final = {
    "hash_join.expressions": 1.0,
    "unnest.expressions": 1.0,
    "window.expressions": 1.0,
    "sort.expressions": 1.0,
    "top_n.expressions": 1.0,
    "nested_loop.key_expressions": 1.0,
    "nested_loop.expressions": 1.0,
    "blockwise.expressions": 1.0,
    "merge_join.expressions": 1.0,
    "interval_join.expressions": 1.0,
    "asof_join.expressions": 1.0,
    "projection.expressions": 1.0,
    "filter.expressions": 1.0,
    "scan.filter_expressions": 1.0,
    "lateral_unnest.rows": 500.0,
    "lateral_unnest.elements": 20.0,
    "lateral_unnest.parent_rows": 80.0,
    "unnest.rows": 40.0,
    "range.rows": 2.0,
    "scan.list_rows": 5.0,
    "scan.huge_rows": 1.0,
    "scan.float_rows": 0.7,
    "index_scan.values": 550.0,
    "index_scan.text_values": 4000.0,
    "window.counted_rows": 40.0,
    "window.distinct": 400.0,
    "window.streaming": 5.0,
    "asof_join.input_rows": 120.0,
    "interval_join.input_rows": 500.0,
    "merge_join.input_rows": 500.0,
    "merge_join.pairs": 0.5,
    "interval_join.pairs": 0.1,
    "blockwise.pairs": 0.5,
    "nested_loop.pairs": 0.5,
    "positional_join.input_rows": 5.0,
    "recursion.rows": 100.0,
    "recursion.operators": 30_000.0,
    "top_n.reversed_rows": 60.0,
    "hash_join.matched_pairs": 4.0,
    "other.input_rows": 5.0,
    "other.output_rows": 5.0,
}
"""Weights for work that the corpus hardly shows, so that it is never free: measured prices count at 1, rows at a guess on the dear side."""


def assemble(version: str, prices: Prices, data: Dataset, weights: Vector, fit: Mapping[str, Any]) -> Weights:
    """Round a fit into a weights file. Features with too little support keep their weight only if they are part of it by design."""
    support = (data.queries != 0).sum(axis=0)
    table = {
        name: float(f"{weight:.4g}")
        for name, weight, count in zip(data.names, weights, support, strict=True)
        if weight > 0 and name != CONSTANT_FEATURE and count >= LEAST_SUPPORT
    }
    supported = {name for name, count in zip(data.names, support, strict=True) if count >= LEAST_SUPPORT}
    table.update({name: weight for name, weight in RARE_WEIGHTS.items() if name not in supported})
    constant = float(round(weights[data.names.index(CONSTANT_FEATURE)], 1))
    return Weights(version, duckdb.__version__, constant, table, prices, fit)
