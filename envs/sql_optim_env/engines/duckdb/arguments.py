"""Admitted functions whose work depends on the value of an argument, and the arguments with which they are admitted.

A generator such as ``range(300000000)`` does unbounded work inside one row, where neither the cost model nor an interrupt reaches it.
Such functions are admitted with small constants only, unless the task's own query uses them in another way
(``AdmissionPolicy.generator_functions``). Expressions are nodes of the engine's parse tree (``json_serialize_sql``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sql_optim_env.engines.duckdb.functions import ALLOWED_AGGREGATES

__all__ = ["GENERATORS", "MAX_GENERATED", "MAX_WIDTH", "Node", "fixed_argument_refusal", "generator_refusal"]

Node = Mapping[str, Any]

MAX_GENERATED = 10_000
"""Elements that one constant range may have; a year of hours is 8,784."""
MAX_WIDTH = 1_000
"""Characters, bits, copies or list elements that one constant padding or repetition may ask for."""

_SECONDS = {
    "microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "week": 604_800.0,
    "month": 28 * 86_400.0, "quarter": 89 * 86_400.0, "year": 365 * 86_400.0, "decade": 3_652 * 86_400.0, "centurie": 36_524 * 86_400.0,
    "century": 36_524 * 86_400.0, "millennia": 365_242 * 86_400.0, "millennium": 365_242 * 86_400.0,
}  # fmt: skip
"""Shortest length of a unit, so that a count computed from it is never too small."""

_INTERVAL_TEXT = re.compile(r"\s*([+-]?\d{1,9})\s*([a-z]+?)s?\s*", re.IGNORECASE)
_INTEGER_TEXT = re.compile(r"[+-]?[0-9][0-9_]{0,30}")
_TIME_TYPES = frozenset({"date", "timestamp", "datetime", "timestamptz", "timestamp with time zone"})
_LONG_NUMBER = re.compile(r"\d{4,}")


def _literal(node: Node) -> tuple[str, str] | None:
    """Kind and text of a literal, or None."""
    if node.get("class") != "CONSTANT":
        return None
    literal = node["literal"]
    return literal["kind"], literal["text"]


def _cast_type(node: Node) -> str:
    return str(node["type_expr"].get("type_name", "")).lower()


def _integer(node: Node) -> int | None:
    """The value of an integer literal, also behind the casts that the parser puts around the number of an INTERVAL."""
    while True:
        if node.get("class") == "CAST":
            node = node["child"]
        elif node.get("class") == "FUNCTION" and node["function_name"] == "trunc" and len(node["arguments"]) == 1:
            node = node["arguments"][0]["expression"]
        else:
            break
    literal = _literal(node)
    if literal is None or literal[0] not in ("INTEGER", "STRING") or not _INTEGER_TEXT.fullmatch(literal[1]):
        return None
    return int(literal[1])


def _moment(node: Node) -> float | None:
    """Seconds of a DATE or TIMESTAMP literal since an arbitrary fixed moment."""
    if node.get("class") != "CAST" or _cast_type(node) not in _TIME_TYPES:
        return None
    literal = _literal(node["child"])
    if literal is None or literal[0] != "STRING":
        return None
    try:
        moment = datetime.fromisoformat(literal[1].strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=None) - datetime(2000, 1, 1)).total_seconds()


def _interval(node: Node) -> float | None:
    """Shortest length in seconds of an INTERVAL literal."""
    if node.get("class") == "CAST" and _cast_type(node) == "interval":
        literal = _literal(node["child"])
        match = _INTERVAL_TEXT.fullmatch(literal[1]) if literal is not None and literal[0] == "STRING" else None
        if match is None:
            return None
        unit = _SECONDS.get(match[2].lower())
        return None if unit is None else int(match[1]) * unit
    if node.get("class") == "FUNCTION" and str(node["function_name"]).startswith("to_") and len(node["arguments"]) == 1:
        unit = _SECONDS.get(str(node["function_name"])[3:].removesuffix("s"))
        count = _integer(node["arguments"][0]["expression"])
        return None if unit is None or count is None else count * unit
    return None


def _generated(arguments: Sequence[Node]) -> float | None:
    """How many elements range or generate_series makes at most, or None when that is not written in the statement."""
    integers = [_integer(argument) for argument in arguments]
    if 1 <= len(integers) <= 3 and all(value is not None for value in integers):
        start, stop, step = ([0, *integers, 1] if len(integers) == 1 else [*integers, 1])[:3]
        assert start is not None and stop is not None and step is not None
        return math.inf if step == 0 else abs(stop - start) / abs(step) + 1
    if len(arguments) == 3:
        first, last, length = _moment(arguments[0]), _moment(arguments[1]), _interval(arguments[2])
        if first is not None and last is not None and length is not None:
            return math.inf if length == 0 else abs(last - first) / abs(length) + 1
    return None


def _range_refusal(arguments: Sequence[Node]) -> str | None:
    count = _generated(arguments)
    if count is not None and count <= MAX_GENERATED:
        return None
    return f"its bounds must be written as constants and make at most {MAX_GENERATED:,} elements"


def _size_refusal(position: int, limit: int, *, optional: bool = False) -> Callable[[Sequence[Node]], str | None]:
    """A rule: the argument at ``position`` must be an integer literal between 0 and ``limit``."""

    def rule(arguments: Sequence[Node]) -> str | None:
        if optional and len(arguments) <= position:
            return None
        size = _integer(arguments[position]) if len(arguments) > position else None
        if size is not None and size <= limit:
            return None
        return f"argument {position + 1} must be a constant of at most {limit:,}"

    return rule


def _format_refusal(arguments: Sequence[Node]) -> str | None:
    literal = _literal(arguments[0]) if arguments else None
    if literal is None or literal[0] != "STRING":
        return "its format must be a constant text"
    text = literal[1]
    if _LONG_NUMBER.search(text) or "*" in text or re.search(r"\{[^}]*\{", text.replace("{{", "")):
        return "its format may only have widths and precisions below 1,000 that are written in the text"
    return None


def _never(_: Sequence[Node]) -> str:
    return "its work depends on the values, not on the number of rows"


GENERATORS: Mapping[str, Callable[[Sequence[Node]], str | None]] = MappingProxyType(
    {
        "approx_top_k": _size_refusal(1, MAX_WIDTH),
        "array_resize": _size_refusal(1, MAX_WIDTH),
        "bar": _size_refusal(3, MAX_WIDTH, optional=True),
        "bitstring": _size_refusal(1, MAX_WIDTH),
        "bitstring_agg": _never,
        "equi_width_bins": _size_refusal(2, MAX_WIDTH),
        "format": _format_refusal,
        "generate_series": _range_refusal,
        "list_resize": _size_refusal(1, MAX_WIDTH),
        "lpad": _size_refusal(1, MAX_WIDTH),
        "printf": _format_refusal,
        "range": _range_refusal,
        "repeat": _size_refusal(1, MAX_WIDTH),
        "rpad": _size_refusal(1, MAX_WIDTH),
    }
)
"""Functions that can make unbounded work from few rows, each with the rule that its arguments must keep."""


def generator_refusal(name: str, arguments: Sequence[Node], *, plain: bool) -> str | None:
    """Why a call of the generator ``name`` (lower case) is refused, or None when it is admitted or no generator.

    ``plain`` says that the call is written ``name(a, b)``: in the forms ``a.name(b)`` and ``name(x := a)`` the positions are not known.
    """
    rule = GENERATORS.get(name)
    if rule is None:
        return None
    if not plain:
        return f"it must be called in the plain form {name}(...), without a dot and without named arguments"
    return rule(arguments)


def fixed_argument_refusal(name: str, arguments: Sequence[Node], *, plain: bool) -> str | None:
    """Why a call is refused whatever the task's query does, or None: hidden clocks, and functions that are named by a value."""
    if name == "age" and (not plain or len(arguments) != 2):
        return "with one argument it reads the clock; write age(timestamp, timestamp)"
    if name in ("list_aggr", "list_aggregate", "array_aggr", "array_aggregate", "aggregate"):
        literal = _literal(arguments[1]) if plain and len(arguments) > 1 else None
        named = literal[1].lower() if literal is not None and literal[0] == "STRING" else None
        if named is None or named not in ALLOWED_AGGREGATES or named in GENERATORS:
            return "its second argument must be a constant text that names an admitted aggregate, such as 'sum'"
    return None
