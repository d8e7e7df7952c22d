"""Measure statements the way the product runs them: one thread, result read through Arrow, process CPU time net of planning.

CPU time and not wall time, because other processes share the machine; the minimum over several interleaved passes, because even CPU time
grows when a neighbour fills the caches.
"""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb

from sql_optim_env.engines.duckdb.cost.weights import SETTINGS

__all__ = ["Measurement", "Statement", "connect", "measure", "profile_of", "serialized_plan"]

BATCH_ROWS: Final = 100_000
"""Rows of an Arrow batch, as in the product's capture."""
DEADLINE_S: Final = 30.0
"""A statement that runs longer is dropped from the calibration: it would weigh more than hundreds of others."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement to measure. ``template`` groups statements that must be held out together."""

    database: str
    family: str
    template: str
    sql: str


@dataclass(slots=True)
class Measurement:
    """All readings of one statement. Times are seconds."""

    statement: Statement
    profile: dict[str, Any]
    plan: dict[str, Any] | None
    cpu: list[float] = field(default_factory=list)
    """Process CPU time of every pass, planning included: what a guard reads."""
    net: float = float("inf")
    """Least CPU time of a pass without its planning."""
    operators: list[float] = field(default_factory=list)
    """Least time of each operator, in pre-order, by the engine's clock."""

    @property
    def target_ns(self) -> float:
        """What the cost should be."""
        return max(self.net, 1e-6) * 1e9


def connect(path: Path | str, *, read_only: bool = True) -> duckdb.DuckDBPyConnection:
    """A connection with the settings that weights are fitted with."""
    con = duckdb.connect(str(path), read_only=read_only, config={"threads": 1})
    for name, value in SETTINGS.items():
        con.execute(f"SET {name} = '{value}'")
    con.execute("SET enable_progress_bar = false")
    con.execute("PRAGMA enable_profiling = 'no_output'")
    return con


def serialized_plan(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any] | None:
    """The optimised logical plan of a statement, None when the engine cannot serialise it."""
    try:
        rows = con.execute("SELECT json_serialize_plan(?, skip_null := true, skip_empty := true, optimize := true)", [sql]).fetchall()
        plan: dict[str, Any] = json.loads(rows[0][0])
    except (duckdb.Error, ValueError):
        # The engine answers with an empty text where a BIT constant is in the plan.
        return None
    return None if plan.get("error") else plan


def profile_of(con: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The profile of the connection's last statement."""
    profile: dict[str, Any] = json.loads(con.get_profiling_information("json"))
    return profile


@contextmanager
def _deadline(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    timer = threading.Timer(DEADLINE_S, con.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _take_timings(profile: Mapping[str, Any]) -> list[float]:
    """Operator times in pre-order; they are removed from the profile, which is deterministic without them."""
    found: list[float] = []

    def visit(node: dict[str, Any]) -> None:
        found.append(float(node.pop("timing", 0.0)))
        for child in node.get("children") or ():
            visit(child)

    for root in profile.get("operator") or ():
        visit(root)
    return found


def _run(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[float, float, dict[str, Any]]:
    """CPU time, wall time, profile."""
    relation = con.sql(sql)
    wall, cpu = time.perf_counter(), time.process_time()
    relation.to_arrow_reader(BATCH_ROWS).read_all()
    return time.process_time() - cpu, time.perf_counter() - wall, profile_of(con)


def _pass(con: duckdb.DuckDBPyConnection, statement: Statement, known: Measurement | None) -> Measurement:
    plan = serialized_plan(con, statement.sql) if known is None else known.plan
    cpu, wall, profile = _run(con, statement.sql)
    timings = _take_timings(profile)
    planning = sum(float((profile.get(part) or {}).get("total_time") or 0.0) for part in ("planner", "optimizer", "physical_planner"))
    if known is None:
        known = Measurement(statement, profile, plan, operators=timings)
    known.cpu.append(cpu)
    # The engine times planning by the wall clock, which a busy machine stretches; it gets its share of the CPU time instead.
    known.net = min(known.net, cpu * max(1.0 - planning / wall, 0.0))
    if len(timings) == len(known.operators):
        known.operators = [min(old, new) for old, new in zip(known.operators, timings, strict=True)]
    return known


def measure(
    databases: Mapping[str, Path],
    statements: Sequence[Statement],
    passes: int,
    progress: Callable[[str], None] | None = None,
) -> list[Measurement]:
    """Run every statement once a pass, pass after pass. Statements that fail or take too long are left out."""
    found: dict[Statement, Measurement] = {}
    failed: set[Statement] = set()
    gc_was_on = gc.isenabled()
    gc.disable()
    # Connections live as long as the measurement: the first statement that touches an index loads it, which is no part of any query.
    connections = {database: connect(path) for database, path in databases.items()}
    try:
        for number in range(passes):
            for database, con in connections.items():
                for statement in statements:
                    if statement.database != database or statement in failed:
                        continue
                    try:
                        with _deadline(con):
                            found[statement] = _pass(con, statement, found.get(statement))
                    except duckdb.Error as error:
                        failed.add(statement)
                        found.pop(statement, None)
                        if progress is not None:
                            progress(f"left out: {type(error).__name__} {statement.sql[:90]}")
            if progress is not None:
                progress(f"pass {number + 1} of {passes}: {len(found)} statements, {len(failed)} left out")
    finally:
        for con in connections.values():
            con.close()
        if gc_was_on:
            gc.enable()
    return [found[statement] for statement in _unique(statements) if statement in found]


def _unique(statements: Iterable[Statement]) -> list[Statement]:
    return list(dict.fromkeys(statements))
