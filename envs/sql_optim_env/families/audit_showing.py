"""What an audit episode shows: looks on both databases, profiles, what a fix changed, samples and a history of short lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sql_optim_env.engines.base import Column
from sql_optim_env.errors import AgentError
from sql_optim_env.families.showing import clip, fit_rows
from sql_optim_env.grading.audit_evidence import AuditBrief, ColumnFacts, FixResult, Look, Shown, TableChange
from sql_optim_env.grading.evidence import JsonValue
from sql_optim_env.models import (
    ColumnInfo,
    ColumnProfile,
    HistoryEntry,
    RepairedResult,
    SQLOptimAction,
    TableChangeInfo,
    TableSampleInfo,
)

__all__ = ["MAX_COLUMNS", "MAX_LINE", "fix_fields", "history_entry", "look_fields", "one_line", "profile_fields", "samples"]

MAX_LINE: Final = 200
"""Longest line of a history entry, in characters."""

MAX_COLUMNS: Final = 100
"""Most columns of a result that are shown."""

_MAX_NAME: Final = 200
_MAX_SAMPLE: Final = 100
"""Longest sample value shown, in characters: samples stand in every observation."""
_MAX_CHANGES: Final = 100


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """``text`` on one line of at most ``limit`` characters; a longer one ends in an ellipsis."""
    # A statement may be as long as a message; its first words are enough.
    line = " ".join(text[: 20 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def samples(brief: AuditBrief) -> list[TableSampleInfo]:
    """The first rows of every table."""
    return [
        TableSampleInfo(
            table=sample.table,
            columns=list(sample.columns),
            rows=[[one_line(value, _MAX_SAMPLE) if isinstance(value, str) else value for value in row] for row in sample.rows],
            row_count=sample.row_count,
        )
        for sample in brief.samples
    ]


def look_fields(look: Look) -> dict[str, Any]:
    """The observation's fields that a query fills."""
    told = _counted(look.shown)
    if look.broken_error:
        told = f"It fails on the broken database ({clip(look.broken_error, 2_000)})."
    fields: dict[str, Any] = {**_rows_fields(look.shown), "feedback": told}
    if look.repaired is not None:
        fields["repaired"] = RepairedResult(**_rows_fields(look.repaired))
        fields["feedback"] += f" On a copy with your fix: {_counted(look.repaired)}"
    elif look.repaired_error:
        fields["repaired"] = RepairedResult(error=clip(look.repaired_error, 2_000))
        fields["feedback"] += " It failed on a copy with your fix."
    return fields


def profile_fields(facts: ColumnFacts, look: Look) -> dict[str, Any]:
    """The observation's fields that a profile fills; its rows are those of the query that it stands for."""
    rate = facts.null_count / facts.row_count if facts.row_count else 0.0
    shown = ColumnProfile(
        table=facts.table,
        column=facts.column,
        declared_type=clip(facts.declared_type, _MAX_NAME),
        row_count=facts.row_count,
        null_count=facts.null_count,
        null_rate=round(rate, 6),
        distinct_count=facts.distinct_count,
        minimum=_short(facts.minimum),
        maximum=_short(facts.maximum),
        types=dict(facts.types),
    )
    where = f"It fails on the broken database ({clip(look.broken_error, 2_000)}). On a copy with your fix: " if look.broken_error else ""
    return {**look_fields(look), "profile": shown, "feedback": f"{where}{_profiled(shown)} It stands for: {clip(look.sql, 2_000)}"}


def fix_fields(result: FixResult) -> dict[str, Any]:
    """The observation's fields that a fix fills. What it is worth is not among them."""
    fields: dict[str, Any] = _rows_fields(result.shown) if result.shown is not None else {}
    changes = [_change(change) for change in result.changes[:_MAX_CHANGES]]
    told = "; ".join(map(_changed, changes)) or "no table was changed"
    text = f"The script ran ({_count(result.statements, 'statement')}) on a fresh copy, and it stands now: {told}."
    return {**fields, "changes": changes, "feedback": clip(text, 4_000)}


def history_entry(step: int, action: SQLOptimAction, error: AgentError | None, fields: dict[str, Any], score: float | None) -> HistoryEntry:
    """One line for what was done, one for what came of it."""
    if error is not None and score is None:
        outcome = f"{error.code.value}: {error.message}"
    elif score is not None:
        outcome = f"score {score:g}"
    elif "profile" in fields:
        outcome = _profiled(fields["profile"])
    elif "changes" in fields:
        outcome = str(fields["feedback"])
    else:
        outcome = _previewed(fields)
    return HistoryEntry(step=step, kind=action.kind, action=one_line(_said(action)), outcome=one_line(outcome))


def _said(action: SQLOptimAction) -> str:
    if action.kind == "profile":
        return f"{action.table}.{action.column}"
    if action.kind != "submit":
        return action.sql
    handed_in = {name: getattr(action, name)[:MAX_LINE] for name in ("answer", "root_cause_table", "offending_key")}
    return ", ".join(f"{name}={value}" for name, value in handed_in.items() if value)


def _previewed(fields: dict[str, Any]) -> str:
    # A result without columns is that of a statement that runs on the repaired copy alone.
    text = f"{_count(fields['row_count'], 'row')} {_start_of(fields['rows'])}" if fields["columns"] else "fails on the broken database;"
    repaired: RepairedResult | None = fields.get("repaired")
    if repaired is None:
        return text
    # Half a line each, so that both databases are seen.
    after = repaired.error or f"{_count(repaired.row_count or 0, 'row')} {_start_of(repaired.rows)}"
    return f"{one_line(text, MAX_LINE // 2 - 8)} repaired: {one_line(after, MAX_LINE // 2 - 8)}"


def _start_of(rows: Iterable[Sequence[Any]]) -> str:
    parts: list[str] = []
    for row in rows:
        parts.append(json.dumps(row[:MAX_COLUMNS], ensure_ascii=False)[:MAX_LINE])
        if sum(map(len, parts)) > MAX_LINE:
            break
    return " ".join(parts)


def _rows_fields(shown: Shown) -> dict[str, Any]:
    rows, left_out = fit_rows([row[:MAX_COLUMNS] for row in shown.rows])
    return {
        "columns": [_column(column) for column in shown.columns[:MAX_COLUMNS]],
        "rows": rows,
        "row_count": shown.row_count,
        "truncated": shown.truncated or left_out or len(shown.columns) > MAX_COLUMNS,
    }


def _column(column: Column) -> ColumnInfo:
    return ColumnInfo(name=clip(column.name, _MAX_NAME), type=column.type)


def _counted(shown: Shown) -> str:
    wide = f", the first {MAX_COLUMNS} of {len(shown.columns):,} columns" if len(shown.columns) > MAX_COLUMNS else ""
    return f"{_count(shown.row_count, 'row')}, {len(shown.rows):,} shown{wide}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _profiled(profile: ColumnProfile) -> str:
    types = ", ".join(f"{count:,} {name}" for name, count in profile.types.items()) or "no rows"
    return (
        f"{profile.null_count:,} of {profile.row_count:,} NULL ({100 * profile.null_rate:.1f} %), {profile.distinct_count:,} distinct,"
        f" from {_brief(profile.minimum)} to {_brief(profile.maximum)}; stored as {types}."
    )


def _brief(value: JsonValue) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), 40)


def _short(value: JsonValue) -> JsonValue:
    return clip(value, _MAX_NAME) if isinstance(value, str) else value


def _change(change: TableChange) -> TableChangeInfo:
    return TableChangeInfo(
        table=clip(change.table, _MAX_NAME),
        rows_before=change.before,
        rows_after=change.after,
        rows_added=change.added,
        rows_removed=change.removed,
    )


def _changed(change: TableChangeInfo) -> str:
    if change.rows_after is None:
        return f"{change.table} is gone"
    if change.rows_before is None:
        return f"{change.table} is new with {_count(change.rows_after, 'row')}"
    return f"{change.table} has {_count(change.rows_after, 'row')} ({change.rows_added:,} added, {change.rows_removed:,} removed)"
