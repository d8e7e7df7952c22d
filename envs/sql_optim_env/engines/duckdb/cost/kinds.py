"""What the cost model knows about a value: its kind, its average length and how often it repeats.

A *kind* stands for a class of engine types that cost about the same to move and to compute on. Kinds are part of the keys of the weights
file (``md5|string``), so renaming one is a new weights version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

__all__ = ["CONSTANT", "FIXED_WIDTH", "UNKNOWN", "Column", "Kind", "Value", "kind_of", "row_width"]

Kind = Literal["integer", "float", "decimal", "huge", "time", "string", "list", "constant", "unknown"]

FIXED_WIDTH: Final[dict[Kind, int]] = {
    "integer": 5,
    "float": 8,
    "decimal": 8,
    "huge": 16,
    "time": 8,
    "string": 16,
    "list": 16,
    "constant": 4,
    "unknown": 8,
}
"""Bytes a value takes in a vector. Integers are narrow on average (the optimizer shrinks keys); strings and lists count their 16-byte
entry only."""

INLINE_STRING: Final = 12
"""Strings up to this many bytes live inside their 16-byte entry (duckdb's ``string_t``)."""

_LIST_PREFIXES = ("LIST", "ARRAY", "MAP", "STRUCT", "UNION", "VARIANT")
_STRING_PREFIXES = ("VARCHAR", "BLOB", "CHAR", "BIT", "TEXT", "STRING", "JSON")
_HUGE_PREFIXES = ("HUGEINT", "UHUGEINT", "UUID", "INTERVAL", "BIGNUM")
_TIME_PREFIXES = ("TIMESTAMP", "DATE", "TIME")


@dataclass(frozen=True, slots=True)
class Value:
    """Statistics of a column or an expression.

    ``length`` is bytes for strings and elements for lists, 0 otherwise. ``fresh`` is the fraction of rows for which a function of this
    value has to be evaluated: below 1 when the engine keeps a dictionary and computes once per entry. ``distinct`` and ``skew`` are those
    of the stored column (0 and 1 where none is known), see ``ColumnCard``. ``ascending``: rows arrive in the order of this value.
    """

    kind: Kind
    length: float = 0.0
    fresh: float = 1.0
    distinct: int = 0
    skew: float = 1.0
    ascending: bool = False

    def flat(self) -> Value:
        """The same value after an operator that copies rows and so loses the dictionary and the order."""
        return self if self.fresh == 1.0 and not self.ascending else replace(self, fresh=1.0, ascending=False)

    def unordered(self) -> Value:
        """The same value where rows arrive in the order of something else."""
        return replace(self, ascending=False) if self.ascending else self


CONSTANT: Final = Value("constant", 6.0)
UNKNOWN: Final = Value("unknown", 12.0)


@dataclass(frozen=True, slots=True)
class Column:
    """One output column of an operator. ``name`` is what the engine prints for it, empty when it only has a position."""

    name: str
    value: Value


def kind_of(type_name: str) -> Kind:
    """The kind of an engine type string such as ``DECIMAL(12,2)`` or ``INTEGER[]``; unknown names count as integers, the cheapest
    storage."""
    name = type_name.strip().strip('"').upper()
    if "[" in name or name.startswith(_LIST_PREFIXES):
        return "list"
    if name.startswith(_STRING_PREFIXES):
        return "string"
    if name.startswith(("DOUBLE", "FLOAT", "REAL")):
        return "float"
    if name.startswith("DECIMAL"):
        width = re.search(r"\d+", name)
        return "huge" if width and int(width.group()) > 18 else "decimal"
    if name.startswith(_HUGE_PREFIXES):
        return "huge"
    if name.startswith(_TIME_PREFIXES):
        return "time"
    return "integer"


def row_width(columns: tuple[Column, ...]) -> float:
    """Average bytes of one row of these columns, string bodies and list elements included."""
    width = 0.0
    for column in columns:
        value = column.value
        width += FIXED_WIDTH[value.kind]
        if value.kind == "string" and value.length > INLINE_STRING:
            width += value.length
        elif value.kind == "list":
            width += 8 * value.length
    return width
