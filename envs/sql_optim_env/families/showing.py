"""Keeps what an observation shows small: long values are clipped, wide results lose rows, and both are said."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sql_optim_env.grading.evidence import JsonValue

__all__ = ["MAX_ROWS_BYTES", "MAX_TEXT", "MAX_VALUE", "clip", "fit_rows"]

MAX_TEXT = 20_000
"""Longest plan, feedback or message shown, in characters."""

MAX_VALUE = 1_000
"""Longest single value shown, in characters."""

MAX_ROWS_BYTES = 64 * 1024
"""Most bytes of JSON that the shown rows may take; an observation as a whole stays under 256 KiB."""


def clip(text: str, limit: int = MAX_TEXT) -> str:
    """``text`` cut to ``limit`` characters, and saying so."""
    if len(text) <= limit:
        return text
    note = f"… [{len(text) - limit:,} characters left out]"
    return text[:limit] + note


def fit_rows(rows: Sequence[Sequence[JsonValue]]) -> tuple[list[list[JsonValue]], bool]:
    """As many leading rows as fit, with long values clipped, and whether any row was left out."""
    shown: list[list[JsonValue]] = []
    room = MAX_ROWS_BYTES
    for row in rows:
        values = [clip(value, MAX_VALUE) if isinstance(value, str) else value for value in row]
        room -= len(json.dumps(values))
        if room < 0:
            return shown, True
        shown.append(values)
    return shown, False
