"""Plain measurements of an audit episode: what its looks read, what its fix did to each database, whether its checks could have failed."""

from __future__ import annotations

from dataclasses import dataclass

from sql_optim_env.engines.base import Column, ColumnFacts
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.evidence import JsonValue
from sql_optim_env.tasks.audit.scenario import Variant

__all__ = ["AuditBrief", "AuditEvidence", "ColumnFacts", "FixResult", "Look", "Reads", "RepairFacts", "Shown", "TableChange", "TableSample"]


@dataclass(frozen=True, slots=True)
class TableSample:
    """A table as the agent is shown it: its columns and its first five rows in rowid order."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int


@dataclass(frozen=True, slots=True)
class AuditBrief:
    """What an episode opens with: the broken database's DDL with row counts, and samples."""

    schema_info: str
    samples: tuple[TableSample, ...]


@dataclass(frozen=True, slots=True)
class Reads:
    """What a statement did while it was prepared and run, as the engine's authorizer and counters saw it. Names are lower case."""

    columns: frozenset[tuple[str, str]]
    """(table, column) pairs of the database's own tables whose values it read."""
    structures: frozenset[str]
    """Tables whose structure it read: named in a PRAGMA, or ``*`` for the schema table itself. Only when a row came back."""
    vm_steps: int
    """Instructions of the virtual machine."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows of a look, as the agent is shown them."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Look:
    """One exploring action that ran, on the broken database."""

    shown: Shown
    reads: Reads
    sql: str
    """What was run; for a profile the query that it stands for."""
    repaired: Shown | None = None
    """The same on a copy with the standing fix applied; None before there is one, or when it fails there."""
    repaired_error: str = ""
    """Why it failed on that copy."""
    broken_error: str = ""
    """Why it could not run on the broken database, where it names what only the fix has made; ``shown`` is empty then, and ``reads`` are
    those of the copy.
    """


@dataclass(frozen=True, slots=True)
class TableChange:
    """What a fix did to one table of the public database, counted in whole rows as multisets."""

    table: str
    before: int | None
    """Rows before; None for a table that the fix made."""
    after: int | None
    """Rows after; None for a table that is gone."""
    added: int
    """Rows that are there and were not there like this before."""
    removed: int
    """Rows that are not there any more like this."""


@dataclass(frozen=True, slots=True)
class RepairFacts:
    """What a fix left behind on one database, held against the truth."""

    variant: Variant
    error_code: ErrorCode | None
    """Set when the fix failed or was refused on this database; the other figures are then those of the broken database."""
    target_present: bool
    target_rows: int
    good_total: int
    """Good rows of the target."""
    good_kept: int
    defects: int
    """Rows that a repair has to mend or remove."""
    mended: int
    surplus: int
    """Rows of the target that are neither good nor repaired nor a defect that was left as it was."""
    others_total: int
    """Good rows of all tables but the target."""
    others_kept: int
    others_surplus: int
    """Rows that were added to those tables or changed in them."""
    declared: bool
    """Whether every column that must be declared with a certain type is."""
    others_emptied: int = 0
    """Tables but the target that held good rows, and are gone or hold no row any more."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """What one fix did on a fresh copy of the public database. ``facts`` stays on the server but for the level that follows from it."""

    changes: tuple[TableChange, ...]
    facts: RepairFacts
    statements: int
    shown: Shown | None = None
    """Rows of the script's last SELECT, if it holds one."""


@dataclass(frozen=True, slots=True)
class AuditEvidence:
    """What grading needs beside the episode's own record."""

    facts: tuple[RepairFacts, ...]
    """The standing fix on every variant, ``base`` first; empty without a fix."""
    checks: tuple[bool, ...]
    """For each look after the fix: whether its shown result differs between the broken and the rightly repaired public database."""
    table_rows: int
    """Rows of the defective table in the broken public database."""
    engine_version: str
