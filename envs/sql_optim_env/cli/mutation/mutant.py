"""What a mutant is, and what a place where a query can be changed offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

__all__ = ["Change", "Changes", "Kind", "Mutant", "enclosing", "scope_columns"]

Kind = Literal[
    "join type", "predicate dropped", "boundary moved", "text compared loosely", "distinct", "count", "window", "order key",
    "set operation", "null handling", "aggregate swapped", "limit moved", "arithmetic", "constant result", "fingerprint branch",
    "statement dropped",
]  # fmt: skip
"""What was changed."""

Change = tuple[Kind, Callable[[exp.Expr], exp.Expr | None]]
"""A kind, and what to do with the node in a copy of the tree: return what replaces it, or change it and return None."""

Changes = Callable[[exp.Expr, str], Iterator[Change]]
"""The changes that a node offers in a dialect."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A query with one change."""

    kind: Kind
    sql: str


def enclosing(node: exp.Expr) -> exp.Select | None:
    """The SELECT that ``node`` stands in, not counting itself."""
    return node.find_ancestor(exp.Select)


def scope_columns(node: exp.Expr, most: int) -> list[exp.Column]:
    """Different columns that the SELECT around ``node`` names itself, in the order of its text, ``most`` at most."""
    select = enclosing(node)
    if select is None:
        return []
    found = {column.sql(): column for column in select.find_all(exp.Column, bfs=False) if enclosing(column) is select}
    return list(found.values())[:most]
