"""Joins: build and probe of hash joins, pairs of nested loops, sorts of merge joins."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sql_optim_env.engines.duckdb.cost.evaluation import Evaluator
from sql_optim_env.engines.duckdb.cost.expressions import parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import Column, Kind, Value
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["hash_join", "pair_join"]

SEMI_TYPES: Final = frozenset({"SEMI", "ANTI", "MARK", "RIGHT_SEMI", "RIGHT_ANTI"})
LARGEST_PERFECT_BUILD: Final = 300_000
"""Build rows up to which an inner join on one integer key may be a direct array lookup."""
CACHED_BUILD: Final = 13
"""log2 of the build rows that still fit the processor's caches; every doubling beyond costs."""

_EQUALITIES: Final = frozenset({"COMPARE_EQUAL", "COMPARE_NOT_DISTINCT_FROM"})
_PRINTED_INEQUALITY: Final = re.compile(r" (?:<|>|<=|>=|!=|<>|IS DISTINCT FROM) ")
_PAIR_FEATURE: Final[dict[str, str]] = {
    "NESTED_LOOP_JOIN": "nested_loop",
    "BLOCKWISE_NL_JOIN": "blockwise",
    "CROSS_PRODUCT": "cross_product",
    "PIECEWISE_MERGE_JOIN": "merge_join",
    "IE_JOIN": "interval_join",
    "ASOF_JOIN": "asof_join",
    "POSITIONAL_JOIN": "positional_join",
}


def _log2(value: float) -> float:
    return math.log2(max(value, 1.0))


def _output(bench: Workbench, join_type: str) -> tuple[Column, ...]:
    """Columns after the join, by the plan's projection maps where there is a plan."""
    left, right = bench.input(0).columns, bench.input(1).columns
    if bench.logical is not None:
        left = _mapped(left, bench.logical.node.get("left_projection_map"))
        right = _mapped(right, bench.logical.node.get("right_projection_map"))
    # Rows come out in the order of the first input.
    right = tuple(Column(column.name, column.value.unordered()) for column in right)
    if join_type in ("SEMI", "ANTI"):
        return left
    if join_type in ("RIGHT", "OUTER"):
        left = tuple(Column(column.name, column.value.unordered()) for column in left)
    if join_type in ("RIGHT_SEMI", "RIGHT_ANTI"):
        return right
    if join_type == "MARK":
        return (*left, Column("SUBQUERY", Value("integer")))
    return left + right


def _mapped(columns: tuple[Column, ...], positions: object) -> tuple[Column, ...]:
    if not isinstance(positions, list) or not positions:
        return columns
    return tuple(columns[i] for i in positions if isinstance(i, int) and i < len(columns))


@dataclass(frozen=True, slots=True)
class _Key:
    """Both sides of one condition."""

    left: Value
    right: Value
    equal: bool

    @property
    def kind(self) -> Kind:
        """The kind of the probe's side."""
        return self.left.kind


def _keys(bench: Workbench) -> tuple[Evaluator, Evaluator, list[_Key]]:
    """Evaluate both sides of every condition on their own side; returns the collectors and the conditions' values."""
    left, right = bench.evaluator(bench.input(0).columns), bench.evaluator(bench.input(1).columns)
    keys: list[_Key] = []
    if bench.logical is not None and bench.logical.conditions:
        for condition in bench.logical.conditions:
            if isinstance(condition.get("left"), Mapping) and isinstance(condition.get("right"), Mapping):
                sides = left.value(bench.bound(condition["left"])), right.value(bench.bound(condition["right"]))
                keys.append(_Key(*sides, condition.get("comparison") in _EQUALITIES))
        return left, right, keys
    for text in bench.info("Conditions"):
        condition_expr = parse_expression(text)
        parts = condition_expr.args if len(condition_expr.args) == 2 else (condition_expr, condition_expr)
        keys.append(_Key(left.value(parts[0]), right.value(parts[1]), _PRINTED_INEQUALITY.search(text) is None))
    return left, right, keys


def hash_join(bench: Workbench) -> Relation:
    """``hash_join.*``. The second input is built into a table, the first one probes it."""
    features = bench.features
    join_type = bench.text("Join Type")
    probe, build, rows_out = bench.input(0).rows, bench.input(1).rows, bench.rows_out
    left, right, keys = _keys(bench)
    bench.charge("hash_join.expressions", left, probe)
    bench.charge("hash_join.expressions", right, build)
    _charge_residual(bench, keys)
    strings = sum(key.kind == "string" for key in keys)
    # An array look-up takes one integer key with unique values and no other condition.
    unique = rows_out <= probe and "hash_join.matched_pairs" not in features
    direct = join_type == "INNER" and len(keys) == 1 and strings == 0 and unique and build < LARGEST_PERFECT_BUILD
    prefix = "direct_join" if direct else "hash_join"
    width = bench.input(1).width
    features[f"{prefix}.build_rows"] = build
    features[f"{prefix}.build_bytes"] = build * width
    features[f"{prefix}.probe_rows"] = probe
    features[f"{prefix}.probe_misses"] = probe * max(0.0, _log2(build) - CACHED_BUILD)
    features["hash_join.extra_keys"] = (probe + build) * max(len(keys) - 1, 0)
    features["hash_join.probe_strings"] = probe * strings
    features["hash_join.build_strings"] = build * strings
    if join_type in SEMI_TYPES:
        features["hash_join.semi_probe_rows"] = probe
        features["hash_join.right_semi_rows"] = build if join_type.startswith("RIGHT") else 0.0
    else:
        # A direct look-up hands on positions in the build side instead of copying its columns.
        features[f"{prefix}.output_rows"] = rows_out
        features[f"{prefix}.output_bytes"] = rows_out * width
    features["hash_join.output_values"] = rows_out * len(bench.input(0).columns)
    if join_type in ("LEFT", "SINGLE", "OUTER"):
        features["hash_join.outer_rows"] += probe
    if join_type in ("RIGHT", "OUTER"):
        features["hash_join.outer_rows"] += build
    features["hash_join.fan_out"] = rows_out * _log2(rows_out / probe) if probe and rows_out > probe else 0.0
    return Relation(_output(bench, join_type), rows_out)


def _charge_residual(bench: Workbench, keys: Sequence[_Key]) -> None:
    """``hash_join.matched_pairs``: a predicate over both sides, or a comparison other than equality, is evaluated on every pair that the
    equalities match, before it filters; no row count of the profile shows how many those are."""
    residual: list[Mapping[str, Any]] = []
    if bench.logical is not None:
        one_sided = (c for c in bench.logical.conditions if not isinstance(c.get("right"), Mapping))
        residual = [c["left"] for c in one_sided if isinstance(c.get("left"), Mapping)]
    compared = [key for key in keys if not key.equal]
    if not residual and not compared:
        return
    pairs = _matched_pairs(bench, [key for key in keys if key.equal])
    bench.features["hash_join.matched_pairs"] = pairs
    evaluator = bench.evaluator(tuple(Column(column.name, column.value.flat()) for column in bench.columns))
    for condition in residual:
        evaluator.value(bench.bound(condition))
    bench.charge("hash_join.expressions", evaluator, pairs)


def _matched_pairs(bench: Workbench, keys: Sequence[_Key]) -> float:
    """Pairs that the equalities match, at least the rows that came out.

    Were both sides spread evenly over the key's values, ``probe * build / distinct``; where both are skewed, values that are frequent on
    one side are taken to be as frequent on the other (exact when a table meets itself, and when one side has every value once).
    """
    probe, build = bench.input(0).rows, bench.input(1).rows
    estimates = [
        probe * build / min(distinct, max(probe, build)) * min(key.left.skew, key.right.skew)
        for key in keys
        if (distinct := max(key.left.distinct, key.right.distinct)) and probe and build
    ]
    return max(bench.rows_out, min(estimates, default=probe))


def pair_join(bench: Workbench) -> Relation:
    """Joins without a hash table: ``nested_loop.pairs`` and kin are the product of both inputs, which no row count of the profile shows."""
    features = bench.features
    prefix = _PAIR_FEATURE.get(bench.name, "nested_loop")
    left, right = max(bench.input(0).rows, 1.0), max(bench.input(1).rows, 1.0)
    rows_out = bench.rows_out
    conditions = bench.info("Conditions") or bench.info("Condition")
    features[f"{prefix}.input_rows"] = left + right
    features[f"{prefix}.output_rows"] = rows_out
    if prefix in ("nested_loop", "blockwise"):
        features[f"{prefix}.pairs"] = left * right
        _charge_pairs(bench, prefix, conditions, left * right)
    elif prefix == "cross_product":
        features["cross_product.output_bytes"] = rows_out * Relation(bench.columns).width
    else:
        features[f"{prefix}.sort"] = left * _log2(left) + right * _log2(right)
        left_keys, right_keys, _ = _keys(bench)
        bench.charge(f"{prefix}.expressions", left_keys, left)
        bench.charge(f"{prefix}.expressions", right_keys, right)
        if prefix == "interval_join" or (prefix == "merge_join" and len(conditions) > 1):
            features[f"{prefix}.pairs"] = left * right
    return Relation(_output(bench, bench.text("Join Type")), rows_out)


def _charge_pairs(bench: Workbench, prefix: str, conditions: list[str], pairs: float) -> None:
    """A nested loop evaluates its condition on every pair; pairs never share a dictionary."""
    columns = tuple(Column(column.name, column.value.flat()) for column in bench.columns)
    evaluator = bench.evaluator(columns)
    condition = bench.logical.node.get("condition") if bench.logical is not None else None
    if isinstance(condition, Mapping):
        evaluator.value(bench.bound(condition))
    elif bench.logical is not None and bench.logical.conditions:
        left, right, keys = _keys(bench)
        bench.charge(f"{prefix}.key_expressions", left, bench.input(0).rows)
        bench.charge(f"{prefix}.key_expressions", right, bench.input(1).rows)
        for key in keys:
            pairs_ns = bench.prices.function("compare", key.kind, key.left.length)
            bench.features[f"{prefix}.expressions"] += pairs_ns * pairs
        return
    else:
        for text in conditions:
            evaluator.value(parse_expression(text))
    bench.charge(f"{prefix}.expressions", evaluator, pairs)
