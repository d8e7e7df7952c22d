"""Connections: a database opened from bytes, hardened for its purpose, and a watch over what a statement uses while it runs.

A database is never opened from a file. On a file ``mmap`` and directly read overflow pages would hide reads from the page counter
(379 of 3,379 pages counted in one measured scan); on deserialised bytes every page is counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

import apsw

from sql_optim_env.engines.sqlite.bounded import replace_unbounded
from sql_optim_env.engines.sqlite.vfs import LOCKED_VFS, locked_vfs
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["HEAP_LIMIT", "MAX_SCRIPT_VALUE_BYTES", "MAX_VALUE_BYTES", "SMALL_HEAP_LIMIT", "Caps", "Purpose", "Watch", "open_database"]

Purpose = Literal["measure", "ddl", "scratch", "look", "script"]

HEAP_LIMIT: Final = 512 << 20
"""Bytes of memory that SQLite may hold in this process, open databases included (``sqlite3_hard_heap_limit64``: one for all)."""

SMALL_HEAP_LIMIT: Final = 128 << 20
"""The same while a look or a script is at work, whose databases are small. It ends what nothing else interrupts: preparing a statement
whose expressions double at every step.
"""

MAX_VALUE_BYTES: Final = 2_000_000
"""Longest text or BLOB. A single function call over longer values (``instr`` over 30 MB takes 6 s) would outrun every other bound."""

MAX_GROWTH_BYTES: Final = 64 << 20
"""Bytes by which a database may grow while it is open."""

MAX_SCRIPT_GROWTH_BYTES: Final = 8 << 20
"""Bytes by which a repairing script may make its (small) database grow."""

MAX_SCRIPT_VALUE_BYTES: Final = 100_000
"""Longest text or BLOB in looks and scripts, whose databases are small: at this length no single function call outlasts 0.1 s (at
:data:`MAX_VALUE_BYTES` ``instr`` takes minutes)."""

_WATCH_STEPS = 10_000
"""Steps of the virtual machine between two looks at the watch: a fraction of a millisecond."""

_LIMITS: Final = {
    apsw.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 100_000,  # bytes; the published limit is in characters and checked before
    apsw.SQLITE_LIMIT_COLUMN: 200,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 500,
    apsw.SQLITE_LIMIT_PARSER_DEPTH: 1_000,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    apsw.SQLITE_LIMIT_VDBE_OP: 250_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 100,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 20,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
}

_OFF: Final = (
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    apsw.SQLITE_DBCONFIG_DQS_DDL,
    apsw.SQLITE_DBCONFIG_DQS_DML,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
    apsw.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
    apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA,
)

_PRAGMAS: Final[dict[Purpose, tuple[str, ...]]] = {
    # Temporary data goes to (locked, in-memory) files, since only there the engine counts what a sorter spills, and only there it sorts
    # in runs: a sort of 230,000 rows takes twice as long with temp_store = 2. The size of the page cache decides when it spills, and could
    # otherwise come from the database.
    "measure": ("temp_store = 1", "cache_size = -2000", "query_only = 1"),
    "ddl": ("temp_store = 1",),
    "scratch": ("temp_store = 1", "cache_size = -2000"),
    "look": ("temp_store = 1", "cache_size = -2000", "query_only = 1"),
    "script": ("temp_store = 1", "cache_size = -2000"),
}


@dataclass(frozen=True, slots=True)
class Caps:
    """What one statement may use. Pages are not capped: they are the score."""

    max_vm_steps: int = 100_000_000
    """Instructions of the virtual machine: work on sorters, automatic indexes and materialised subqueries, which costs no page."""
    max_spill_bytes: int = 64 << 20
    """Bytes that sorters write to temporary storage."""
    max_rows: int = 100_000
    max_bytes: int = 32 << 20
    """Size of all values of a result."""
    deadline_s: float = 30.0
    """Wall seconds. A backstop for a single process: inside the sandbox the worker's kill is the real deadline."""


class Watch:
    """A progress handler that ends a statement beyond its caps, with the reason as the error."""

    def __init__(self, con: apsw.Connection, deadline_s: float) -> None:
        """Watch ``con`` from now on; until ``arm`` only the deadline counts."""
        self._con = con
        self._deadline_s = deadline_s
        self._ends = time.monotonic() + deadline_s
        self._caps: Caps | None = None
        self._looks = 0
        con.set_progress_handler(self._look, _WATCH_STEPS)

    def arm(self, caps: Caps) -> None:
        """Count steps and spilled bytes from here on."""
        self._caps, self._looks = caps, 0

    def check(self, vm_steps: int, spill_bytes: int) -> None:
        """Hold the figures of a statement against the deadline and the caps. Raises AgentError (TIMEOUT or OUT_OF_MEMORY).

        To be asked once more with the exact figures when the statement has ended: a single slow function call is not interrupted.
        """
        if time.monotonic() > self._ends:
            raise AgentError(ErrorCode.TIMEOUT, f"the statement was stopped: it did not finish within {self._deadline_s:g} s")
        caps = self._caps
        if caps is None:
            return
        if vm_steps > caps.max_vm_steps:
            raise AgentError(
                ErrorCode.TIMEOUT,
                f"the statement was stopped after {caps.max_vm_steps:,} steps of the engine's virtual machine: it does too much work that "
                "costs no page (temporary tables, sorting, recursion, nested loops)",
            )
        if spill_bytes > caps.max_spill_bytes:
            raise AgentError(ErrorCode.OUT_OF_MEMORY, f"the statement was stopped after its sorters spilled {caps.max_spill_bytes:,} bytes")

    def _look(self) -> bool:
        self._looks += 1
        # Before arm() nothing is counted that check() would look at.
        self.check(self._looks * _WATCH_STEPS, self._con.status(apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL)[0])
        return False


@contextmanager
def open_database(database: bytes, purpose: Purpose) -> Iterator[apsw.Connection]:
    """Open ``database``, the bytes of a database file, in memory; its schema is loaded, and what happens to it stays in memory.

    ``measure`` reads only; ``ddl`` writes, without views and triggers; ``scratch`` writes and has both. ``look`` reads only and ``script``
    writes, both with views, without triggers, with smaller values and with ``trim`` replaced (see :mod:`bounded`).

    Raises:
        InfraError: the bytes are not a database in rollback-journal mode.
    """
    locked_vfs()
    small = purpose in ("look", "script")
    apsw.hard_heap_limit(SMALL_HEAP_LIMIT if small else HEAP_LIMIT)
    con = apsw.Connection(":memory:", vfs=LOCKED_VFS, statementcachesize=0)
    try:
        con.enable_load_extension(False)
        for limit, value in _LIMITS.items():
            con.limit(limit, value)
        scratch = purpose == "scratch"
        if scratch:
            con.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)  # VACUUM attaches its own temporary database
        if small:
            con.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_SCRIPT_VALUE_BYTES)
            replace_unbounded(con)
        for option in _OFF:
            con.config(option, 0)
        con.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, int(scratch or small))
        con.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, int(scratch))
        con.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        try:
            con.deserialize("main", database)
            con.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            page_size, pages = con.pragma("page_size"), con.pragma("page_count")
            growth = MAX_SCRIPT_GROWTH_BYTES if small else MAX_GROWTH_BYTES
            con.pragma("max_page_count", int(pages) + growth // int(page_size))
            for pragma in _PRAGMAS[purpose]:
                con.execute(f"PRAGMA {pragma}").fetchall()
        except apsw.Error as error:
            raise InfraError(f"a database cannot be read: {type(error).__name__}") from error
        yield con
    finally:
        con.close()
