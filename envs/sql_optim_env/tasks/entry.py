"""A place in the catalogue: what selecting and listing a task takes, and how to make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sql_optim_env.tasks.task import Difficulty, Family, Split, Task, name_of_grader

__all__ = ["TaskEntry"]


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task that need not exist yet. ``make`` gives the same task every time and builds no data."""

    id: str
    family: Family
    split: Split
    difficulty: Difficulty
    make: Callable[[], Task]
    max_steps: int = 1
    max_fixes: int = 0

    @classmethod
    def of(cls, task: Task) -> TaskEntry:
        """The entry of a task that exists."""
        return cls(task.id, task.family, task.split, task.difficulty, lambda: task, task.max_steps, task.max_fixes)

    @property
    def attempts(self) -> int:
        """As :attr:`Task.attempts`."""
        return self.max_fixes or self.max_steps

    @property
    def grader_name(self) -> str:
        """As :attr:`Task.grader_name`."""
        return name_of_grader(self.family, self.max_fixes)
