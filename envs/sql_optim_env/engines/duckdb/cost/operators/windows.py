"""Window functions by kind (ranking, value, aggregate, holistic), frame and ordering; the partitions' sort; streaming windows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sql_optim_env.engines.duckdb.cost.bound import bound_expression, function_name
from sql_optim_env.engines.duckdb.cost.expressions import Expr, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import UNKNOWN, Column, Value
from sql_optim_env.engines.duckdb.cost.operators.aggregates import ALIASES, priced_name
from sql_optim_env.engines.duckdb.cost.operators.sorts import strip_direction
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["WindowCall", "read_bound_window", "read_printed_window", "streaming_window", "window"]

RANKING: Final = frozenset({"row_number", "rank", "dense_rank", "rank_dense", "percent_rank", "cume_dist", "ntile", "count_star"})
PEER_RANKING: Final = RANKING - {"row_number", "count_star"}
VALUES: Final = frozenset({"lead", "lag", "first_value", "last_value", "nth_value", "first", "last", "any_value", "fill"})
HOLISTIC: Final = frozenset(
    ("median quantile quantile_cont quantile_disc mode mad list string_agg histogram entropy approx_quantile").split()
)
"""Aggregates that cannot be updated from one frame to the next and look at the whole frame again."""


@dataclass(frozen=True, slots=True)
class WindowCall:
    """One window function: its expressions, and which parts of an OVER clause it has. ``frame`` is '', ``rows`` or ``range``."""

    name: str
    arguments: tuple[Expr, ...]
    partitions: tuple[Expr, ...]
    orders: tuple[Expr, ...]
    frame: str
    distinct: bool

    @property
    def family(self) -> str:
        """``distinct``, ``rank``, ``value``, ``holistic`` or ``aggregate``."""
        if self.distinct:
            return "distinct"
        if self.name in RANKING:
            return "rank"
        if self.name in VALUES:
            return "value"
        return "holistic" if self.name in HOLISTIC else "aggregate"


def _split_list(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for position, character in enumerate(text):
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += (character in "([{") - (character in ")]}")
            if character == "," and depth == 0:
                parts.append(text[start:position])
                start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def read_printed_window(printed: str) -> WindowCall:
    """Take ``sum(x) OVER (PARTITION BY a ORDER BY b ASC NULLS LAST ROWS BETWEEN …)`` apart."""
    head, _, over = printed.rpartition(" OVER ")
    head = re.sub(r" FILTER \(.*$", "", head)
    call = parse_expression(head.replace("DISTINCT ", ""))
    body = over[over.find("(") + 1 : over.rfind(")")]
    frame_at = re.search(r"\b(ROWS|RANGE|GROUPS) (BETWEEN|UNBOUNDED|CURRENT|\d)", body)
    frame = "" if frame_at is None else ("rows" if frame_at.group(1) == "ROWS" else "range")
    body = body[: frame_at.start()] if frame_at else body
    partition_text, _, order_text = body.partition("ORDER BY ")
    partition_text = partition_text.removeprefix("PARTITION BY ")
    return WindowCall(
        ALIASES.get(call.name, call.name),
        call.args if call.op == "call" else (),
        tuple(parse_expression(part) for part in _split_list(partition_text)),
        tuple(parse_expression(strip_direction(part)) for part in _split_list(order_text)),
        frame,
        "(DISTINCT " in head,
    )


def read_bound_window(node: Mapping[str, Any]) -> WindowCall:
    """The same from the serialised plan."""
    name = function_name(node)
    if not (node.get("qname") or {}).get("path"):
        name = str(node.get("type", "")).removeprefix("WINDOW_").lower()
    start, end = str(node.get("start", "")), str(node.get("end", ""))
    default = start == "UNBOUNDED_PRECEDING" and end == "CURRENT_ROW_RANGE"
    frame = "" if default else ("range" if "RANGE" in start + end or "GROUPS" in start + end else "rows")
    return WindowCall(
        ALIASES.get(name, name),
        tuple(bound_expression(child) for child in node.get("children") or ()),
        tuple(bound_expression(child) for child in node.get("partitions") or ()),
        tuple(bound_expression(order["expression"]) for order in node.get("orders") or () if "expression" in order),
        frame,
        bool(node.get("distinct")),
    )


def _calls(bench: Workbench) -> list[WindowCall]:
    found: list[WindowCall] = []
    for printed in bench.info("Projections"):
        node = bench.take_window(printed)
        from_text = read_printed_window(printed)
        found.append(from_text if node is None else read_bound_window(node))
    return found


def streaming_window(bench: Workbench) -> Relation:
    """``window.streaming``: values computed row by row without a sort."""
    calls = _calls(bench)
    evaluator = bench.evaluator()
    for call in calls:
        for argument in call.arguments:
            evaluator.value(argument)
    bench.charge("window.expressions", evaluator, bench.rows_in)
    bench.features["window.streaming"] = bench.rows_in * len(calls)
    added = tuple(Column("", Value("integer")) for _ in calls)
    return Relation(bench.columns + added, bench.rows_out)


def window(bench: Workbench) -> Relation:
    """``window.*``: one sort for each distinct OVER clause, then each function by its family."""
    features = bench.features
    rows = bench.rows_in
    logarithm = math.log2(max(rows, 2.0))
    calls = _calls(bench)
    evaluator = bench.evaluator()
    added: list[Column] = []
    for call in calls:
        values = [evaluator.value(argument) for argument in call.arguments]
        keys = [evaluator.value(key) for key in (*call.partitions, *call.orders)]
        argument = values[0] if values else UNKNOWN
        _function(bench, call, values, rows, logarithm)
        features["window.string_keys"] += rows * sum(key.kind == "string" for key in keys)
        value = argument.flat() if call.family in ("value", "holistic") else Value("integer" if call.family == "rank" else "float")
        added.append(Column("", value))
    bench.charge("window.expressions", evaluator, rows)
    clauses = {(call.partitions, call.orders) for call in calls}
    if any(orders for _, orders in clauses):
        features["window.sort"] = rows * logarithm * len(clauses)
    if any(orders and not partitions for partitions, orders in clauses):
        features["window.global_sort"] = rows * logarithm * len(clauses)
    features["window.rows"] = rows
    features["window.bytes"] = rows * bench.input(0).width
    features["window.values"] = rows * len(bench.columns)
    return Relation(bench.input(0).flat() + tuple(added), bench.rows_out)


def _function(bench: Workbench, call: WindowCall, values: list[Value], rows: float, logarithm: float) -> None:
    features = bench.features
    argument = values[0] if values else UNKNOWN
    family, ordered, partitioned = call.family, bool(call.orders), bool(call.partitions)
    features[f"window.{family}"] += rows
    if call.name in PEER_RANKING:
        features["window.peers"] += rows
    if call.frame:
        features[f"window.{call.frame}_frame"] += rows
    price = bench.prices.aggregate(priced_name(call.name, values), argument) if family in ("aggregate", "holistic") else None
    if price is not None and family == "aggregate":
        features["window.aggregates"] += rows * price.ungrouped
        features["window.running"] += rows if ordered else 0.0
    if price is not None and family == "holistic":
        features["window.holistic_values"] += rows * price.grouped
        features["window.holistic_log"] += rows * logarithm if ordered else 0.0
        features["window.holistic_running"] += rows if ordered and not call.frame else 0.0
    if price is not None and call.frame:
        features[f"window.{family}_frame"] += rows
    if price is not None and not ordered:
        # Aggregates of a whole partition are computed once, except that count(*) is counted again for every row.
        counted = call.name in ("count", "count_star") and not call.arguments
        features["window.counted_rows" if counted else "window.constant"] += rows
    if family == "distinct":
        features["window.distinct_log" if ordered else "window.distinct_whole"] += rows * logarithm
    features["window.ordered"] += rows if ordered else 0.0
    features["window.partitioned"] += rows if partitioned and ordered else 0.0
    features["window.partition_only"] += rows if partitioned and not ordered else 0.0
