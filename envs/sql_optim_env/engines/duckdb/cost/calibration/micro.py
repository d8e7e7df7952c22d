"""Run the micro-benchmarks and solve them for prices: ns a row and ns a byte or element, for every function and kind of argument."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from scipy.optimize import nnls

from sql_optim_env.engines.duckdb.cost.bound import bound_expression
from sql_optim_env.engines.duckdb.cost.calibration.coverage import alias_groups, share_among_aliases
from sql_optim_env.engines.duckdb.cost.calibration.measure import connect, profile_of, serialized_plan
from sql_optim_env.engines.duckdb.cost.calibration.micro_suite import (
    AGGREGATE_COLUMNS,
    AGGREGATE_TEMPLATES,
    CREATE_MICRO,
    LONG_LISTS,
    MICRO_ROWS,
    SCALAR_TEMPLATES,
    instances,
)
from sql_optim_env.engines.duckdb.cost.evaluation import Charge, Evaluator
from sql_optim_env.engines.duckdb.cost.expressions import Expr
from sql_optim_env.engines.duckdb.cost.kinds import Column, Kind, Value, kind_of
from sql_optim_env.engines.duckdb.cost.operators.aggregates import priced_name, read_aggregate
from sql_optim_env.engines.duckdb.cost.plan import AGGREGATES, texts
from sql_optim_env.engines.duckdb.cost.prices import Prices, price_key

__all__ = ["benchmark_prices"]

LEAST_NS: Final = 0.05
"""No function is free: below the clock's resolution a price is this many ns a row."""
LONG_LIST_SHARE: Final = 0.6
DICTIONARY_SHARE: Final = 0.5
"""A function that still costs this share of its flat price on a dictionary column is evaluated for every row."""

_COMPUTING = frozenset({"PROJECTION", "UNNEST"})
Progress = Callable[[str], None]


@dataclass(slots=True)
class _Sample:
    """One benchmark query: its bound expressions, what they return, and the best time so far."""

    sql: str
    expressions: tuple[Expr, ...] = ()
    columns: tuple[Column, ...] = ()
    result: Value | None = None
    nanoseconds: float = float("inf")
    aggregate: str = ""
    kind: Kind = "integer"
    length: float = 0.0
    mode: str = ""
    charges: list[Charge] = field(default_factory=list)


def _operator_times(profile: Mapping[str, Any], names: Iterable[str]) -> float:
    wanted = frozenset(names)
    total = 0.0
    stack = list(profile.get("operator") or ())
    while stack:
        node = stack.pop()
        if node.get("name") in wanted:
            total += float(node.get("timing", 0.0))
        stack += node.get("children") or ()
    return total * 1e9


def _scan_columns(profile: Mapping[str, Any], lengths: Mapping[str, Value]) -> tuple[Column, ...]:
    stack = list(profile.get("operator") or ())
    while stack:
        node = stack.pop()
        if str(node.get("name", "")).endswith("SCAN"):
            names = texts((node.get("extra_info") or {}).get("Projections"))
            return tuple(Column(name, lengths.get(name, Value("integer"))) for name in names)
        stack += node.get("children") or ()
    return ()


def _bound_expressions(plan: Mapping[str, Any] | None) -> tuple[Expr, ...]:
    """All expressions of the plan's projections and unnests, as if they read the scan (there is nothing else between)."""
    found: list[Expr] = []

    def visit(node: Mapping[str, Any]) -> None:
        for child in node.get("children") or ():
            visit(child)
        if node.get("type") == "LOGICAL_PROJECTION":
            found.extend(bound_expression(item) for item in node.get("expressions") or ())
        if node.get("type") == "LOGICAL_UNNEST":
            found.extend(bound_expression(item["child"]) for item in node.get("expressions") or () if "child" in item)

    for root in (plan or {}).get("plans") or ():
        visit(root)
    return tuple(expr for expr in found if expr.op not in ("slot", "column", "literal"))


def _run(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    con.sql(sql).to_arrow_reader(MICRO_ROWS).read_all()
    return profile_of(con)


def _column_values(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, type_name, *_ in con.execute(f"DESCRIBE {table}").fetchall():
        kind = kind_of(type_name)
        length = 2.0 if kind == "list" else 0.0
        if kind == "string" or type_name.endswith("[]"):
            size = f"strlen({name}::VARCHAR)" if kind == "string" else f"len({name})"
            length = float(con.execute(f"SELECT avg({size}) FROM {table}").fetchall()[0][0])
        values[name] = Value(kind, length)
    return values


def _result_value(con: duckdb.DuckDBPyConnection, expression: str) -> Value | None:
    if expression.startswith("unnest"):
        return None
    type_name = str(con.execute(f"SELECT typeof({expression}) FROM micro LIMIT 1").fetchall()[0][0])
    kind = kind_of(type_name)
    length = 0.0
    if kind == "string" and type_name == "VARCHAR":
        length = float(con.execute(f"SELECT coalesce(avg(strlen({expression})), 0) FROM micro").fetchall()[0][0])
    elif type_name.endswith("[]"):
        length = float(con.execute(f"SELECT coalesce(avg(len({expression})), 0) FROM micro").fetchall()[0][0])
    return Value(kind, length)


def _prepare_scalars(con: duckdb.DuckDBPyConnection, lengths: Mapping[str, Value]) -> list[_Sample]:
    samples: list[_Sample] = []
    for template in SCALAR_TEMPLATES:
        for expression in instances(template):
            sql = f"SELECT {expression} AS x FROM micro"
            try:
                profile = _run(con, sql)
                result = _result_value(con, expression)
            except duckdb.Error:
                continue  # not every function takes every column of a kind
            expressions = _bound_expressions(serialized_plan(con, sql))
            if expressions:
                samples.append(_Sample(sql, expressions, _scan_columns(profile, lengths), result))
    return samples


def _prepare_aggregates(con: duckdb.DuckDBPyConnection, lengths: Mapping[str, Value]) -> list[_Sample]:
    samples: list[_Sample] = []
    keys = {"ungrouped": "", "few_groups": "i", "many_groups": "u"}
    for template in AGGREGATE_TEMPLATES:
        for column in AGGREGATE_COLUMNS:
            for mode, key in keys.items():
                aggregate = template.replace("{x}", column)
                sql = f"SELECT {key}, {aggregate} AS x FROM micro GROUP BY {key}" if key else f"SELECT {aggregate} AS x FROM micro"
                try:
                    printed = _aggregate_names(_run(con, sql))
                except duckdb.Error:
                    continue
                names = [name for name in printed if name != "count_star"]
                if len(names) != 1:
                    continue
                arguments = [lengths[word] for word in re.findall(r"\w+", aggregate.partition("(")[2]) if word in lengths]
                name = priced_name(names[0], arguments)
                samples.append(_Sample(sql, aggregate=name, kind=arguments[0].kind, length=arguments[0].length, mode=mode))
    for mode, key in keys.items():
        sql = f"SELECT {key}, count(*) AS x FROM micro GROUP BY {key}" if key else "SELECT count(*) AS x FROM micro WHERE i >= 0"
        samples.append(_Sample(sql, aggregate="count_star", mode=mode))
    return samples


def _aggregate_names(profile: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    stack = list(profile.get("operator") or ())
    while stack:
        node = stack.pop()
        if node.get("name") in AGGREGATES:
            found += [read_aggregate(text).name for text in texts((node.get("extra_info") or {}).get("Aggregates"))]
        stack += node.get("children") or ()
    return found


def _time_all(con: duckdb.DuckDBPyConnection, samples: list[_Sample], names: Iterable[str], passes: int) -> None:
    wanted = frozenset(names)
    for _ in range(passes):
        for sample in samples:
            elapsed = _operator_times(_run(con, sample.sql), wanted) / MICRO_ROWS
            sample.nanoseconds = min(sample.nanoseconds, elapsed)


def _empty_prices(returns: Mapping[str, tuple[Kind, float, float]]) -> Prices:
    return Prices.of({}, returns, frozenset(), {})


def _collect(samples: list[_Sample], prices: Prices) -> None:
    for sample in samples:
        evaluator = Evaluator(sample.columns, prices)
        for expression in sample.expressions:
            evaluator.value(expression)
        sample.charges = evaluator.charges


def _solve_returns(samples: list[_Sample]) -> dict[str, tuple[Kind, float, float]]:
    """Kind and length of what each function returns, from queries whose outermost function is known."""
    seen: dict[str, list[tuple[Kind, float, float]]] = defaultdict(list)
    for sample in samples:
        if sample.result is None or not sample.charges or sample.expressions[-1].op not in ("call", "case"):
            continue
        last = sample.charges[-1]
        seen[price_key(last.function, last.kind)].append((sample.result.kind, sample.result.length, last.length))
    solved: dict[str, tuple[Kind, float, float]] = {}
    for key, observations in sorted(seen.items()):
        kind = observations[-1][0]
        lengths = np.array([[1.0, given] for k, _, given in observations if k == kind])
        wanted = np.array([length for k, length, _ in observations if k == kind])
        if kind in ("string", "list") and wanted.any():
            (base, factor), _ = nnls(lengths, wanted)
            solved[key] = (kind, round(float(base), 3), round(float(factor), 4))
        else:
            solved[key] = (kind, 0.0, 0.0)
    return solved


def _solve_functions(samples: list[_Sample]) -> dict[str, tuple[float, float]]:
    """Sparse non-negative least squares: time of a query = sum over its calls of (a + b x length), relative errors weighted alike."""
    keys = sorted({price_key(charge.function, charge.kind) for sample in samples for charge in sample.charges})
    position = {key: index for index, key in enumerate(keys)}
    count = len(keys)
    matrix = np.zeros((len(samples) + 2 * count, 2 * count))
    wanted = np.zeros(len(samples) + 2 * count)
    for row, sample in enumerate(samples):
        elapsed = max(sample.nanoseconds, 0.1)
        for charge in sample.charges:
            column = 2 * position[price_key(charge.function, charge.kind)]
            matrix[row, column] += charge.times
            matrix[row, column + 1] += charge.times * charge.length
        matrix[row] /= elapsed**0.8
        wanted[row] = elapsed**0.2
    matrix[len(samples) :, :] = np.eye(2 * count) * 1e-4
    solution, _ = nnls(matrix, wanted, maxiter=40 * count)
    return {
        key: (round(max(float(solution[2 * index]), LEAST_NS), 3), round(float(solution[2 * index + 1]), 4))
        for key, index in position.items()
    }


def _heed_long_lists(functions: dict[str, tuple[float, float]], samples: Iterable[_Sample]) -> None:
    """Hash tables and sorts take longer an element the longer the list. One price an element cannot be right for both, so it lies between:
    at least ``LONG_LIST_SHARE`` of what the long lists took."""
    for sample in samples:
        if LONG_LISTS in sample.sql and len(sample.charges) == 1:
            (charge,) = sample.charges
            key = price_key(charge.function, charge.kind)
            row, unit = functions[key]
            functions[key] = (row, max(unit, round(LONG_LIST_SHARE * (sample.nanoseconds - row) / charge.length, 4)))


def _solve_aggregates(samples: list[_Sample]) -> dict[str, dict[str, tuple[float, float]]]:
    base = {sample.mode: sample.nanoseconds for sample in samples if sample.aggregate == "count_star"}
    seen: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for sample in samples:
        cost = sample.nanoseconds - (base[sample.mode] if sample.mode != "ungrouped" else 0.0)
        length = sample.length if sample.kind == "string" else 0.0
        if sample.aggregate != "count_star":
            seen[price_key(sample.aggregate, sample.kind), sample.mode].append((length, max(cost, 0.3)))
    solved: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for (key, mode), observations in sorted(seen.items()):
        wanted = np.array([cost for _, cost in observations])
        matrix = np.array([[1.0, length] for length, _ in observations]) / wanted[:, None]
        (row, unit), _ = nnls(matrix, np.ones(len(wanted)))
        solved[key][mode] = (round(float(row), 3), round(float(unit), 4))
    for key, modes in AGGREGATE_ESTIMATES.items():
        solved.setdefault(key, dict(modes))
    for key in [key for key in solved if key.startswith("sum_no_overflow|")]:
        # The optimizer takes the checked sum only for wider columns than the benchmark has; the work is the same.
        plain = key.replace("sum_no_overflow", "sum")
        solved[plain] = {**solved[key], **solved.get(plain, {})}
    return dict(solved)


def _without_dictionary(path: Path, prices: Prices, passes: int) -> frozenset[str]:
    """Functions that cost about as much on a dictionary-encoded column as on a flat one. ``path`` is the synthetic database."""
    con = connect(path)
    rows = int(con.execute("SELECT count(*) FROM facts").fetchall()[0][0])
    found: set[str] = set()
    for template in SCALAR_TEMPLATES:
        if "{s}" not in template:
            continue
        expression = template.replace("{s}", "low").replace("{{", "{").replace("}}", "}")
        sql = f"SELECT {expression} AS x FROM facts"
        try:
            elapsed = min(_operator_times(_run(con, sql), _COMPUTING) for _ in range(passes)) / rows
        except duckdb.Error:
            continue
        evaluator = Evaluator((Column("low", Value("string", 2.5)),), prices)
        for bound in _bound_expressions(serialized_plan(con, sql)):
            evaluator.value(bound)
        if len(evaluator.charges) != 1:
            continue
        flat = evaluator.nanoseconds()
        if flat > 4.0 and elapsed > DICTIONARY_SHARE * flat:
            found.add(evaluator.charges[0].function)
    con.close()
    return frozenset(found)


def benchmark_prices(synthetic: Path, passes: int, progress: Progress | None = None) -> Prices:
    """Measure every template ``passes`` times and solve for the price tables."""
    con = connect(":memory:", read_only=False)
    con.execute(CREATE_MICRO)
    con.execute("ALTER TABLE micro ADD COLUMN u BIGINT")
    con.execute("UPDATE micro SET u = rowid * 1000003")
    lengths = _column_values(con, "micro")
    scalars = _prepare_scalars(con, lengths)
    aggregates = _prepare_aggregates(con, lengths)
    if progress is not None:
        progress(f"micro-benchmarks: {len(scalars)} scalar, {len(aggregates)} aggregate queries")
    _time_all(con, scalars, _COMPUTING, passes)
    _time_all(con, aggregates, AGGREGATES, passes)
    groups = alias_groups(con)
    con.close()
    _collect(scalars, _empty_prices({}))
    returns = _solve_returns(scalars)
    _collect(scalars, _empty_prices(returns))
    functions = _solve_functions(scalars)
    _heed_long_lists(functions, scalars)
    for key, price in ESTIMATES.items():
        functions.setdefault(key, price)
    named = [price for key, price in functions.items() if key.startswith("list_aggr(")]
    if named:
        # Where only the printed text is known, the aggregate is not, and the dearest counts.
        functions["list_aggr|list"] = (max(row for row, _ in named), max(unit for _, unit in named))
    share_among_aliases(functions, groups)
    share_among_aliases(returns, groups)
    tables = _solve_aggregates(aggregates)
    flat = Prices.of(functions, returns, frozenset(), tables)
    no_dictionary = _without_dictionary(synthetic, flat, max(2, passes // 2))
    no_dictionary |= frozenset().union(*(groups.get(name.lower(), frozenset()) for name in no_dictionary))
    return Prices.of(functions, returns, no_dictionary, tables)


def _modes(ungrouped: float, few_groups: float, many_groups: float) -> dict[str, tuple[float, float]]:
    return {"ungrouped": (ungrouped, 0.0), "few_groups": (few_groups, 0.0), "many_groups": (many_groups, 0.0)}


_VALUE_KINDS: Final[tuple[Kind, ...]] = ("integer", "float", "decimal", "huge", "time")
ESTIMATES: Final[dict[str, tuple[float, float]]] = {
    "dictionary_gather|integer": (0.3, 0.0),
    "in|string": (2.0, 1.0),
    "is_null|string": (0.3, 0.0),
    "is_null|list": (0.3, 0.0),
    "between|string": (2.0, 0.0),
    **{f"in|{kind}": (0.6, 0.3) for kind in _VALUE_KINDS},
    "finalize|integer": (2.0, 0.0),
    **{f"is_null|{kind}": (0.3, 0.0) for kind in _VALUE_KINDS},
    **{f"between|{kind}": (0.9, 0.0) for kind in _VALUE_KINDS},
}
"""Prices of what no projection can show alone, because the optimizer rewrites it: built from the measured price of comparisons. ``in``
counts the members of its list as elements; ``dictionary_gather`` is a row's look-up of a function's result by dictionary code."""


AGGREGATE_ESTIMATES: Final = {
    "count_star|unknown": _modes(0.5, 1.0, 2.0),
    "count|unknown": _modes(0.5, 1.0, 2.0),
    "combine_aggr|integer": _modes(5.0, 8.0, 40.0),
}
"""Aggregates that no benchmark shows: counting is the base that the others are measured against, and ``combine_aggr`` (the second level of
GROUPING SETS) cannot be called."""


def describe(prices: Prices) -> str:
    """A one-line summary for progress output."""
    return json.dumps(
        {"functions": len(prices.functions), "aggregates": len(prices.aggregates), "no_dictionary": sorted(prices.no_dictionary)}
    )
