"""What a model is told of an episode: the opening once, then what each action led to."""

from __future__ import annotations

import json
from typing import Any

from sql_optim_env.models import SQLOptimObservation

__all__ = ["correction_text", "opening_text", "turn_text"]

MAX_TURN_CHARS = 8_000
"""Longest text about one action: the newest turn must always have room."""

_MAX_FIELD_CHARS = 4_000
_MAX_CELL_CHARS = 200
_MAX_SAMPLES_CHARS = 8_000
_MAX_SCHEMA_CHARS = 30_000

_STATIC = frozenset(
    {
        "allowed_kinds",
        "dialect",
        "difficulty",
        "done",
        "explorations_left",
        "family",
        "fixes_left",
        "history",
        "instructions",
        "max_steps",
        "metadata",
        "reward_breakdown",
        "sample_rows",
        "schema_info",
        "sql_query",
        "step_count",
        "submissions_left",
        "task_description",
        "task_id",
        "task_name",
    }
)
"""Fields of an observation that the opening or the line about what is left tells, or that tell nothing of the last action."""


def opening_text(observation: SQLOptimObservation) -> str:
    """The instructions, the task, its query, its schema and first rows, and how much may be tried."""
    sections = [
        observation.instructions,
        f"# Task: {observation.task_name}\n{observation.task_description}",
        f"# sql_query ({observation.dialect})\n{observation.sql_query}" if observation.sql_query else "",
        f"# schema_info\n{_cut(observation.schema_info, _MAX_SCHEMA_CHARS)}" if observation.schema_info else "",
        f"# First rows\n{_samples(observation)}" if observation.sample_rows else "",
        f"{_budget(observation)} Your first action, as one JSON object:",
    ]
    return "\n\n".join(section.strip() for section in sections if section)


def turn_text(observation: SQLOptimObservation) -> str:
    """What the last action led to: every field that is set, longest texts and results cut short."""
    fields = {name: value for name, value in observation.model_dump(mode="json", exclude_defaults=True).items() if name not in _STATIC}
    lines = [_field(name, value) for name, value in fields.items()]
    return f"{_cut(chr(10).join(lines), MAX_TURN_CHARS)}\n\n{_budget(observation)} Your next action, as one JSON object:"


def correction_text(reason: str) -> str:
    """What a model is told whose reply held no valid action."""
    return f"That was no valid action, so nothing was done. {reason} Answer again with exactly one JSON object as the instructions show it."


def _budget(observation: SQLOptimObservation) -> str:
    left = [f"submissions left: {observation.submissions_left}", f"explorations left: {observation.explorations_left}"]
    if "fix" in observation.allowed_kinds:
        left.append(f"fixes left: {observation.fixes_left}")
    return "; ".join(left).capitalize() + "."


def _field(name: str, value: Any) -> str:
    if name == "rows":
        return f"rows:\n{_cut(_rows(value), _MAX_FIELD_CHARS)}"
    if name == "columns":
        return f"columns: {', '.join(column['name'] + ' ' + column['type'] for column in value)}"
    if name == "error":
        return f"error: {value['code']}: {value['message']}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{name}:{chr(10) if chr(10) in text else ' '}{_cut(text, _MAX_FIELD_CHARS)}"


def _rows(rows: list[list[Any]]) -> str:
    return "\n".join(json.dumps([_cell(value) for value in row], ensure_ascii=False) for row in rows)


def _cell(value: Any) -> Any:
    return f"{value[:_MAX_CELL_CHARS]}..." if isinstance(value, str) and len(value) > _MAX_CELL_CHARS else value


def _samples(observation: SQLOptimObservation) -> str:
    tables = [f"{sample.table} ({', '.join(sample.columns)}):\n{_rows(sample.rows)}" for sample in observation.sample_rows]
    return _cut("\n".join(tables), _MAX_SAMPLES_CHARS)


def _cut(text: str, limit: int) -> str:
    """The text within the limit, if it can be by whole lines."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rsplit("\n", 1)[0]
    return f"{kept}\n[{len(text) - len(kept):,} more characters left out]"
