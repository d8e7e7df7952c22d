"""Evaluate an expression over the columns of its input: what it returns and which functions are paid for, how often."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from sql_optim_env.engines.duckdb.cost.expressions import UNKNOWN_CALL, Expr, leaves
from sql_optim_env.engines.duckdb.cost.kinds import CONSTANT, FIXED_WIDTH, UNKNOWN, Column, Kind, Value
from sql_optim_env.engines.duckdb.cost.prices import Prices

__all__ = ["Charge", "Evaluator", "lookup"]

AND_PASSES: Final = 0.6
"""Fraction of rows for which the next operand of AND is still evaluated; the measured selectivity is not in the profile."""
OR_PASSES: Final = 0.85
"""The same for OR."""
BRANCH_TAKEN: Final = 0.4
"""Fraction of rows for which one THEN or ELSE is evaluated."""
CONDITION_REACHED: Final = 0.7
"""Fraction of rows that reach the next WHEN."""
DEFAULT_STRING: Final = 12.0
"""Bytes of a string whose length nothing tells."""

_TEXT_OF: Final[dict[Kind, float]] = {"integer": 5.0, "float": 14.0, "decimal": 8.0, "time": 19.0, "huge": 10.0}
"""Average bytes of a value printed as text, measured on the shop columns."""


@dataclass(frozen=True, slots=True)
class Charge:
    """One function call to pay for: ``times`` evaluations a row on an argument of this kind and length."""

    function: str
    kind: Kind
    length: float
    times: float


def lookup(expr: Expr, inputs: tuple[Column, ...]) -> Value | None:
    """What a column or slot reference stands for, None when the inputs do not have it and its type is not known either."""
    found: Value | None = None
    if expr.op == "slot":
        if 0 <= expr.index < len(inputs):
            found = inputs[expr.index].value
    else:
        found = next((column.value for column in inputs if column.name == expr.name), None)
    if expr.kind is None or (found is not None and found.kind == expr.kind):
        return found
    return Value(expr.kind, DEFAULT_STRING if expr.kind in ("string", "list") else 0.0)


@dataclass(slots=True)
class Evaluator:
    """Collects charges over one row of an operator's input."""

    inputs: tuple[Column, ...]
    prices: Prices
    charges: list[Charge] = field(default_factory=list)

    def nanoseconds(self) -> float:
        """What all charges so far cost for one row."""
        return sum(charge.times * self.prices.function(charge.function, charge.kind, charge.length) for charge in self.charges)

    def value(self, expr: Expr, times: float = 1.0) -> Value:
        """Statistics of the expression's result; its functions are charged ``times`` evaluations a row."""
        if expr.op in ("column", "slot"):
            found = lookup(expr, self.inputs)
            return UNKNOWN if found is None else found
        if expr.op == "literal":
            return CONSTANT
        if expr.op == "lambda":
            for arg in expr.args:
                self.value(arg, times)
            return CONSTANT
        fresh = self._fresh(expr)
        if expr.op == "cast":
            return self._cast(expr, times, fresh)
        if expr.op in ("and", "or"):
            return self._conjunction(expr, times)
        if expr.op == "case":
            return self._case(expr, times, fresh)
        if expr.op == "in":
            return self._in(expr, times, fresh)
        return self._call(expr, times, fresh)

    def _fresh(self, expr: Expr) -> float:
        """A function of one dictionary column is evaluated once an entry; a function of several columns for every row."""
        distinct = {(leaf.op, leaf.name, leaf.index): leaf for leaf in leaves(expr)}
        if len(distinct) != 1:
            return 1.0
        found = lookup(next(iter(distinct.values())), self.inputs)
        return 1.0 if found is None else found.fresh

    def _charge(self, function: str, kind: Kind, length: float, times: float, fresh: float) -> None:
        if fresh < 1.0:
            self.charges.append(Charge("dictionary_gather", "integer", 0.0, times * (1.0 - fresh)))
        self.charges.append(Charge(function, kind, length, times * fresh))

    def _cast(self, expr: Expr, times: float, fresh: float) -> Value:
        argument = self.value(expr.args[0], times) if expr.args else CONSTANT
        if argument.kind == "constant":
            return CONSTANT
        kind: Kind = expr.kind or argument.kind
        before, _, after = expr.name.partition(">")
        if before in FIXED_WIDTH and after in FIXED_WIDTH:
            self._charge(f"cast>{after}", before, 0.0, times * argument.length, 1.0)
        name = "cast=" if kind == argument.kind else f"cast>{kind}"
        self._charge(name, argument.kind, argument.length, times, fresh)
        length = argument.length if kind in ("string", "list") else 0.0
        if kind == "string" and argument.kind != "string":
            length = _TEXT_OF.get(argument.kind, 4.0 * argument.length or DEFAULT_STRING)
        if argument.kind == kind == "integer":
            # The engine also narrows keys before it stores them: another type, the same values in the same order.
            return Value(kind, length, fresh, argument.distinct, argument.skew, argument.ascending)
        return Value(kind, length, fresh)

    def _conjunction(self, expr: Expr, times: float) -> Value:
        passes = AND_PASSES if expr.op == "and" else OR_PASSES
        for arg in expr.args:
            self.value(arg, times)
            times *= passes
        return Value("integer")

    def _case(self, expr: Expr, times: float, fresh: float) -> Value:
        result: Value | None = None
        reached = times
        pairs = len(expr.args) // 2
        for branch in range(pairs):
            self.value(expr.args[2 * branch], reached)
            taken = self.value(expr.args[2 * branch + 1], times * BRANCH_TAKEN)
            result = taken if result is None or result.kind == "constant" else result
            reached *= CONDITION_REACHED
        if len(expr.args) % 2:
            taken = self.value(expr.args[-1], times * BRANCH_TAKEN)
            result = taken if result is None or result.kind == "constant" else result
        self._charge("case", "integer", float(pairs), times, fresh)
        kind: Kind = expr.kind or (result.kind if result and result.kind != "constant" else "integer")
        length = result.length if result and result.kind == kind else (6.0 if kind == "string" else 0.0)
        return Value(kind, length, fresh)

    def _in(self, expr: Expr, times: float, fresh: float) -> Value:
        argument = self.value(expr.args[0], times) if expr.args else CONSTANT
        for member in expr.args[1:]:
            if member.op != "literal":
                self.value(member, times)
        kind: Kind = "integer" if argument.kind == "constant" else argument.kind
        self._charge("in", kind, float(max(len(expr.args) - 1, 1)), times, fresh)
        return Value("integer", 0.0, fresh)

    def _call(self, expr: Expr, times: float, fresh: float) -> Value:
        plain = [arg for arg in expr.args if arg.op != "lambda"]
        lambdas = [arg for arg in expr.args if arg.op == "lambda"]
        values = [self.value(arg, times) for arg in plain]
        varying = [value for value in values if value.kind != "constant"]
        if plain and not varying and not lambdas:
            return CONSTANT
        if not plain and not lambdas and not self.prices.knows(expr.name):
            return UNKNOWN
        argument = (
            max(varying, key=lambda value: value.length, default=Value("integer")) if expr.name == UNKNOWN_CALL else _subject(varying)
        )
        for body in lambdas:
            inner = Evaluator(_lambda_inputs(argument), self.prices)
            inner.value(body, times * max(argument.length, 1.0))
            self.charges.extend(inner.charges)
        if expr.name in self.prices.no_dictionary or argument.kind == "list":
            fresh = 1.0
        made = _made_length(expr, argument)
        if made is not None:
            self._charge(expr.name, argument.kind, made, times, fresh)
            return Value("string", made, fresh)
        self._charge(expr.name, argument.kind, argument.length, times, fresh)
        result = self.prices.result(expr.name, argument, expr.kind, fresh)
        if expr.name.startswith("__internal"):
            result = replace(result, distinct=argument.distinct, skew=argument.skew, ascending=argument.ascending)
        return result


def _made_length(expr: Expr, argument: Value) -> float | None:
    """Bytes that a function which makes text of a given size makes: ``repeat(s, 30)``, ``lpad(s, 100, ' ')``."""
    if expr.name not in ("repeat", "lpad", "rpad") or len(expr.args) < 2 or argument.kind != "string":
        return None
    number = expr.args[1].number
    if number is None:
        return None
    return float(max(number, 0)) * (argument.length if expr.name == "repeat" else 1.0)


def _subject(varying: list[Value]) -> Value:
    """The argument whose kind and length set the price: the first one that varies (``substr(s, 1, n)``: s)."""
    return varying[0] if varying else Value("integer")


def _lambda_inputs(argument: Value) -> tuple[Column, ...]:
    """A lambda's parameters: types come with the bound body, so an element of unknown kind is enough."""
    return (Column("", Value("integer")),) if argument.kind == "list" else ()
