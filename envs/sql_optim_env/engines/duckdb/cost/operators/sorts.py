"""Sorting: full sorts by n·log n and payload, top-N by insertions into its heap."""

from __future__ import annotations

import math
import re

from sql_optim_env.engines.duckdb.cost.expressions import parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import Value
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["sort", "strip_direction", "top_n"]

_DIRECTION = re.compile(r" (ASC|DESC)( NULLS (FIRST|LAST))?$")
LONG_SORT = 15
"""log2 of the rows beyond which a sort's payload no longer fits the caches."""


def strip_direction(printed: str) -> str:
    """``lower(status) DESC NULLS LAST`` without its direction."""
    return _DIRECTION.sub("", printed)


def _keys(bench: Workbench, prefix: str) -> list[Value]:
    columns = bench.columns
    evaluator = bench.evaluator(columns)
    if bench.logical is not None:
        keys = [evaluator.value(bench.bound(node)) for node in bench.logical.orders]
    else:
        keys = [evaluator.value(parse_expression(strip_direction(text))) for text in bench.info("Order By")]
    bench.charge(f"{prefix}.expressions", evaluator, bench.rows_in)
    return keys


def sort(bench: Workbench) -> Relation:
    """``sort.*``: rows, n·log n, payload bytes, string keys and their bytes."""
    features = bench.features
    rows = bench.rows_in
    logarithm = math.log2(max(rows, 2.0))
    width = bench.input(0).width
    keys = _keys(bench, "sort")
    features["sort.rows"] = rows
    # A sort that finds its input in order looks at every row once.
    in_order = keys[0].ascending and " DESC" not in bench.text("Order By") if keys else False
    features["sort.comparisons"] = rows * (1.0 if in_order else logarithm)
    features["sort.bytes"] = rows * width
    features["sort.values"] = rows * len(bench.columns)
    features["sort.extra_keys"] = rows * (len(keys) - 1)
    features["sort.misses"] = rows * width * max(0.0, logarithm - LONG_SORT)
    for key in keys:
        if key.kind != "string":
            continue
        if key.fresh < 0.5:
            features["sort.dictionary_keys"] += rows
        else:
            features["sort.string_keys"] += rows
            if key.length > 8:
                features["sort.long_string_comparisons"] += rows * logarithm
    return Relation(bench.input(0).flat(), bench.rows_out)


def top_n(bench: Workbench) -> Relation:
    """``top_n.*``: rows tested, and expected insertions ``k·(1 + ln(n/k))`` into a heap of k rows."""
    features = bench.features
    rows = bench.rows_in
    keys = _keys(bench, "top_n")
    kept = min(float(_number(bench.text("Top")) + _number(bench.text("Offset"))), rows)
    insertions = kept * (1.0 + math.log(max(rows / max(kept, 1.0), 1.0)))
    features["top_n.rows"] = rows
    features["top_n.extra_keys"] = rows * (len(keys) - 1)
    features["top_n.string_keys"] = rows * sum(key.kind == "string" and key.fresh >= 0.5 for key in keys)
    if keys and keys[0].ascending and " DESC" in bench.text("Order By"):
        # Every row is better than all before it.
        features["top_n.reversed_rows"] = rows
    features["top_n.insertions"] = insertions
    features["top_n.inserted_bytes"] = insertions * bench.input(0).width
    features["top_n.heap"] = insertions * math.log2(max(kept, 2.0))
    return Relation(bench.input(0).flat(), bench.rows_out)


def _number(text: str) -> int:
    match = re.search(r"\d+", text)
    return int(match.group()) if match else 0
