"""Two rules of thumb for audit episodes: the column with the most gaps, and rows that refer to something which is not on file."""

from __future__ import annotations

from collections.abc import Iterator

from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, TableSampleInfo

__all__ = ["audit_action"]


def audit_action(observation: SQLOptimObservation) -> SQLOptimAction:
    """The next action. Structure first, then one look that shows what the rule is about, then what follows from it."""
    if not observation.step_count:
        return SQLOptimAction(kind="query", sql="SELECT name, sql FROM sqlite_schema")
    return _mend(observation) if "fix" in observation.allowed_kinds else _name(observation)


def _name(observation: SQLOptimObservation) -> SQLOptimAction:
    """The column of the table in question that most rows have no value in."""
    if observation.step_count == 1:
        table = _in_question(observation)
        gaps = ", ".join(f'SUM("{column}" IS NULL) AS "{column}"' for column in table.columns)
        return SQLOptimAction(kind="query", sql=f'SELECT {gaps} FROM "{table.table}"')
    counts = observation.rows[0] if observation.rows else []
    gaps_of = {column.name: int(count or 0) for column, count in zip(observation.columns, counts, strict=True)}
    return SQLOptimAction(answer=max(gaps_of, key=gaps_of.__getitem__, default=""))


def _in_question(observation: SQLOptimObservation) -> TableSampleInfo:
    """The table that the task names first, or the first one."""
    places = {sample.table: observation.task_description.find(f"`{sample.table}`") for sample in observation.sample_rows}
    named = [sample for sample in observation.sample_rows if places[sample.table] >= 0]
    return min(named, key=lambda sample: places[sample.table], default=observation.sample_rows[0])


def _mend(observation: SQLOptimObservation) -> SQLOptimAction:
    """Remove the rows whose reference leads nowhere, where there are any."""
    strays = list(_strays(observation.sample_rows))
    look = " UNION ALL ".join(f"SELECT {place} AS place, COUNT(*) AS strays FROM {rows}" for place, rows in enumerate(strays))
    if not strays or observation.step_count not in (1, 2, 3):
        return SQLOptimAction()
    if observation.step_count == 2:
        place, count = max(observation.rows, key=lambda row: int(row[1]), default=(0, 0))
        return SQLOptimAction(kind="fix", sql=f"DELETE FROM {strays[place]}") if count else SQLOptimAction()
    return SQLOptimAction(kind="query", sql=look)


def _strays(samples: list[TableSampleInfo]) -> Iterator[str]:
    """``table WHERE …`` for each column of a table that has the name of the first column of a smaller one."""
    for child in samples:
        for parent in samples:
            key = parent.columns[0]
            if key in child.columns and parent.row_count < child.row_count:
                yield f'"{child.table}" WHERE "{key}" IS NOT NULL AND "{key}" NOT IN (SELECT "{key}" FROM "{parent.table}")'
