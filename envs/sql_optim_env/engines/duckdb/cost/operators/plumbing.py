"""Operators that store, repeat or hand on rows: CTEs, recursion, unions, limits, the result."""

from __future__ import annotations

from sql_optim_env.engines.duckdb.cost.kinds import INLINE_STRING
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["common_table", "cte_scan", "limit", "other", "recursive_table", "result", "union"]


def result(bench: Workbench) -> Relation:
    """``result.*``: rows and bytes handed to the client; strings are copied one by one."""
    relation = bench.input(0)
    strings = [column.value for column in relation.columns if column.value.kind == "string"]
    bench.features["result.rows"] = relation.rows
    bench.features["result.values"] = relation.rows * len(relation.columns)
    bench.features["result.bytes"] = relation.rows * relation.width
    bench.features["result.strings"] = relation.rows * len(strings)
    bench.features["result.long_string_bytes"] = relation.rows * sum(v.length for v in strings if v.length > INLINE_STRING)
    lists = [column.value for column in relation.columns if column.value.kind == "list"]
    bench.features["result.list_elements"] = relation.rows * sum(value.length for value in lists)
    return relation


def common_table(bench: Workbench) -> Relation:
    """``cte.*``: rows stored for several readers, or streamed to them. The result is that of the query below (the last input)."""
    definition = bench.input(0)
    if bench.text("Execution Mode") in ("MATERIALIZED", "HYBRID_FANOUT"):
        bench.features["cte.stored_rows"] = definition.rows
        bench.features["cte.stored_bytes"] = definition.rows * definition.width
    else:
        bench.features["cte.streamed_rows"] = definition.rows
    return bench.inputs[-1] if bench.inputs else Relation()


def recursive_table(bench: Workbench) -> Relation:
    """``recursion.rows``: rows of all iterations. The number of iterations is not in the profile (a blind spot)."""
    bench.features["recursion.rows"] = bench.rows_out
    bench.features["recursion.bytes"] = bench.rows_out * bench.input(0).width
    return Relation(bench.input(0).flat(), bench.rows_out)


def cte_scan(bench: Workbench) -> Relation:
    """``cte_scan.*``: rows read back; the columns are those of the definition, which the walker puts in as the only input."""
    bench.features["cte_scan.rows"] = bench.rows_out
    if bench.text("CTE Mode") != "DIRECT":
        bench.features["cte_scan.bytes"] = bench.rows_out * bench.input(0).width
        return Relation(bench.input(0).flat(), bench.rows_out)
    return Relation(bench.input(0).columns, bench.rows_out)


def union(bench: Workbench) -> Relation:
    """``union.rows``. The profile counts no rows for a union, so they are the sum of its inputs."""
    bench.features["union.rows"] = bench.rows_in
    return Relation(bench.input(0).flat(), max(bench.rows_in, bench.rows_out))


def limit(bench: Workbench) -> Relation:
    """``limit.rows`` that passed."""
    bench.features["limit.rows"] = bench.rows_out
    return Relation(bench.input(0).columns, bench.rows_out)


def other(bench: Workbench) -> Relation:
    """``other.*``: any operator this model has no module for, priced by the rows that pass through it."""
    bench.features["other.input_rows"] = bench.rows_in
    bench.features["other.output_rows"] = bench.rows_out
    return Relation(bench.columns, bench.rows_out)
