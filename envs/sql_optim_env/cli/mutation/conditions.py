"""Changes to conditions: dropped, moved, loosened, or blind to NULL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

from sqlglot import exp

from sql_optim_env.cli.mutation.mutant import Change, enclosing
from sql_optim_env.datasets.edges import period_of

__all__ = ["boundaries", "dropped_predicates", "loose_texts", "null_handling"]

_SWAPS: Final[dict[type[exp.Expr], type[exp.Binary]]] = {exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT}
_POSITIONS: Final = (exp.Limit, exp.Offset, exp.DataType, exp.Group, exp.Interval)


def dropped_predicates(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """A part of a WHERE, HAVING, QUALIFY, ON, FILTER or CASE that counts no more; a value of a list less."""
    if isinstance(node, exp.In) and len(node.expressions) > 1:
        for place in range(len(node.expressions)):
            yield "predicate dropped", _without(place)
    if isinstance(node, exp.And | exp.Or | exp.Paren):
        return
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    holds = (
        isinstance(around, exp.And | exp.Or | exp.Where | exp.Having | exp.Qualify)
        or (isinstance(around, exp.Join) and node.arg_key == "on")
        or (isinstance(around, exp.If) and node.arg_key == "this")
    )
    if holds:
        yield "predicate dropped", lambda target: exp.false() if isinstance(around, exp.Or) else exp.true()


def _without(place: int) -> Callable[[exp.Expr], None]:
    def change(target: exp.Expr) -> None:
        target.set("expressions", [value for k, value in enumerate(target.expressions) if k != place])

    return change


def boundaries(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """< and <=, a number one up or down, a date one day earlier or later."""
    if swap := _SWAPS.get(type(node)):
        yield "boundary moved", lambda target: swap(this=target.this, expression=target.expression)
    if isinstance(node, exp.Between):
        for low, high in ((exp.GT, exp.LTE), (exp.GTE, exp.LT)):
            yield "boundary moved", _between(low, high)
    if not isinstance(node, exp.Literal) or node.find_ancestor(*_POSITIONS) or isinstance(node.parent, exp.Ordered | exp.Select):
        return
    if not node.is_string:
        if node.name.isdecimal():
            for number in (int(node.name) - 1, int(node.name) + 1):
                # A literal holds no sign.
                yield "boundary moved", _constant(exp.Literal.number(number) if number >= 0 else exp.Neg(this=exp.Literal.number(-number)))
    elif period := period_of(node.name):
        for day in (-1, 1):
            yield "boundary moved", _constant(exp.Literal.string(_moved(node.name, period[0], day)))


def _between(low: type[exp.Binary], high: type[exp.Binary]) -> Callable[[exp.Expr], exp.Expr]:
    def change(target: exp.Expr) -> exp.Expr:
        bounds = low(this=target.this.copy(), expression=target.args["low"]), high(this=target.this, expression=target.args["high"])
        return exp.paren(exp.and_(*bounds))

    return change


def _moved(text: str, start: datetime, days: int) -> str:
    moved = start + timedelta(days=days)
    if len(text.strip()) <= len("2024-01-01"):
        return moved.date().isoformat()
    return moved.isoformat(sep=" ")


def _constant(value: exp.Expr) -> Callable[[exp.Expr], exp.Expr]:
    return lambda target: value.copy()


def loose_texts(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """Texts compared without regard to case, blanks, or where they begin and end."""
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Column) and _is_text(node.expression):
        yield "text compared loosely", lambda target: exp.EQ(this=exp.Lower(this=target.this), expression=exp.Lower(this=target.expression))
        yield "text compared loosely", lambda target: exp.EQ(this=exp.Trim(this=target.this), expression=target.expression)
        yield (
            "text compared loosely",
            lambda target: exp.Like(this=target.this, expression=exp.Literal.string(target.expression.name + "%")),
        )
    if isinstance(node, exp.In) and isinstance(node.this, exp.Column) and node.expressions and all(map(_is_text, node.expressions)):
        yield (
            "text compared loosely",
            lambda target: exp.In(
                this=exp.Lower(this=target.this), expressions=[exp.Literal.string(value.name.lower()) for value in target.expressions]
            ),
        )
    if isinstance(node, exp.Like) and _is_text(node.expression):
        pattern = node.expression.name
        for other in dict.fromkeys((f"{pattern}%", f"%{pattern}", pattern.strip("%"), pattern[:1] + pattern[2:])):
            if other != pattern:
                yield "text compared loosely", _like(other)
        if dialect != "sqlite":  # whose LIKE ignores case anyway
            yield "text compared loosely", lambda target: exp.ILike(this=target.this, expression=target.expression)


def _like(pattern: str) -> Callable[[exp.Expr], exp.Expr]:
    return lambda target: exp.Like(this=target.this, expression=exp.Literal.string(pattern))


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string and bool(node.name) and period_of(node.name) is None


def null_handling(node: exp.Expr, dialect: str) -> Iterator[Change]:
    """COALESCE removed or added, IS NULL turned, comparisons that do or do not know NULL, NOT IN and NOT EXISTS."""
    if isinstance(node, exp.Coalesce):
        yield "null handling", lambda target: target.this
    if isinstance(node, exp.Is):
        null = isinstance(node.expression, exp.Null)
        yield "null handling", (lambda target: exp.paren(target.copy().not_())) if null else (lambda target: _equal(target))
    if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        plain: type[exp.Binary] = exp.EQ if isinstance(node, exp.NullSafeEQ) else exp.NEQ
        yield "null handling", lambda target: plain(this=target.this, expression=target.expression)
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column):
        yield "null handling", lambda target: exp.NullSafeEQ(this=target.this, expression=target.expression)
    if isinstance(node, exp.NEQ):
        yield "null handling", lambda target: exp.NullSafeNEQ(this=target.this, expression=target.expression)
        yield "null handling", lambda target: exp.Is(this=target.this, expression=exp.Null()).not_()
    if isinstance(node, exp.Case) and node.args.get("default") is None:
        yield "null handling", lambda target: target.set("default", exp.Literal.number(0))
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        yield "null handling", _as_exists
    if isinstance(node, exp.Exists) and _link(node) is not None:
        yield "null handling", _as_in
    if _is_result_column(node):
        for default in (exp.Literal.number(0), exp.Literal.string("")):
            yield "null handling", _with_default(default)


def _equal(target: exp.Expr) -> exp.Expr:
    return exp.EQ(this=target.this, expression=target.expression)


def _as_exists(target: exp.Expr) -> exp.Expr | None:
    """``a IN (SELECT b …)`` as an EXISTS; the two differ under NOT when b is NULL somewhere."""
    query = target.args["query"].this
    name = query.selects[0].alias_or_name
    match = exp.EQ(this=exp.column(name, table="listed"), expression=target.this)
    return exp.Exists(this=exp.select("1").from_(query.subquery("listed")).where(match))


def _link(node: exp.Exists) -> tuple[exp.EQ, exp.Column, exp.Column] | None:
    """The equality of an EXISTS that ties its own column to one of the query around it."""
    select = node.this
    where = select.args.get("where") if isinstance(select, exp.Select) else None
    if where is None:
        return None
    own = {source.alias_or_name for source in select.find_all(exp.Table) if enclosing(source) is select}
    for equality in where.find_all(exp.EQ):
        sides = (equality.this, equality.expression)
        if enclosing(equality) is select and all(isinstance(side, exp.Column) for side in sides):
            inner = [side for side in sides if side.table in own]
            outer = [side for side in sides if side.table and side.table not in own]
            if len(inner) == len(outer) == 1:
                return equality, inner[0], outer[0]
    return None


def _as_in(target: exp.Expr) -> exp.Expr | None:
    link = _link(target) if isinstance(target, exp.Exists) else None
    if link is None:
        return None
    equality, inner, outer = link
    select = target.this.copy()
    equality_copy = next(each for each in select.find_all(exp.EQ) if each == equality)
    equality_copy.replace(exp.true())
    select.set("expressions", [inner.copy()])
    return exp.In(this=outer.copy(), query=exp.Subquery(this=select))


def _is_result_column(node: exp.Expr) -> bool:
    column = node.this if isinstance(node, exp.Alias) else node
    return isinstance(column, exp.Column) and isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and node.depth == 1


def _with_default(default: exp.Expr) -> Callable[[exp.Expr], exp.Expr]:
    def change(target: exp.Expr) -> exp.Expr:
        column = target.this if isinstance(target, exp.Alias) else target
        return exp.alias_(exp.Coalesce(this=column.copy(), expressions=[default.copy()]), target.alias_or_name)

    return change
