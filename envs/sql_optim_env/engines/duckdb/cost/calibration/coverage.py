"""Which functions the benchmarks call, and what the engine calls by several names.

A function that no benchmark calls would be priced by a guess. So every admitted function must be called by a micro-benchmark, or be another
name of one that is; window functions, whose work is the operator's, are called by the operator suite.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Final, TypeVar

import duckdb

from sql_optim_env.engines.duckdb.cost.calibration.micro_suite import AGGREGATE_TEMPLATES, SCALAR_TEMPLATES, instances
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import synthetic_statements
from sql_optim_env.engines.duckdb.functions import ALLOWED_FUNCTIONS

__all__ = ["alias_groups", "benchmarked_functions", "called_functions", "share_among_aliases", "uncovered_functions"]

T = TypeVar("T")

_COMPARISONS: Final = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "!=",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}


def called_functions(con: duckdb.DuckDBPyConnection, sql: str) -> frozenset[str]:
    """Lower-case names of the functions in a statement's parse tree, comparisons and window functions included; empty when it does not
    parse."""
    tree: Mapping[str, Any] = json.loads(con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0])
    found: set[str] = set()
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            if node.get("class") in ("FUNCTION", "WINDOW"):
                found.add(str(node["function_name"]).lower())
            elif node.get("class") == "COMPARISON":
                found.add(_COMPARISONS.get(str(node.get("type")), ""))
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return frozenset(found - {""})


def alias_groups(con: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
    """Lower-case name → all names of the same function, by the engine's own account."""
    rows = con.execute(
        "SELECT DISTINCT lower(function_name), lower(alias_of) FROM duckdb_functions() WHERE alias_of IS NOT NULL AND alias_of <> ''"
    ).fetchall()
    names: dict[str, set[str]] = defaultdict(set)
    for name, original in rows:
        names[original] |= {original, name}
    return {name: frozenset(group) for group in names.values() for name in group}


def share_among_aliases(table: MutableMapping[str, T], groups: Mapping[str, frozenset[str]]) -> None:
    """Give every name of a function that has no entry of its own for a kind (keys are ``name|kind``) the entry of another name."""
    for key in sorted(table):
        name, _, kind = key.rpartition("|")
        for other in sorted(groups.get(name.lower(), ())):
            table.setdefault(f"{other}|{kind}", table[key])


def benchmarked_functions(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Names called by the micro-benchmarks and, for window functions, by the operator suite."""
    scalars = (f"SELECT {expression} FROM micro" for template in SCALAR_TEMPLATES for expression in instances(template))
    aggregates = (f"SELECT {template.replace('{x}', 'i')} FROM micro" for template in AGGREGATE_TEMPLATES)
    operators = (item.sql for item in synthetic_statements() if " OVER " in item.sql)
    return _all_called(con, (*scalars, *aggregates, *operators))


def _all_called(con: duckdb.DuckDBPyConnection, sqls: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(called_functions(con, sql) for sql in sqls))


def uncovered_functions(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Admitted functions that no benchmark calls under any of their names."""
    called, groups = benchmarked_functions(con), alias_groups(con)
    return frozenset(name for name in (item.lower() for item in ALLOWED_FUNCTIONS) if not called & groups.get(name, frozenset({name})))
