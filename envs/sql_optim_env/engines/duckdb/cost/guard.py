"""The guard against work that the cost model cannot see (inside one list, one string, one lazy branch, or in planning)."""

from __future__ import annotations

from typing import Final

__all__ = ["GUARD_FACTOR", "GUARD_SLACK_MS", "guard", "guard_limit_ms"]

GUARD_FACTOR: Final = 5.0
"""Measured CPU time may be this many times the cost. Over 4,545 honest held-out triples of readings the worst ratio was 3.5."""
GUARD_SLACK_MS: Final = 10.0
"""Milliseconds on top, for planning and for short queries; between the two settings (5 ms and 20 ms) that never tripped on honest
queries."""


def guard(cpu_ms: float, cost_ns: int) -> bool:
    """Whether a statement hides work: ``cpu_ms`` > 5 x cost + 10 ms.

    ``cpu_ms`` must be process CPU time (never wall clock, never the engine's ``cpu_time``) of the worker around the execution, and the
    minimum of three readings once a first one is over the line. A single reading does trip on honest queries when the machine is busy.
    """
    return cpu_ms > guard_limit_ms(cost_ns)


def guard_limit_ms(cost_ns: int) -> float:
    """CPU milliseconds above which a statement of this cost hides work."""
    return GUARD_FACTOR * cost_ns / 1e6 + GUARD_SLACK_MS
