"""Makes generated tasks, and says which there are.

A split's tasks go through the kinds of defects again and again, so that each kind occurs as often as every other. A task's sizes, names,
domain and data are drawn when its scenario is, from its id and the seed of the reset; the domains of test are none of train's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Final

from sql_optim_env.tasks.audit.facts import KIND_FACTS
from sql_optim_env.tasks.entry import TaskEntry
from sql_optim_env.tasks.splits import SPLITS
from sql_optim_env.tasks.task import AuditGrader, Split, Task

__all__ = ["COUNTS", "generated_entries", "generated_task"]

_EACH: Final[Mapping[Split, int]] = {"train": 20, "test": 4}
"""Tasks of each kind."""

COUNTS: Final[Mapping[Split, int]] = {split: each * len(KIND_FACTS) for split, each in _EACH.items()}
"""Generated tasks in each split."""


def generated_entries() -> tuple[TaskEntry, ...]:
    """Every generated task, a split after the other; none of them is made."""
    return tuple(_entry(split, index) for split in SPLITS for index in range(COUNTS[split]))


def generated_task(split: Split, index: int) -> Task:
    """A split's task by its 0-based number. Raises IndexError outside the split."""
    kind, lap = _kind_and_lap(split, index)
    facts = KIND_FACTS[kind]
    return Task(
        id=_id(split, index),
        name=f"{facts.name} ({split} {lap + 1})",
        family="audit",
        split=split,
        difficulty=facts.difficulty,
        dataset="",
        dialect="sqlite",
        description=facts.description,
        sql="",
        tables=(),
        max_steps=1,
        max_explorations=facts.max_explorations,
        grader=AuditGrader(kind=kind, seed=index, default_sizes=False),
        tags=("generated",),
        max_fixes=facts.max_fixes,
    )


def _entry(split: Split, index: int) -> TaskEntry:
    facts = KIND_FACTS[_kind_and_lap(split, index)[0]]
    make = cache(partial(generated_task, split, index))
    return TaskEntry(_id(split, index), "audit", split, facts.difficulty, make, max_fixes=facts.max_fixes)


def _id(split: Split, index: int) -> str:
    return f"audit_g_{split}_{index:04d}"


def _kind_and_lap(split: Split, index: int) -> tuple[str, int]:
    if not 0 <= index < COUNTS[split]:
        raise IndexError(f"{split} has {COUNTS[split]} generated tasks")
    lap, place = divmod(index, len(KIND_FACTS))
    return tuple(KIND_FACTS)[place], lap
