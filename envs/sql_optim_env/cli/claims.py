"""What a check says: one claim at a time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a task claims, whether it holds, and what was seen."""

    name: str
    holds: bool
    seen: str
    clock: bool = False
    """Whether a clock decided it: such a claim may fail on a busy machine."""
