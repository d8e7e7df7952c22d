"""A table while its content is made: columns, rows as the agent meets them, and the row that each of them ought to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from sql_optim_env.tasks.audit.draws import PlainColumn, create_table, unchanged
from sql_optim_env.tasks.audit.scenario import Content, Row, TableTruth

__all__ = ["Mended", "Table", "content_of"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its rows, all columns, in the order of insertion."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names with their declared types and column constraints."""
    rows: tuple[Row, ...]
    constraints: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(name for name, _ in self.columns)

    def ddl(self) -> str:
        """Its ``CREATE TABLE`` statement."""
        return create_table(self.name, self.columns, *self.constraints)


@dataclass(frozen=True, slots=True)
class Mended:
    """A table with a defect, and what each of its rows must become."""

    table: Table
    right: tuple[Row | None, ...]
    """For each row the right one, the same where nothing is wrong with it; None for a row that has to go."""
    missing: tuple[Row, ...] = ()
    """Rows that a repair has to add."""

    def widened(self, extra: PlainColumn, dice: Random) -> Mended:
        """The same with one more column, somewhere behind the first; a row that a repair adds has no value there."""
        at = dice.randrange(1, len(self.table.columns) + 1)
        cells = [extra.cell(dice) for _ in self.table.rows]
        columns = (*self.table.columns[:at], (extra.name, extra.declared), *self.table.columns[at:])
        rows = tuple((*row[:at], cell, *row[at:]) for row, cell in zip(self.table.rows, cells, strict=True))
        right = tuple(row and (*row[:at], cell, *row[at:]) for row, cell in zip(self.right, cells, strict=True))
        missing = tuple((*row[:at], None, *row[at:]) for row in self.missing)
        return Mended(replace(self.table, columns=columns, rows=rows), right, missing)

    def truth(self) -> TableTruth:
        """What the repair must leave behind, over all columns."""
        pairs = tuple(zip(self.table.rows, self.right, strict=True))
        mended = tuple((right,) for row, right in pairs if right is not None and right != row)
        return TableTruth(
            table=self.table.name,
            columns=self.table.names,
            good=tuple(row for row, right in pairs if right == row),
            repaired=mended + tuple((row,) for row in self.missing),
            removable=sum(right is None for _, right in pairs),
        )


def content_of(tables: Iterable[Table | Mended], target: str) -> Content:
    """A database of these tables, in the order of their creation; the truth of ``target`` comes first."""
    parts: Sequence[Table | Mended] = tuple(tables)
    plain = [part if isinstance(part, Table) else part.table for part in parts]
    truths = [part.truth() if isinstance(part, Mended) else unchanged(part.name, part.names, part.rows) for part in parts]
    return Content(
        ddl=tuple(table.ddl() for table in plain),
        rows={table.name: table.rows for table in plain},
        truth=tuple(sorted(truths, key=lambda truth: truth.table != target)),
    )
