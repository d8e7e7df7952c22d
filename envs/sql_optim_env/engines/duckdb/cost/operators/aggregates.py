"""Aggregation: rows in, groups out, keys by kind, and the aggregates at their measured prices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from sql_optim_env.engines.duckdb.cost.expressions import Expr, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import UNKNOWN, Column, Kind, Value
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["ALIASES", "PrintedAggregate", "aggregation", "priced_name", "read_aggregate"]

FILTERED_ROWS: Final = 0.5
"""Fraction of rows assumed to pass an aggregate's FILTER; the profile does not count them."""
CACHED_GROUPS: Final = 12
"""log2 of the groups whose states still fit the processor's caches."""

COLLECTING: Final = frozenset(
    "list string_agg median quantile_cont quantile_disc mode mad histogram entropy approx_quantile approx_top_k".split()
)
"""Aggregates whose state grows with the rows of the group."""
CACHED_LISTS: Final = 8
"""log2 of the groups whose growing states still fit the caches."""

_ORDERED: Final[dict[str, int]] = {"list": 1, "first": 1, "last": 1, "any_value": 1, "string_agg": 2}
"""Aggregates whose printed form carries the sort key as one more argument than they take."""
ALIASES: Final = {
    "arbitrary": "first", "argmax": "arg_max", "argmin": "arg_min", "array_agg": "list", "countif": "count_if",
    "group_concat": "string_agg", "listagg": "string_agg", "mean": "avg", "quantile": "quantile_disc", "sumkahan": "kahan_sum",
}  # fmt: skip
"""Other names of aggregates that the engine prints as they were written."""
_CALL = re.compile(r'"?([A-Za-z_0-9]+)"?\(')


@dataclass(frozen=True, slots=True)
class PrintedAggregate:
    """An aggregate as the profile prints it. ``name`` has the suffixes of the price table: ``!distinct``, ``!ordered``."""

    name: str
    arguments: tuple[Expr, ...]
    filtered: bool


def read_aggregate(printed: str) -> PrintedAggregate:
    """Take ``count(DISTINCT #1) FILTER (WHERE #2)`` apart."""
    match = _CALL.match(printed)
    name = match.group(1) if match else printed.strip()
    name = ALIASES.get(name, name)
    filtered = " FILTER (" in printed or "Filter:" in printed
    head = re.split(r" FILTER \(| Filter:| EXPORT_STATE", printed)[0]
    ordered = " ORDER BY " in head
    head = head.replace("DISTINCT ", "").partition(" ORDER BY ")[0] + (")" if ordered else "")
    parsed = parse_expression(head)
    arguments = parsed.args if parsed.op == "call" else ()
    if ordered or len(arguments) > _ORDERED.get(name, 99):
        name += "!ordered"
    elif "(DISTINCT " in printed:
        name += "!distinct"
    return PrintedAggregate(name, arguments, filtered)


def priced_name(name: str, values: list[Value]) -> str:
    """The name in the price table: ``arg_max(decimal)`` for aggregates whose second argument decides what a row costs."""
    return f"{name}({values[1].kind})" if name.startswith(("arg_m", "argm")) and len(values) > 1 else name


def result_value(name: str, argument: Value, rows_per_group: float) -> Value:
    """What an aggregate returns."""
    base = name.partition("!")[0].partition("(")[0]
    if base in ("count_star", "count", "approx_count_distinct", "count_if"):
        return Value("integer")
    if base in ("list", "histogram", "approx_top_k"):
        return Value("list", rows_per_group)
    if base == "string_agg":
        return Value("string", argument.length * rows_per_group)
    if base in ("sum", "sum_no_overflow"):
        return Value("huge" if argument.kind in ("integer", "decimal", "huge") else "float")
    if base in ("min", "max", "first", "last", "any_value", "mode", "arg_max", "arg_min", "median", "quantile_disc"):
        return argument.flat()
    return Value("float")


def aggregation(bench: Workbench) -> Relation:
    """``group.*`` (hash table), ``perfect_group.*`` (array of groups), ``ungrouped.*``."""
    features = bench.features
    columns = bench.columns
    rows, groups_out = bench.rows_in, bench.rows_out
    prefix = {"HASH_GROUP_BY": "group", "PERFECT_HASH_GROUP_BY": "perfect_group"}.get(bench.name, "ungrouped")
    keys = [bench.evaluator(columns).value(parse_expression(text)) for text in bench.info("Groups")]
    outputs = [key.flat() for key in keys]
    for text in bench.info("Aggregates"):
        aggregate = read_aggregate(text)
        values = [bench.evaluator(columns).value(argument) for argument in aggregate.arguments]
        argument = values[0] if values else UNKNOWN
        price = bench.prices.aggregate(priced_name(aggregate.name, values), argument)
        passing = FILTERED_ROWS if aggregate.filtered else 1.0
        if prefix == "ungrouped":
            features["ungrouped.aggregates"] += rows * price.ungrouped * passing
        else:
            features[f"{prefix}.aggregates"] += rows * price.grouped * passing
            features[f"{prefix}.states"] += min(groups_out, rows) * price.per_group
            if aggregate.name.partition("!")[0].partition("(")[0] in COLLECTING:
                features[f"{prefix}.collected_misses"] += rows * passing * max(0.0, math.log2(max(groups_out, 1.0)) - CACHED_LISTS)
        if aggregate.filtered:
            features[f"{prefix}.filtered_rows"] += rows
        outputs.append(result_value(aggregate.name, argument, rows / max(groups_out, 1.0)))
    features[f"{prefix}.rows"] = rows
    if prefix != "ungrouped":
        _keys(bench, prefix, keys, rows, groups_out, len(outputs) - len(keys))
    result = tuple(Column("", value) for value in outputs)
    return Relation(result, groups_out)


def _keys(bench: Workbench, prefix: str, keys: list[Value], rows: float, groups: float, aggregates: int) -> None:
    features = bench.features
    features[f"{prefix}.groups"] = groups
    features[f"{prefix}.group_values"] = groups * aggregates
    features[f"{prefix}.extra_keys"] = rows * max(len(keys) - 1, 0)
    for key in keys:
        kind: Kind = key.kind
        if kind == "string" and key.fresh > 0.5:
            features[f"{prefix}.string_keys"] += rows
            features[f"{prefix}.string_key_bytes"] += rows * key.length
        elif kind == "string":
            features[f"{prefix}.dictionary_keys"] += rows
        elif kind == "huge":
            features[f"{prefix}.huge_keys"] += rows
    features[f"{prefix}.misses"] = rows * max(0.0, math.log2(max(groups, 1.0)) - CACHED_GROUPS)
    features[f"{prefix}.growth"] = groups * math.log2(max(groups, 2.0))
    features[f"{prefix}.group_bytes"] = groups * Relation(tuple(Column("", key) for key in keys)).width
