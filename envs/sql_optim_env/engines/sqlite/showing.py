"""Fetching a result for show: its first rows as JSON can hold them, and how many rows there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import apsw

from sql_optim_env.engines.sqlite.capture import STORAGE_CLASSES, Value
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["MAX_SHOWN", "MAX_TEXT", "JsonValue", "ShownRows", "fetch_shown"]

JsonValue = str | int | float | None
"""A shown value; what JSON cannot hold exactly (BLOBs, wide integers, infinities) is text."""

MAX_TEXT: Final = 1_000
"""Longest text of one shown value, in characters."""

MAX_SHOWN: Final = 128 << 10
"""Characters of all shown values together; rows beyond are left out."""

_EXACT_INTEGERS: Final = 1 << 53
"""JSON numbers are doubles to most readers: beyond this, integers are not exact."""


@dataclass(frozen=True, slots=True)
class ShownRows:
    """A result as it is shown."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Storage classes of each column's shown values, NULL apart: ``INTEGER``, ``INTEGER/TEXT``, or ``NULL`` where there is no other."""
    rows: tuple[tuple[JsonValue, ...], ...]
    """The first rows."""
    row_count: int
    """Rows of the whole result, shown or not."""

    @property
    def truncated(self) -> bool:
        """Whether rows were left out."""
        return len(self.rows) < self.row_count


def fetch_shown(con: apsw.Connection, sql: str, max_rows: int, *, limit: int | None = None) -> ShownRows:
    """Run ``sql``, exactly one statement, and show at most its first ``max_rows`` rows.

    Raises what the engine raises, and AgentError (RESULT_TOO_LARGE) for a result of more than ``limit`` rows.
    """
    columns: tuple[str, ...] = ()

    def trace(cursor: apsw.Cursor, text: str, bindings: Any) -> bool:
        nonlocal columns
        # Once the last row is fetched (of an empty result: at once) the names are gone.
        if cursor.has_vdbe:
            columns = tuple(column[0] for column in cursor.get_description())
        return True

    shown: list[tuple[JsonValue, ...]] = []
    kinds: list[tuple[type, ...]] = []
    count, left = 0, MAX_SHOWN
    con.exec_trace = trace
    try:
        row: Any
        for row in con.execute(sql):
            if count == limit:
                raise AgentError(ErrorCode.RESULT_TOO_LARGE, f"the result has more than {limit:,} rows; count, group or add a LIMIT")
            if count == len(shown) < max_rows:
                values = tuple(_json_value(value) for value in row)
                left -= sum(len(value) if isinstance(value, str) else 20 for value in values)
                if left >= 0:
                    shown.append(values)
                    kinds.append(tuple(map(type, row)))
            count += 1
    finally:
        con.exec_trace = None
    classes = ({STORAGE_CLASSES[row[index]] for row in kinds} - {"NULL"} for index in range(len(columns)))
    return ShownRows(columns, tuple("/".join(sorted(found)) or "NULL" for found in classes), tuple(shown), count)


def _json_value(value: Value) -> JsonValue:
    if isinstance(value, int):
        return value if abs(value) <= _EXACT_INTEGERS else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        value = f"x'{value[:MAX_TEXT].hex()}'"
    return value if value is None or len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…"
