"""Attempts to do work where the cost model does not look, and what stops each: refused, caught by the CPU guard, or paid for.

They take the way of every submission: admission, the read-only database with its settings, the price, the guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from sql_optim_env.engines.duckdb.admission import policy_for
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.guard import guard
from sql_optim_env.engines.duckdb.database import Database, Pricing
from sql_optim_env.errors import AgentError

__all__ = ["ATTEMPTS", "COVERED_FACTOR", "COVERED_SLACK_MS", "Attempt", "HiddenWork", "false_trips", "measure_hidden_work", "try_attempt"]

COVERED_FACTOR: Final = 3.5
"""CPU time up to this many times the cost is paid for: no honest statement may be further off (nineteen of twenty are within 2)."""
COVERED_SLACK_MS: Final = 1.0
"""Milliseconds on top, for planning, which the cost leaves out."""
READINGS: Final = 3
MAX_ROWS: Final = 1_000_000
MAX_BYTES: Final = 192 << 20

Stopped = Literal["refused", "guarded", "paid", "missed"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to hide work in a statement over the shop dataset, and what it relies on."""

    name: str
    why: str
    sql: str


def _read() -> Iterator[Attempt]:
    for title, statements in read_sections("hidden_work"):
        name, _, why = title.partition(": ")
        yield Attempt(name, why, statements[0])


ATTEMPTS: Final = tuple(_read())
"""Statements for the public instance of the shop dataset."""


@dataclass(frozen=True, slots=True)
class HiddenWork:
    """What became of one attempt. Times and cost are 0 where it was refused; ``missed`` is the one verdict that must not occur."""

    name: str
    why: str
    verdict: Stopped
    cpu_ms: float
    cost_ns: int

    @property
    def under_priced(self) -> float:
        """CPU time over cost."""
        return self.cpu_ms * 1e6 / max(self.cost_ns, 1)


def try_attempt(database: Database, attempt: Attempt, tables: Iterable[str]) -> HiddenWork:
    """Submit one attempt for a task whose own query is a plain one."""
    try:
        statement = database.admit(attempt.sql, policy_for("SELECT 1", tables))
        runs = [database.run(statement, max_rows=MAX_ROWS, max_bytes=MAX_BYTES).execution]
        if not runs[0].hidden_work:
            runs += [database.run(statement, max_rows=MAX_ROWS, max_bytes=MAX_BYTES).execution for _ in range(READINGS - 1)]
    except AgentError:
        return HiddenWork(attempt.name, attempt.why, "refused", 0.0, 0)
    cpu_ms, cost = min(run.cpu_ms for run in runs), runs[0].cost
    verdict: Stopped = "missed"
    if any(run.hidden_work for run in runs):
        verdict = "guarded"
    elif cpu_ms <= COVERED_FACTOR * cost / 1e6 + COVERED_SLACK_MS:
        verdict = "paid"
    return HiddenWork(attempt.name, attempt.why, verdict, round(cpu_ms, 3), cost)


def measure_hidden_work(path: Path, card: Card, temp_dir: Path, model: Pricing | None = None) -> list[HiddenWork]:
    """Submit every attempt to an instance of the shop dataset, the most under-priced first. ``model``: the packaged one by default."""
    with Database(path, temp_dir=temp_dir, card=card, cost_model=model) as database:
        found = [try_attempt(database, attempt, card.tables) for attempt in ATTEMPTS]
    return sorted(found, key=lambda item: -item.under_priced)


def false_trips(measurements: Iterable[Measurement], costs: Sequence[float]) -> list[tuple[str, float]]:
    """Honest statements on which the guard would trip, taking the minimum of three consecutive readings: (sql, ratio to the limit)."""
    found: list[tuple[str, float]] = []
    for item, cost in zip(measurements, costs, strict=True):
        for start in range(0, len(item.cpu) - 2):
            cpu_ms = min(item.cpu[start : start + 3]) * 1e3
            if guard(cpu_ms, round(cost)):
                found.append((item.statement.sql, cpu_ms * 1e6 / cost))
                break
    return found
