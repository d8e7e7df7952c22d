"""Operators that look at one row at a time: projection, filter, unnest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sql_optim_env.engines.duckdb.cost.expressions import Expr, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import UNKNOWN, Column, Value
from sql_optim_env.engines.duckdb.cost.relation import Relation, Workbench, observed_lists

__all__ = ["filter_rows", "in_out_function", "projection", "unnest"]

_BARE = re.compile(r"#?\w+")


def _reference(expr: Expr, printed: str, columns: tuple[Column, ...]) -> Value | None:
    """A plain reference: the position counts where its name agrees or is not known, otherwise the printed name."""
    if expr.op != "slot":
        return None
    positioned = columns[expr.index] if 0 <= expr.index < len(columns) else None
    if positioned is not None and (positioned.name in ("", printed) or printed.startswith("#")):
        return positioned.value if expr.kind in (None, positioned.value.kind) else Value(expr.kind, positioned.value.length)
    named = next((column.value for column in columns if column.name == printed), None)
    if named is not None and expr.kind in (None, named.kind):
        return named
    return None


def projection(bench: Workbench) -> Relation:
    """``projection.expressions`` in ns and ``projection.computed``, values computed (rows times expressions that are not references)."""
    columns = bench.columns
    printed = bench.info("Projections")
    if bench.logical is not None:
        exprs = [bench.bound(node) for node in bench.logical.expressions]
        outputs = _evaluate(bench, exprs, printed, columns)
    else:
        arguments = bench.parent_logical.arguments if bench.parent_logical is not None else []
        if arguments and len(arguments) == len(printed):
            outputs = _evaluate(bench, [bench.bound(node) for node in arguments], printed, columns)
        else:
            outputs = _from_text(bench, printed, columns, [bench.bound(node) for node in arguments])
    names = [text if _BARE.fullmatch(text) and not text.startswith("#") else "" for text in printed]
    names = [
        name or (columns[int(text[1:])].name if re.fullmatch(r"#\d+", text) and int(text[1:]) < len(columns) else "")
        for name, text in zip(names, printed, strict=True)
    ]
    result = tuple(Column(name, value) for name, value in zip(names, outputs, strict=True))
    return Relation(observed_lists(bench.node, result, columns), bench.rows_out)


def _evaluate(bench: Workbench, exprs: list[Expr], printed: list[str], columns: tuple[Column, ...]) -> list[Value]:
    evaluator = bench.evaluator(columns)
    outputs: list[Value] = []
    for expr, text in zip(exprs, printed, strict=True):
        value = _reference(expr, text, columns)
        outputs.append(evaluator.value(expr) if value is None else value)
        bench.features["projection.computed"] += bench.rows_in * (expr.op not in ("slot", "column", "literal"))
    bench.charge("projection.expressions", evaluator, bench.rows_in)
    return outputs


def _from_text(bench: Workbench, printed: list[str], columns: tuple[Column, ...], arguments: list[Expr]) -> list[Value]:
    """Printed text only. Arguments of an aggregate whose number differs (equal ones are computed once) are priced from their bound form."""
    outputs: list[Value] = []
    computed = {expr for expr in arguments if expr.op not in ("slot", "column", "literal")}
    evaluator = bench.evaluator(columns)
    for expr in sorted(computed, key=repr):
        evaluator.value(expr)
    bench.charge("projection.expressions", evaluator, bench.rows_in)
    bench.features["projection.computed"] += bench.rows_in * len(computed)
    for text in printed:
        if computed:
            outputs.append(bench.evaluator(columns).value(parse_expression(text)))
        else:
            outputs.append(bench.charge_printed("projection.expressions", text, columns, bench.rows_in))
            bench.features["projection.computed"] += bench.rows_in * (_BARE.fullmatch(text) is None)
    return outputs


def filter_rows(bench: Workbench) -> Relation:
    """``filter.expressions`` in ns, ``filter.rows`` tested, ``filter.gathered`` values (rows that pass times columns)."""
    columns = bench.columns
    if bench.logical is not None:
        evaluator = bench.evaluator(columns)
        rows = bench.rows_in
        predicates = [bench.bound(node) for node in bench.logical.expressions]
        evaluator.value(predicates[0] if len(predicates) == 1 else Expr("and", args=tuple(predicates)))
        bench.charge("filter.expressions", evaluator, rows)
    else:
        for text in bench.info("Expression"):
            bench.charge_printed("filter.expressions", text, columns, bench.rows_in)
    bench.features["filter.rows"] = bench.rows_in
    bench.features["filter.gathered"] = bench.rows_out * len(columns)
    return Relation(columns, bench.rows_out)


def unnest(bench: Workbench) -> Relation:
    """``unnest.*``: lists in, elements out, bytes repeated beside each element, and the expressions that make the lists (never printed)."""
    columns = bench.columns
    added: list[Column] = []
    if bench.logical is not None:
        evaluator = bench.evaluator(columns)
        for node in bench.logical.expressions:
            child = node.get("child")
            if not isinstance(child, Mapping):
                continue
            evaluator.value(bench.bound(child))
            kind = bench.bound(node).kind or "unknown"
            added.append(Column(str(node.get("alias") or ""), Value(kind, 12.0 if kind == "string" else 0.0)))
        bench.charge("unnest.expressions", evaluator, bench.rows_in)
    outputs = tuple(column for column in bench.inputs[0].flat()) + tuple(added) if bench.inputs else tuple(added)
    bench.features["unnest.rows"] = bench.rows_in
    bench.features["unnest.elements"] = bench.rows_out
    repeated = tuple(column for column in outputs if column.value.kind != "list")
    bench.features["unnest.repeated_bytes"] = bench.rows_out * Relation(repeated).width
    return Relation(outputs, bench.rows_out)


def in_out_function(bench: Workbench) -> Relation:
    """``lateral_unnest.*``: unnest in FROM, called once a row, and the rows that come out of it."""
    bench.features["lateral_unnest.rows"] = bench.rows_in
    bench.features["lateral_unnest.elements"] = bench.rows_out
    element = Column("", UNKNOWN)
    carried = bench.input(0).flat()[1:]
    return Relation((element, *carried), bench.rows_out)
