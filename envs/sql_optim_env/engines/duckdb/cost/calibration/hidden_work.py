"""Attempts to do work where the cost model does not look, and how much of each it misses.

Every refit measures and reports them. Each attempt must be stopped:
refused at admission, or caught by the CPU guard, or priced within the guard's factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.corpus import PUBLIC
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement, measure
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.guard import guard
from sql_optim_env.engines.duckdb.cost.model import CostModel

__all__ = ["ATTEMPTS", "HiddenWork", "attempt_statements", "false_trips", "measure_hidden_work"]

ATTEMPTS: Final[Mapping[str, str]] = {name: statements[0] for name, statements in read_sections("hidden_work")}
"""Name → statement, for the public instance of the shop dataset."""


@dataclass(frozen=True, slots=True)
class HiddenWork:
    """One attempt: what it took and what was predicted (ns), and whether the guard trips."""

    name: str
    cpu_ms: float
    cost_ns: int
    guarded: bool

    @property
    def under_priced(self) -> float:
        """CPU time of execution over cost."""
        return self.cpu_ms * 1e6 / max(self.cost_ns, 1)


def attempt_statements() -> list[Statement]:
    """The attempts as statements to measure."""
    return [Statement(PUBLIC, "hidden_work", name, sql) for name, sql in ATTEMPTS.items()]


def judge(measurement: Measurement, model: CostModel, card: Card) -> HiddenWork:
    """Compare one measured statement with its cost."""
    cost = model.cost(measurement.profile, measurement.plan, card)
    cpu_ms = min(measurement.cpu[:3]) * 1e3
    return HiddenWork(measurement.statement.template, round(cpu_ms, 3), cost, guard(cpu_ms, cost))


def measure_hidden_work(database: Path, model: CostModel, card: Card, passes: int = 3) -> list[HiddenWork]:
    """Run every attempt and report them, worst under-pricing first. Attempts over the measuring deadline are left out."""
    measured = measure({PUBLIC: database}, attempt_statements(), passes)
    return sorted((judge(item, model, card) for item in measured), key=lambda item: -item.under_priced)


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
