"""Table scans: rows and bytes by encoding, filters evaluated while scanning, conjunct by conjunct; and fetches by row number."""

from __future__ import annotations

import re
from typing import Final

from sql_optim_env.engines.duckdb.cost.card import ColumnCard, TableCard
from sql_optim_env.engines.duckdb.cost.expressions import COMPARISON, Expr, leaves, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import UNKNOWN, Column, Value
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench

__all__ = ["generated_rows", "table_scan"]

LATE_FACTOR: Final = 8.0
"""A column that no filter reads is decompressed for whole vectors that have survivors: about this many rows for each row that passes."""
LEAST_PASSES: Final = 0.3
"""Each conjunct is assumed to let at least this share of rows on to the next one. The profile has only the product of all selectivities,
and a dear function behind a filter that passes everything must not look free."""
_OPTIONAL: Final = re.compile(r"(?: AND )?optional: [^()]*(?:\([^()]*\))?")
"""Filters that a scan may skip (top-N bounds): they are part of the printed text but decide no rows."""
ROW_GROUP: Final = 122_880.0
"""Rows of a row group; every column of every row group scanned has a fixed cost."""


def _storage(card: ColumnCard) -> str:
    """Scan class of a column: strings with and without a useful dictionary, doubles with the slow ALP-RD encoding, otherwise the kind."""
    if card.kind == "string":
        return "dictionary" if card.fresh < 0.5 else "string"
    return "alprd" if card.encoding == "ALPRD" else card.kind


def _values(table: TableCard) -> tuple[Column, ...]:
    return tuple(Column(name, _value(card)) for name, card in table.columns.items())


def _value(card: ColumnCard) -> Value:
    return Value(card.kind, card.length, card.fresh, card.distinct, card.skew, card.ascending)


def _is_zone_filter(expr: Expr, table: TableCard) -> bool:
    """A comparison of a column stored in ascending order with constants: whole row groups are decided by their minimum and maximum."""
    if expr.op != "call" or expr.name not in (COMPARISON, "between") or not all(arg.op in ("column", "literal") for arg in expr.args):
        return False
    return all((card := table.columns.get(leaf.name)) is not None and card.ascending for leaf in leaves(expr))


def table_scan(bench: Workbench) -> Relation:
    """``scan.*``: rows scanned by encoding, filter expressions in ns, rows that filters were evaluated on, rows gathered after a filter."""
    features = bench.features
    table = bench.card.table(bench.text("Table"))
    scanned = float(bench.node.get("rows_scanned") or 0)
    rows_out = bench.rows_out
    if table is None:
        table = TableCard(0, {})
    stored = _values(table)
    by_name = {column.name: column.value for column in stored}
    projected = bench.info("Projections")
    columns = tuple(Column(name, by_name.get(name, UNKNOWN)) for name in projected)
    printed = bench.info("Filters")
    real = [text for text in (_OPTIONAL.sub("", text).strip() for text in printed) if text and text != "()"]
    parsed = _conjuncts([parse_expression(text) for text in real])
    if bench.text("Type") == "Index Scan":
        return _index_scan(bench, table, columns)
    filtered = {leaf.name for expr in parsed for leaf in leaves(expr) if leaf.name in table.columns}
    for name in sorted(set(projected) | filtered):
        card = table.columns.get(name)
        if card is None:
            continue
        rows = scanned if not printed or name in filtered else min(scanned, LATE_FACTOR * rows_out)
        storage = _storage(card)
        features[f"scan.{storage}_rows"] += rows
        features["scan.segments"] += rows / ROW_GROUP
        if storage == "string":
            features["scan.string_bytes"] += rows * card.length
        if printed and name not in filtered:
            features["scan.gathered_rows"] += rows_out
    features["scan.rows"] = scanned
    features["scan.filtered_rows"] = rows_out if printed else 0.0
    if any(_storage(table.columns[name]) == "dictionary" for name in filtered):
        # Measured: a row that such a predicate keeps costs several times what one costs that a comparison of numbers keeps.
        features["scan.dictionary_passed_rows"] = rows_out
    remaining = scanned
    passes = max((max(rows_out, 1.0) / max(scanned, 1.0)) ** (1.0 / max(len(parsed), 1)), LEAST_PASSES) if scanned else 1.0
    for expr in parsed:
        if _is_zone_filter(expr, table):
            continue
        evaluator = bench.evaluator(stored)
        evaluator.value(expr)
        bench.charge("scan.filter_expressions", evaluator, remaining)
        features["scan.filter_rows"] += remaining
        remaining *= passes
    return Relation(columns, rows_out)


def _conjuncts(filters: list[Expr]) -> list[Expr]:
    """Conjunctions taken apart, because each part is evaluated on the rows that the earlier ones passed."""
    found: list[Expr] = []
    for expr in filters:
        found += expr.args if expr.op == "and" else (expr,)
    return found


def _index_scan(bench: Workbench, table: TableCard, columns: tuple[Column, ...]) -> Relation:
    """Rows fetched one by one by their row numbers: a text column costs microseconds a value, because its segment is decoded again."""
    features = bench.features
    rows = float(bench.node.get("rows_scanned") or 0)
    features["index_scan.rows"] = rows
    for column in columns:
        card = table.columns.get(column.name)
        text = card is not None and card.kind == "string"
        heavy = text and card is not None and _storage(card) == "string"
        features["index_scan.text_values" if heavy else "index_scan.values"] += rows
    return Relation(tuple(Column(column.name, column.value.flat()) for column in columns), bench.rows_out)


def generated_rows(bench: Workbench) -> Relation:
    """``range.rows``: rows made by range or generate_series in FROM."""
    bench.features["range.rows"] = bench.rows_out
    return Relation((Column("", Value("integer")),), bench.rows_out)
