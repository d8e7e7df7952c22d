"""The contract every engine keeps: open a database, admit a statement, run it once, compare two captures, explain.

All of this runs inside a sandbox worker. Only the frozen records of this module travel back to the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "ColumnFacts", "Difference", "DifferenceKind", "Execution"]

DifferenceKind = Literal["equal", "columns", "types", "rows"]


@dataclass(frozen=True, slots=True)
class Column:
    """A result column: its name and the engine's own type string."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What there is to know about the values of a column, without looking at them. Shown values are such that JSON can hold them."""

    table: str
    column: str
    declared_type: str
    row_count: int
    null_count: int
    distinct_count: int
    """Distinct values, NULL apart, under the column's own collation."""
    minimum: str | int | float | None
    """In the engine's order (numbers before texts before BLOBs), NULL apart; None where there is no value."""
    maximum: str | int | float | None
    types: tuple[tuple[str, int], ...]
    """Rows of each storage class that occurs, NULL among them, sorted by name."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What one run of one statement did. Times come from a clock and vary; everything else is deterministic."""

    columns: tuple[Column, ...]
    row_count: int
    cost: int
    """Deterministic work: integer nanoseconds of the cost model (DuckDB), or pages (SQLite)."""
    cost_version: str
    """Engine version and weights version the cost belongs to; costs of different versions are never compared."""
    cpu_ms: float
    """Clock: CPU time of the worker process around the execution, milliseconds."""
    wall_ms: float
    """Clock: wall time around the execution, milliseconds."""
    hidden_work: bool
    """True when measured CPU time is far above what the cost explains (> 5x + 10 ms, minimum of three readings)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The verdict on two captures. ``missing`` rows are in the expected result only, ``extra`` rows in the submitted one only."""

    kind: DifferenceKind
    message: str
    """One sentence for the agent; empty when equal."""
    missing_count: int = 0
    extra_count: int = 0
    missing: tuple[tuple[str, ...], ...] = ()
    """At most five rows, each value rendered as text."""
    extra: tuple[tuple[str, ...], ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the two results are the same multiset of rows under the same names and types."""
        return self.kind == "equal"
