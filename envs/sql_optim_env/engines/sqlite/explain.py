"""A plan as text: the rows of ``EXPLAIN QUERY PLAN`` as an indented tree, bounded in length."""

from __future__ import annotations

from typing import Any, Final

import apsw

__all__ = ["MAX_PLAN_LENGTH", "plan_text"]

MAX_PLAN_LENGTH: Final = 16_384
"""Longest plan text in characters; what is beyond is left out, and the text says so."""

_MAX_LINE = 500


def plan_text(con: apsw.Connection, sql: str) -> str:
    """Return the plan of ``sql``, one step a line, steps of a step indented by two spaces. The statement is planned, not run.

    Raises what preparing raises, so prepare it first.
    """
    depths: dict[int, int] = {0: -1}
    lines: list[str] = []
    left = MAX_PLAN_LENGTH - 100
    rows: list[Any] = con.execute(sql, explain=2).fetchall()
    for position, (step, parent, _, detail) in enumerate(rows):
        depths[int(step)] = depth = depths.get(int(parent), -1) + 1
        text = " ".join(str(detail).split())
        line = "  " * min(depth, 40) + (text if len(text) <= _MAX_LINE else text[: _MAX_LINE - 1] + "…")
        left -= len(line) + 1
        if left < 0:
            lines.append(f"… ({len(rows) - position} more lines are left out)")
            break
        lines.append(line)
    return "\n".join(lines)
