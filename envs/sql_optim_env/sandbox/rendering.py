"""Rows of a result as values that JSON can hold: exactly, or as the engine's own text."""

from __future__ import annotations

import math
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from sql_optim_env.engines.base import Column
from sql_optim_env.grading.evidence import JsonValue

__all__ = ["MAX_TEXT", "Renderer"]

MAX_TEXT = 1_000
"""Longest text of one value, in characters; what is longer is cut and says so."""

_JSON_TYPES = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE", "VARCHAR"}
)
_EXACT_INTEGERS = 1 << 53
"""JSON numbers are doubles to most readers: beyond this, integers are not exact."""


class Renderer:
    """An in-memory engine that turns captured rows into JSON values. One thread at a time; reusable."""

    def __init__(self) -> None:
        # The engine alone knows all of its types: in Arrow a HUGEINT, the type of every integer sum, is a string of bytes.
        self._con = duckdb.connect(config={"threads": 1, "async_threads": 0, "python_enable_replacements": False})
        self._con.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        """Release the engine."""
        self._con.close()

    def rows(self, columns: Sequence[Column], table: pa.Table) -> tuple[tuple[JsonValue, ...], ...]:
        """Return the rows of ``table``, whose columns are c0, c1, … of the types in ``columns``.

        NULL is None. Decimals, dates, wide integers, non-finite floats, lists, … are text.
        """
        shown = ", ".join(f"c{n}" if column.type in _JSON_TYPES else f"CAST(c{n} AS VARCHAR)" for n, column in enumerate(columns))
        self._con.register("shown", table)
        try:
            found = self._con.execute(f"SELECT {shown} FROM shown").fetchall()
        finally:
            self._con.unregister("shown")
        return tuple(tuple(_value(value) for value in row) for row in found)


def _value(value: bool | int | float | str | None) -> JsonValue:
    if isinstance(value, str):
        return _clip(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > _EXACT_INTEGERS:
        return str(value)
    return value


def _clip(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    kept = MAX_TEXT - 40
    return f"{text[:kept]}… [{len(text) - kept:,} characters left out]"
