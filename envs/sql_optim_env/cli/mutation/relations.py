"""Changes to what is joined, combined, ordered and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqlglot import exp

from sql_optim_env.cli.mutation.mutant import Change, enclosing

__all__ = ["distincts", "join_types", "limits", "order_keys", "set_operations", "windows"]

_RANKS: Final = (exp.RowNumber, exp.Rank, exp.DenseRank)


def join_types(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """INNER, LEFT, RIGHT and FULL for each other; a condition of an outer join that is tested after it."""
    if not isinstance(node, exp.Join) or (node.args.get("on") is None and not node.args.get("using")):
        return
    for side in ("", "LEFT", "RIGHT", "FULL"):
        if side != node.side:
            yield "join type", _sided(side)
    on = node.args.get("on")
    if node.side == "LEFT" and isinstance(on, exp.And):
        yield "join type", _tested_after


def _sided(side: str) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        target.set("side", side or None)
        target.set("kind", None)

    return change


def _tested_after(target: exp.Expr) -> None:
    on, select = target.args["on"], target.parent
    target.set("on", on.this)
    if isinstance(select, exp.Select):
        select.where(on.expression, copy=False)


def set_operations(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """ALL or not, one operation for another, one side only."""
    if not isinstance(node, exp.SetOperation):
        return
    if isinstance(node, exp.Union) or dialect != "sqlite":
        yield "set operation", lambda target: target.set("distinct", not target.args.get("distinct"))
    others: dict[type[exp.Expr], tuple[type[exp.SetOperation], ...]] = {
        exp.Union: (exp.Intersect,),
        exp.Except: (exp.Intersect, exp.Union),
        exp.Intersect: (exp.Except, exp.Union),
    }
    for other in others[type(node)]:
        yield "set operation", _operation(other)
    for side in ("this", "expression"):
        if node.parent is not None:  # the names of the result come from the first side
            yield "set operation", _side(side)


def _side(name: str) -> Callable[[exp.Expr], exp.Expr]:
    def change(target: exp.Expr) -> exp.Expr:
        side: exp.Expr = target.args[name]
        return side

    return change


def _operation(other: type[exp.SetOperation]) -> Callable[[exp.Expr], exp.Expr]:
    return lambda target: other(**{**target.args, "distinct": True})


def distincts(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """DISTINCT where there is none, and none where it is."""
    if isinstance(node, exp.Select):
        yield "distinct", lambda target: target.set("distinct", None if target.args.get("distinct") else exp.Distinct())
    if isinstance(node, exp.Count | exp.Sum | exp.Avg):
        if isinstance(node.this, exp.Distinct):
            yield "distinct", lambda target: target.set("this", target.this.expressions[0])
        elif not isinstance(node.this, exp.Star) and not _is_windowed(node):
            yield "distinct", lambda target: target.set("this", exp.Distinct(expressions=[target.this]))


def _is_windowed(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window) and bool(node.parent.args.get("order"))


def windows(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """Frame, partition and kind of ranking of a window."""
    if not isinstance(node, exp.Window):
        return
    ranking = isinstance(node.this, _RANKS)
    if ranking:
        for other in _RANKS:
            if not isinstance(node.this, other):
                yield "window", _ranked(other)
    if node.args.get("partition_by"):
        yield "window", lambda target: target.set("partition_by", None)
    if node.args.get("order") and not ranking:
        if node.args.get("spec"):
            yield "window", lambda target: target.set("spec", None)
        for end in ("CURRENT ROW", "UNBOUNDED"):
            yield "window", _framed(end)
        yield "window", lambda target: target.set("order", None)


def _ranked(other: type[exp.Expr]) -> Callable[[exp.Expr], None]:
    return lambda target: target.set("this", other())


def _framed(end: str) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        side = "following" if end == "UNBOUNDED" else None
        target.set("spec", exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end=end, end_side=side))

    return change


def order_keys(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """Turned or dropped keys, and where NULL stands; only where the order decides what the result holds."""
    if not isinstance(node, exp.Order):
        return
    if isinstance(node.parent, exp.Query) and not node.parent.args.get("limit"):
        return
    for place in range(len(node.expressions)):
        yield "order key", _turned(place)
        yield "order key", _nulls_moved(place)
        if len(node.expressions) > 1:
            yield "order key", _dropped(place)


def _dropped(place: int) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        target.expressions[place].pop()

    return change


def _turned(place: int) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        key = target.expressions[place]
        key.set("desc", not key.args.get("desc"))

    return change


def _nulls_moved(place: int) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        key = target.expressions[place]
        key.set("nulls_first", not key.args.get("nulls_first"))

    return change


def _limited(number: int) -> Callable[[exp.Expr], None]:
    return lambda target: target.set("expression", exp.Literal.number(number))


def limits(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """One row more or less, none left out, the first left out, or the limit of a subquery applied around it."""
    if not isinstance(node, exp.Limit) or not isinstance(node.expression, exp.Literal):
        return
    count = int(node.expression.name)
    for number in (count - 1, count + 1):
        yield "limit moved", _limited(number)
    yield "limit moved", lambda target: target.pop() and None
    if isinstance(node.parent, exp.Query) and not node.parent.args.get("offset"):
        yield "limit moved", _first_left_out
        outer = enclosing(node.parent)
        if outer is not None and not outer.args.get("limit") and isinstance(node.parent.parent, exp.Subquery):
            yield "limit moved", _applied_around


def _first_left_out(target: exp.Expr) -> None:
    if target.parent is not None:
        target.parent.set("offset", exp.Offset(expression=exp.Literal.number(1)))


def _applied_around(target: exp.Expr) -> None:
    query = target.parent
    outer = enclosing(query) if query is not None else None
    if outer is not None:
        outer.set("limit", target.pop())
