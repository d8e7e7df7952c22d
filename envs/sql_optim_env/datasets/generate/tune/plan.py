"""Which generated tasks there are, and what each of them is: a shape of data and a domain that it is set in.

A task's id is its dataset's name. A split's tasks are all pairs of a shape and one of the split's domains, each once; test has domains of
its own. Everything else about a task is drawn from dice that its id seeds, so that any of them can be made alone, in any process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final, Literal

from sql_optim_env.datasets.generate.tune import domains_test, domains_train_1, domains_train_2
from sql_optim_env.datasets.generate.tune.domain import Domain

__all__ = ["COUNTS", "SHAPES", "Plan", "ShapeName", "plan_of", "task_name"]

ShapeName = Literal["fold", "columns", "page", "anti", "shared", "chasm", "hop", "ends"]

SHAPES: Final[tuple[ShapeName, ...]] = ("fold", "columns", "page", "anti", "shared", "chasm", "hop", "ends")

_DOMAINS: Final[dict[str, tuple[Domain, ...]]] = {
    "train": domains_train_1.DOMAINS + domains_train_2.DOMAINS,
    "test": domains_test.DOMAINS,
}

COUNTS: Final[dict[str, int]] = {split: len(SHAPES) * len(domains) for split, domains in _DOMAINS.items()}
"""Generated tasks in each split."""

_NAME: Final = re.compile(r"tune_g_(train|test)_(\d{4})")

_STRIDE: Final = 7
"""Shares no factor with a split's number of domains, so that each shape meets every domain; neighbours then differ in both."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One generated task before anything of it is made."""

    name: str
    split: str
    index: int
    """0-based, among the split's generated tasks."""
    shape: ShapeName
    domain: Domain

    def dice(self, purpose: str) -> Random:
        """Dice for one purpose: the same draws every time, and independent of the draws for another."""
        return Random(f"tune-generated:{self.split}:{self.index}:{purpose}")


def task_name(split: str, index: int) -> str:
    """The id of a generated task, which is also its dataset's name."""
    return f"tune_g_{split}_{index:04d}"


@cache
def plan_of(name: str) -> Plan | None:
    """The plan of the task of that name; None when no generated task has it."""
    found = _NAME.fullmatch(name)
    if found is None or int(found[2]) >= COUNTS[found[1]]:
        return None
    split, index = found[1], int(found[2])
    round_, place = divmod(index, len(SHAPES))
    domains = _DOMAINS[split]
    return Plan(name, split, index, SHAPES[place], domains[(round_ * _STRIDE + place * 3) % len(domains)])
