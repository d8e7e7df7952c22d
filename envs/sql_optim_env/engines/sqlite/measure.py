"""Measuring one query on one database: its rows, and every page that the engine asked for.

*Pages* are logical reads: cache hits plus cache misses of the database's own pages (``SQLITE_DBSTATUS_CACHE_HIT`` and ``_MISS``). The sum
is the same in every process, whatever the size of the cache; pages of temporary tables and sorters are not in it, which is why steps of the
virtual machine and spilled bytes are capped beside it.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import apsw

from sql_optim_env.engines.base import Execution
from sql_optim_env.engines.sqlite.admission import admit
from sql_optim_env.engines.sqlite.capture import Capture, Value
from sql_optim_env.engines.sqlite.connection import Caps, Watch, open_database
from sql_optim_env.engines.sqlite.explain import plan_text
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.sqlite.statement import authorized
from sql_optim_env.engines.sqlite.version import engine_version
from sql_optim_env.engines.sqlite.vfs import locked_vfs
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["Counters", "Run", "measure"]

_COUNTED = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)

_PROFILER_READINGS = 2
"""How often the engine itself asks for the time while it counts a statement's steps: when it begins and when it has ended."""


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of one query. All but the two times is deterministic."""

    capture: Capture
    pages: int
    """Logical reads: cache hits plus cache misses."""
    vm_steps: int
    """Instructions of the virtual machine (``SQLITE_STMTSTATUS_VM_STEP``)."""
    spill_bytes: int
    """Bytes that sorters wrote to temporary storage (``SQLITE_DBSTATUS_TEMPBUF_SPILL``)."""
    plan: str
    """``EXPLAIN QUERY PLAN`` as an indented tree."""
    cpu_ms: float
    """Clock: CPU milliseconds of the process around the execution."""
    wall_ms: float
    """Clock: wall milliseconds around the execution."""

    def execution(self) -> Execution:
        """Return the same as the record that all engines share; its cost is ``pages``."""
        return Execution(
            columns=self.capture.columns,
            row_count=self.capture.row_count,
            cost=self.pages,
            cost_version=engine_version(),
            cpu_ms=self.cpu_ms,
            wall_ms=self.wall_ms,
            hidden_work=False,
        )


class Counters:
    """The counters of a connection. Prepare the statement first: loading the schema costs pages once."""

    def __init__(self, con: apsw.Connection) -> None:
        """Set all counters to zero."""
        self._con = con
        self.vm_steps = 0
        """Steps of the last statement that has ended."""
        for counter in (*_COUNTED, apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL):
            con.status(counter, True)
        con.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._profile)

    def _profile(self, event: dict[str, Any]) -> None:
        self.vm_steps = event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    @property
    def pages(self) -> int:
        """Pages asked for since the start."""
        return sum(self._con.status(counter)[0] for counter in _COUNTED)

    @property
    def spill_bytes(self) -> int:
        """Bytes that sorters wrote to temporary storage since the start."""
        return self._con.status(apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL)[0]


def measure(database: bytes, sql: str, *, tables: Collection[str], caps: Caps | None = None) -> Run:
    """Run ``sql`` on a new connection to ``database`` (the bytes of a database file) and count what it asks for.

    Args:
        database: a whole database file in rollback-journal mode; it is not changed.
        sql: exactly one SELECT over ``tables``, run as it stands.
        tables: names of the tables that it may read.
        caps: what it may use besides pages.

    Raises:
        AgentError: the query is refused (see ``admission.admit``), fails, reads the clock, or exceeds a cap (TIMEOUT for steps and the
            deadline, OUT_OF_MEMORY for spill, RESULT_TOO_LARGE for rows).
        InfraError: the bytes are not a database.
    """
    caps = caps or Caps()
    with open_database(database, "measure") as con:
        watch = Watch(con, caps.deadline_s)
        clock = locked_vfs().clock_readings
        with authorized(con, admit(con, sql, tables)):
            plan = plan_text(con, sql)
            watch.arm(caps)
            counters = Counters(con)
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                capture = _fetch(con, sql, caps)
            except ENGINE_ERRORS as error:
                raise agent_error(error, preparing=False) from error
            cpu_ms, wall_ms = (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3
        watch.check(counters.vm_steps, counters.spill_bytes)
        if locked_vfs().clock_readings != clock + _PROFILER_READINGS:
            raise AgentError(
                ErrorCode.REFUSED_FUNCTION, "the statement reads the clock ('now', current_date, …) and results must not change with time"
            )
        return Run(capture, counters.pages, counters.vm_steps, counters.spill_bytes, plan, cpu_ms, wall_ms)


def _fetch(con: apsw.Connection, sql: str, caps: Caps) -> Capture:
    names: tuple[str, ...] = ()

    def trace(cursor: apsw.Cursor, text: str, bindings: Any) -> bool:
        nonlocal names
        # Once the last row is fetched (of an empty result: at once) the names are gone.
        if cursor.has_vdbe:
            names = tuple(column[0] for column in cursor.get_description())
        return True

    rows: list[tuple[Value, ...]] = []
    size = 0
    con.exec_trace = trace
    try:
        row: Any
        for row in con.execute(sql):
            size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
            if len(rows) == caps.max_rows or size > caps.max_bytes:
                raise AgentError(
                    ErrorCode.RESULT_TOO_LARGE,
                    f"the result is larger than {caps.max_rows:,} rows or {caps.max_bytes:,} bytes; return fewer rows",
                )
            rows.append(row)
    finally:
        con.exec_trace = None
    return Capture(names, tuple(rows))
