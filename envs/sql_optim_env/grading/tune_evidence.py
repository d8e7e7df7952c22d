"""Plain measurements of one tune submission: the pages it asked for on each instance, next to the original's and the reference's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sql_optim_env.engines.base import Column, Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.evidence import JsonValue

__all__ = ["ScratchResult", "TuneEvidence", "TuneMeasurement"]


@dataclass(frozen=True, slots=True)
class TuneMeasurement:
    """One submission on one instance. Pages count on ``public`` and ``twin`` only; equality counts on every role."""

    instance: str
    role: Literal["public", "twin", "edge"]
    difference: Difference
    original_pages: int
    reference_pages: int
    submitted_pages: int
    vm_steps: int
    spill_bytes: int

    @property
    def scored(self) -> bool:
        """Whether pages mean something here: the instance is large enough."""
        return self.role in ("public", "twin")


@dataclass(frozen=True, slots=True)
class TuneEvidence:
    """All that one submission showed, in the order it was measured; ends with the first instance that differed.

    ``error_code`` is set when a DDL item or the query was refused or failed; the message never holds data of a hidden instance.
    """

    engine_version: str
    measurements: tuple[TuneMeasurement, ...]
    plan: str = ""
    row_count: int | None = None
    wall_ms: float = 0.0
    """Clock: wall milliseconds of the query on the public instance."""
    error_code: ErrorCode | None = None
    error_message: str = ""
    ddl_error_index: int | None = None
    """0-based position of the DDL item that was refused or failed."""

    @property
    def equal(self) -> bool:
        """Whether the result was right on every instance that a verdict needs."""
        return self.error_code is None and bool(self.measurements) and all(m.difference.equal for m in self.measurements)


@dataclass(frozen=True, slots=True)
class ScratchResult:
    """What one statement on the agent's own copy did."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int
    truncated: bool
    logical_reads: int
    vm_steps: int
    changed: bool
    """Whether the copy is another one now."""
    wall_ms: float
    """Clock: wall milliseconds of the statement."""
