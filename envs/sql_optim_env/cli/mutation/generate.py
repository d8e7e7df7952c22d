"""Mutants of a query: one change each, at every place that offers one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from sql_optim_env.cli.mutation import conditions, relations, values
from sql_optim_env.cli.mutation.mutant import Change, Changes, Mutant

__all__ = ["mutants"]

_OPERATORS: Final[tuple[Changes, ...]] = (
    relations.join_types,
    conditions.dropped_predicates,
    conditions.boundaries,
    conditions.loose_texts,
    relations.distincts,
    values.counts,
    relations.windows,
    relations.order_keys,
    relations.set_operations,
    conditions.null_handling,
    values.aggregates,
    relations.limits,
    values.arithmetic,
)


def mutants(sql: str, dialect: str) -> tuple[Mutant, ...]:
    """Every mutant of ``sql`` that the operators make, each text once, in the order of the places. Not all of them need run or differ.

    Raises ValueError when ``sql`` is not one statement that sqlglot reads and writes.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except SqlglotError as error:
        raise ValueError(f"the query cannot be mutated: {error}") from error
    seen = {tree.sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE)}
    found = []
    for place, node in enumerate(tree.walk()):
        for kind, change in _changes(node, dialect):
            text = _changed(tree, place, change).sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE)
            if text not in seen:
                seen.add(text)
                found.append(Mutant(kind, text))
    return tuple(found)


def _changes(node: exp.Expr, dialect: str) -> Iterator[Change]:
    for operator in _OPERATORS:
        yield from operator(node, dialect)


def _changed(tree: exp.Expr, place: int, change: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    copy = tree.copy()
    target = next(node for k, node in enumerate(copy.walk()) if k == place)
    replacement = change(target)
    if replacement is None:
        return copy
    if target is copy:
        return replacement
    if replacement is not target:
        target.replace(replacement)
    return copy
