"""Rows of a result as values that JSON can hold: exactly, or as text."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence

import pyarrow as pa

from sql_optim_env.grading.evidence import JsonValue

__all__ = ["MAX_TEXT", "json_rows"]

MAX_TEXT = 1_000
"""Longest text of one value, in characters; what is longer is cut and says so."""

_EXACT_INTEGERS = 1 << 53
"""JSON numbers are doubles to most readers: beyond this, integers are not exact."""


def json_rows(table: pa.Table) -> tuple[tuple[JsonValue, ...], ...]:
    """Return the rows of ``table``. NULL is None; decimals, dates, wide integers, non-finite floats, lists, … are text."""
    columns = [[_value(value) for value in column.to_pylist()] for column in table.columns]
    return tuple(zip(*columns, strict=True)) if columns else ()


def _value(value: object) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT_INTEGERS else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _clip(_text(value))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping | Sequence):
        return json.dumps(value, default=_text, ensure_ascii=False)
    return str(value)


def _clip(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    kept = MAX_TEXT - 40
    return f"{text[:kept]}… [{len(text) - kept:,} characters left out]"
