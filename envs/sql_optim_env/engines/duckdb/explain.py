"""A plan as text: an indented tree of operators with estimated and measured rows; no times, no paths, bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["MAX_PLAN_LENGTH", "plan_text"]

MAX_PLAN_LENGTH = 16_384
"""Longest plan text in characters; what is beyond is left out, and the text says so."""

_MAX_DETAIL = 300
_HIDDEN_OPERATORS = frozenset({"RESULT_COLLECTOR", "EXPLAIN_ANALYZE"})
# Ids and layout say nothing to a reader; the estimate has a place of its own.
_HIDDEN_DETAILS = frozenset({"Estimated Cardinality", "Table Index", "Order Mode", "Type", "__order__"})


def _detail(name: str, value: Any) -> str:
    text = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
    if name == "Table":
        # catalogue.schema.table: the catalogue is the instance's file name.
        text = text.rpartition(".")[2]
    text = " ".join(text.split())
    return f"{name}: {text if len(text) <= _MAX_DETAIL else text[: _MAX_DETAIL - 1] + '…'}"


def _line(operator: Mapping[str, Any]) -> str:
    details: Mapping[str, Any] = operator.get("extra_info") or {}
    rows = []
    estimate = str(details.get("Estimated Cardinality", ""))
    if estimate.isdecimal():
        rows.append(f"estimated {int(estimate):,}")
    if "intermediate_rows" in operator:
        rows.append(f"actual {int(operator['intermediate_rows']):,}")
    scanned = operator.get("rows_scanned")
    if scanned:
        rows.append(f"scanned {int(scanned):,}")
    shown = [_detail(name, value) for name, value in details.items() if name not in _HIDDEN_DETAILS and value not in ("", [])]
    head = str(operator.get("name", "")).strip()
    return head + (f" [rows: {', '.join(rows)}]" if rows else "") + (f" ({'; '.join(shown)})" if shown else "")


def plan_text(operators: Sequence[Mapping[str, Any]]) -> str:
    """The tree of ``operators`` (of the engine's profile or of EXPLAIN in JSON), one operator a line, children indented by two spaces."""
    lines: list[str] = []
    length = 0
    stack: list[tuple[Mapping[str, Any], int]] = [(operator, 0) for operator in reversed(operators)]
    while stack:
        operator, depth = stack.pop()
        below = depth
        if operator.get("name") not in _HIDDEN_OPERATORS:
            line = "  " * min(depth, 40) + _line(operator)
            if length + len(line) + 1 > MAX_PLAN_LENGTH - 50:
                lines.append(f"… ({len(stack) + 1} more branches are left out)")
                break
            lines.append(line)
            length += len(line) + 1
            below = depth + 1
        stack.extend((child, below) for child in reversed(operator.get("children") or ()))
    return "\n".join(lines)
