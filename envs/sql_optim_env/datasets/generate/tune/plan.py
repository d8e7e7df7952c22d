"""Which generated tasks there are, and what each of them is: a shape of data and a domain that it is set in.

A task's id is its dataset's name. A split's tasks are all pairs of a shape and one of the split's domains, each once; test has domains of
its own. Everything else about a task is drawn from dice that its id seeds, so that any of them can be made alone, in any process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from sql_optim_env.datasets.generate.domains import DOMAINS, Domain, GeneratedSplit

__all__ = ["COUNTS", "SHAPES", "GeneratedSplit", "Plan", "ShapeName", "make_plan", "plan_of", "task_name"]

ShapeName = Literal["fold", "columns", "page", "anti", "shared", "chasm", "hop", "ends"]

SHAPES: Final[tuple[ShapeName, ...]] = ("fold", "columns", "page", "anti", "shared", "chasm", "hop", "ends")

COUNTS: Final[dict[GeneratedSplit, int]] = {split: len(SHAPES) * len(domains) for split, domains in DOMAINS.items()}
"""Generated tasks in each split."""

_NAME: Final = re.compile(r"tune_g_(train|test)_([0-9]{4})")

_STRIDE: Final = 7
"""Shares no factor with a split's number of domains, so that each shape meets every domain; neighbours then differ in both."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One generated task before anything of it is made."""

    name: str
    split: GeneratedSplit
    index: int
    """0-based, among the split's generated tasks."""
    shape: ShapeName
    domain: Domain

    def dice(self, purpose: str) -> Random:
        """Dice for one purpose: the same draws every time, and independent of the draws for another."""
        return Random(f"tune-generated:{self.split}:{self.index}:{purpose}")


def task_name(split: GeneratedSplit, index: int) -> str:
    """The id of a generated task, which is also its dataset's name."""
    return f"tune_g_{split}_{index:04d}"


def make_plan(split: GeneratedSplit, index: int) -> Plan:
    """The plan of a split's task. Raises IndexError outside the split."""
    if not 0 <= index < COUNTS[split]:
        raise IndexError(f"{split} has {COUNTS[split]} generated tasks")
    lap, place = divmod(index, len(SHAPES))
    domains = DOMAINS[split]
    return Plan(task_name(split, index), split, index, SHAPES[place], domains[(lap * _STRIDE + place * 3) % len(domains)])


def plan_of(name: str) -> Plan | None:
    """The plan of the task of that name; None when no generated task has it."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    split: GeneratedSplit = "train" if found[1] == "train" else "test"
    return make_plan(split, int(found[2])) if int(found[2]) < COUNTS[split] else None
