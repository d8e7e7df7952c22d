"""An instance: one database, named by what it is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Instance", "Role"]

Role = Literal["public", "twin", "adversarial", "edge"]


@dataclass(frozen=True, slots=True)
class Instance:
    """What a generator needs to make one database, and nothing else.

    Two equal instances are the same database: every field goes into the content hash under which the store keeps the file.
    """

    dataset: str
    name: str
    role: Role
    seed: int
    profile: str
    """Which of the dataset's shapes this is (its size, or the hazards it holds)."""
    payload: str = ""
    """Canonical JSON of further input; for ``edge`` instances the literals they are built around."""
