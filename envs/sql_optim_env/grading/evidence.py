"""Plain measurements that grading reads: what a submission did on each instance, next to what the original and the reference did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sql_optim_env.engines.base import Column, Difference, Execution
from sql_optim_env.errors import ErrorCode

__all__ = ["ExplainResult", "InstanceMeasurement", "JsonValue", "Measure", "QueryResult", "RewriteEvidence", "Role"]

JsonValue = str | int | float | bool | None
"""A shown value. Whatever JSON cannot hold exactly (decimals, dates, wide integers, lists) is text."""

Role = Literal["public", "twin", "adversarial", "edge"]
Measure = Literal["cost", "time"]


@dataclass(frozen=True, slots=True)
class InstanceMeasurement:
    """One submission on one instance. Cost and time count on ``public`` and ``twin`` only; equality counts on every role."""

    instance: str
    role: Role
    difference: Difference
    original_cost: int
    reference_cost: int
    submitted_cost: int
    original_ms: float
    """Clock: CPU milliseconds."""
    reference_ms: float
    """Clock: CPU milliseconds."""
    submitted_ms: float
    """Clock: CPU milliseconds."""
    hidden_work: bool

    @property
    def scored(self) -> bool:
        """Whether cost means something here: the instance is large enough."""
        return self.role in ("public", "twin")


@dataclass(frozen=True, slots=True)
class RewriteEvidence:
    """All that running one submission showed.

    ``measurements`` are in the order they were taken and end with the first instance that differed. ``error_code`` is set when the
    statement was refused or failed; the message never holds data of a hidden instance.
    """

    measure: Measure
    cost_version: str
    measurements: tuple[InstanceMeasurement, ...]
    plan: str = ""
    row_count: int | None = None
    wall_ms: float = 0.0
    """Clock: wall milliseconds of the submission on the public instance."""
    error_code: ErrorCode | None = None
    error_message: str = ""

    @property
    def equal(self) -> bool:
        """Whether the result was right on every instance that a verdict needs."""
        return self.error_code is None and bool(self.measurements) and all(m.difference.equal for m in self.measurements)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What an exploring ``query`` shows: the first rows of a result on the public instance, and what the whole of it cost."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int
    """Rows of the whole result, shown or not."""
    truncated: bool
    """Whether rows were left out."""
    execution: Execution


@dataclass(frozen=True, slots=True)
class ExplainResult:
    """A plan as text, deterministic and without times, and the run behind its measured rows (None: it was only planned)."""

    plan: str
    execution: Execution | None
