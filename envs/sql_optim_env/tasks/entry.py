"""A place in the catalogue: what selecting a task takes, and how to make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sql_optim_env.tasks.task import Difficulty, Family, Split, Task

__all__ = ["TaskEntry"]


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task that need not exist yet. ``make`` gives the same task every time and builds no data."""

    id: str
    family: Family
    split: Split
    difficulty: Difficulty
    make: Callable[[], Task]

    @classmethod
    def of(cls, task: Task) -> TaskEntry:
        """The entry of a task that exists."""
        return cls(task.id, task.family, task.split, task.difficulty, lambda: task)
