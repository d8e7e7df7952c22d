"""A small typed expression tree, and the parser for expressions as the engine prints them in a profile.

The printed form is close to SQL and fully parenthesised (``((total * 2) > 100.00)``, ``"/"(CAST(#0 AS DOUBLE), 2)``,
``CASE  WHEN (c) THEN (x) ELSE y END``). The parser is forgiving on purpose: text that it does not understand becomes an ``unknown`` call
over whatever operands it saw, so that an odd expression is priced conservatively instead of raising.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from sql_optim_env.engines.duckdb.cost.kinds import Kind, kind_of

__all__ = ["COMPARISON", "COMPARISON_NAMES", "LITERAL", "UNKNOWN_CALL", "Expr", "leaves", "parse_expression"]

Op = Literal["column", "slot", "literal", "call", "cast", "case", "in", "and", "or", "lambda"]

COMPARISON: Final = "compare"
"""The one function name that stands for every comparison operator; their prices do not differ measurably."""
COMPARISON_NAMES: Final = frozenset({"=", "!=", "<>", "<", ">", "<=", ">=", "==", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})
UNKNOWN_CALL: Final = "?"


@dataclass(frozen=True, slots=True)
class Expr:
    """A node: ``name`` is a column, a function or empty; ``index`` a position in the input row; ``kind`` the type class when it is known.

    ``number`` is the value of an integer literal: the count of ``repeat`` and the width of ``lpad`` decide how long their result is.
    """

    op: Op
    name: str = ""
    args: tuple[Expr, ...] = ()
    kind: Kind | None = None
    index: int = -1
    number: int | None = None


LITERAL: Final = Expr("literal")


def leaves(expr: Expr) -> Iterator[Expr]:
    """All column and slot references below ``expr``, in order, with repeats."""
    if expr.op in ("column", "slot"):
        yield expr
    for arg in expr.args:
        yield from leaves(arg)


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*")
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<slot>\#\[?\d+(?:\.\d+)?\]?)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<symbol>::|<=>|<=|>=|!=|<>|\|\||!~~\*|~~\*|!~~|~~~|~~|!~|<<|>>|//|\*\*|->>|->|[-+*/%<>=&|^@!.:~;$?])
      | (?P<bracket>[()\[\]{},]))""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    "AND OR NOT IS NULL IN BETWEEN LIKE ILIKE DISTINCT FROM FILTER WHERE ASC DESC NULLS LAST FIRST ORDER BY OVER PARTITION "
    "ROWS RANGE GROUPS PRECEDING FOLLOWING UNBOUNDED CURRENT ROW EXCLUDE SIMILAR TO ESCAPE".split()
)
_WORDS_BEFORE_BRACKET = frozenset({"IN", "AND", "OR", "NOT", "WHERE", "OVER", "IS", "FROM", "BY", "FILTER"})
"""Keywords that stay keywords in front of an opening bracket; any other word there is a function name."""
_CASE_WORDS = frozenset({"WHEN", "THEN", "ELSE", "END"})


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            position += 1
            continue
        if match.lastgroup is not None:
            found.append((match.lastgroup, match.group(match.lastgroup)))
        position = match.end()
    return found


class _Parser:
    """Reads a sequence of operands and operators up to a closing bracket and combines it; printed expressions need no precedence."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.position += 1
        return token

    def sequence(self, stop: frozenset[str] = frozenset()) -> Expr:
        operands: list[Expr] = []
        operators: list[str] = []
        while True:
            group, text = self.peek()
            if group == "end" or (group == "bracket" and text in ")]},") or (group == "word" and text in stop):
                return _combine(operands, operators)
            if group == "symbol":
                self.take()
                if text == "::":
                    kind = kind_of(self._type(stop))
                    if operands and operands[-1].op != "literal":
                        operands[-1] = Expr("cast", args=(operands[-1],), kind=kind)
                else:
                    operators.append(text)
            elif group == "word" and text in _KEYWORDS and (self.peek(1) != ("bracket", "(") or text in _WORDS_BEFORE_BRACKET):
                self.take()
                if text == "NULL" and (not operators or operators[-1] not in ("IS", "NOT")):
                    operands.append(LITERAL)
                else:
                    operators.append(text)
            else:
                operands.append(self._operand(operands, operators))

    def arguments(self) -> tuple[Expr, ...]:
        """Everything up to the closing bracket (the opening one is taken already), split at commas."""
        found: list[Expr] = []
        while True:
            group, text = self.peek()
            if group == "end":
                return tuple(found)
            if group == "bracket" and text in ")]}":
                self.take()
                return tuple(found)
            if text == "," and group == "bracket":
                self.take()
                continue
            found.append(self.sequence())

    def _operand(self, before: list[Expr], operators: list[str]) -> Expr:
        group, text = self.take()
        if group in ("string", "number"):
            return Expr("literal", number=int(text)) if text.isdecimal() and len(text) < 19 else LITERAL
        if group == "slot":
            return Expr("slot", index=int(text.strip("#[]").rpartition(".")[2]))
        if group == "bracket":
            inner = self.arguments()
            if text == "(":
                return inner[0] if len(inner) == 1 else Expr("call", "tuple", inner)
            if text == "{":
                return Expr("call", "struct_pack", inner)
            if before and not operators:
                return Expr("call", "array_extract" if len(inner) == 1 else "array_slice", (before.pop(), *inner))
            return Expr("call", "list_value", inner)
        if text == "CASE":
            return self._case()
        if text in ("CAST", "TRY_CAST") and self.peek() == ("bracket", "("):
            return self._cast()
        if text == "lambda":
            return self._lambda()
        name = text.strip('"').replace('""', '"')
        if self.peek() == ("bracket", "("):
            self.take()
            return _call(name, self.arguments())
        return LITERAL if text in ("true", "false", "NULL") else Expr("column", name)

    def _case(self) -> Expr:
        parts: list[Expr] = []
        while True:
            group, text = self.peek()
            if group == "end" or text == "END":
                self.take()
                return Expr("case", args=tuple(parts))
            if group == "word" and text in _CASE_WORDS:
                self.take()
                continue
            before = self.position
            parts.append(self.sequence(_CASE_WORDS))
            if self.position == before:
                self.take()

    def _cast(self) -> Expr:
        self.take()
        inner = self.sequence(frozenset({"AS"}))
        self.take()
        kind = kind_of(self._type(frozenset()))
        while self.peek()[0] != "end" and self.take()[1] != ")":
            pass
        return inner if inner.op == "literal" else Expr("cast", args=(inner,), kind=kind)

    def _lambda(self) -> Expr:
        while self.peek()[0] != "end" and self.take()[1] != ":":
            pass
        return Expr("lambda", args=(self.sequence(),))

    def _type(self, stop: frozenset[str]) -> str:
        """A type name with its parameters: ``DECIMAL(12,2)``, ``INTEGER[]``, ``TIMESTAMP WITH TIME ZONE``."""
        text = ""
        while True:
            group, token = self.peek()
            if group == "word" and token not in stop and token not in ("AND", "OR") and token not in _CASE_WORDS:
                text += token + " "
                self.take()
            elif token == "(" and text.split(" ")[0] in ("DECIMAL", "STRUCT", "MAP", "ENUM", "VARCHAR", "UNION"):
                text = text.strip() + self._bracketed()
            elif token == "[" and text:
                text = text.strip() + self._bracketed()
            else:
                return text.strip()

    def _bracketed(self) -> str:
        text = ""
        depth = 0
        while True:
            group, token = self.take()
            text += token
            depth += (token in ("(", "[")) - (token in (")", "]"))
            if depth <= 0 or group == "end":
                return text


def _call(name: str, args: tuple[Expr, ...]) -> Expr:
    if name in COMPARISON_NAMES:
        name = COMPARISON
    elif name == "__between":
        name = "between"
    elif name in ("and", "or"):
        return Expr("and" if name == "and" else "or", args=args)
    elif name.startswith("!") and len(name) > 1 and not name.startswith("!__"):
        name = name[1:]
    return Expr("call", name, args)


def _combine(operands: list[Expr], operators: list[str]) -> Expr:
    args = tuple(operands)
    if not operators:
        if len(args) == 1:
            return args[0]
        return Expr("call", UNKNOWN_CALL, args) if args else LITERAL
    if "BETWEEN" in operators:
        return Expr("call", "between", args)
    if "AND" in operators or "OR" in operators:
        return Expr("or" if "OR" in operators else "and", args=args)
    if "IN" in operators:
        members = args[1].args if len(args) > 1 and args[1].op == "call" and args[1].name == "tuple" else args[1:]
        return Expr("in", args=(args[0] if args else LITERAL, *members))
    if "LIKE" in operators or "ILIKE" in operators:
        return Expr("call", "~~" if "LIKE" in operators else "~~*", args)
    if "IS" in operators:
        return Expr("call", COMPARISON if "FROM" in operators else "is_null", args)
    symbols = [operator for operator in operators if operator not in _KEYWORDS]
    if symbols:
        return args[0] if symbols == ["-"] and [arg.op for arg in args] == ["literal"] else _call(symbols[0], args)
    if "NOT" in operators:
        return Expr("call", "not", args)
    return args[0] if len(args) == 1 else Expr("call", UNKNOWN_CALL, args)


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Expr:
    """The tree of one printed expression. Never raises: nesting deeper than the interpreter's stack becomes an unknown call."""
    try:
        return _Parser(_tokens(text)).sequence()
    except RecursionError:
        return Expr("call", UNKNOWN_CALL)
