"""Changes to what is computed: counts, aggregates, arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqlglot import exp

from sql_optim_env.cli.mutation.mutant import Change, scope_columns

__all__ = ["aggregates", "arithmetic", "counts"]

_MOST_COLUMNS: Final = 5

_AGGREGATES: Final[dict[type[exp.Expr], tuple[type[exp.Expr], ...]]] = {
    exp.Min: (exp.Max,),
    exp.Max: (exp.Min,),
    exp.Sum: (exp.Max, exp.Min, exp.Avg),
    exp.Avg: (exp.Max, exp.Min),
    exp.AnyValue: (exp.Max, exp.Min),
}
_ARITHMETIC: Final[dict[type[exp.Expr], tuple[type[exp.Binary], ...]]] = {
    exp.Add: (exp.Sub,),
    exp.Sub: (exp.Add,),
    exp.Mul: (exp.Add, exp.Div),
    exp.Div: (exp.Mul, exp.Mod),
    exp.IntDiv: (exp.Mul, exp.Div),
    exp.Mod: (exp.Div,),
}


def counts(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """``COUNT(*)`` and the count of a column's values."""
    if not isinstance(node, exp.Count):
        return
    if isinstance(node.this, exp.Star):
        for column in scope_columns(node, _MOST_COLUMNS):
            yield "count", _counting(column.copy())
            yield "distinct", _counting(exp.Distinct(expressions=[column.copy()]))
    else:
        yield "count", _counting(exp.Star())


def _counting(what: exp.Expr) -> Callable[[exp.Expr], None]:
    return lambda target: target.set("this", what.copy())


def _swapped(other: type[exp.Expr]) -> Callable[[exp.Expr], exp.Expr]:
    return lambda target: other(this=target.this)


def _between(other: type[exp.Expr]) -> Callable[[exp.Expr], exp.Expr]:
    return lambda target: exp.paren(other(this=target.this, expression=target.expression))


def aggregates(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """Another aggregate over the same values, and one that is never NULL."""
    for other in _AGGREGATES.get(type(node), ()):
        yield "aggregate swapped", _swapped(other)
    if isinstance(node, exp.ArgMax | exp.ArgMin):
        swap = exp.ArgMin if isinstance(node, exp.ArgMax) else exp.ArgMax
        yield "aggregate swapped", lambda target: swap(this=target.this, expression=target.expression)
    if isinstance(node, exp.Sum | exp.Max | exp.Min) and not isinstance(node.parent, exp.Filter | exp.Window | exp.Coalesce):
        yield "null handling", lambda target: exp.Coalesce(this=target.copy(), expressions=[exp.Literal.number(0)])


def arithmetic(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """Another operator between the same operands."""
    for other in _ARITHMETIC.get(type(node), ()):
        yield "arithmetic", _between(other)
