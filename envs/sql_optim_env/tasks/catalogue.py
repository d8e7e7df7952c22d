"""The catalogue: every task by id, by split and index, or drawn by a seed; and what of a task is public."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, get_args

from sql_optim_env.errors import UnknownTaskError
from sql_optim_env.tasks.loader import load_tasks
from sql_optim_env.tasks.splits import SPLITS, position_of_seed
from sql_optim_env.tasks.task import Difficulty, Family, Task

__all__ = ["Catalogue", "catalogue", "public_spec"]


class Catalogue:
    """An ordered, immutable set of tasks with unique ids."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = tuple(tasks)
        self._by_id = {task.id: task for task in self._tasks}
        if len(self._by_id) != len(self._tasks):
            raise ValueError("two tasks have the same id")

    def all(self) -> tuple[Task, ...]:
        """Every task, in catalogue order."""
        return self._tasks

    def get(self, task_id: str) -> Task:
        """The task with this id. Raises UnknownTaskError with the ids that exist."""
        try:
            return self._by_id[task_id]
        except KeyError:
            raise UnknownTaskError(f"there is no task {task_id!r}; tasks: {', '.join(self._by_id)}") from None

    def select(self, family: str | None = None, split: str | None = None, difficulty: str | None = None) -> tuple[Task, ...]:
        """The tasks that match every given word, in catalogue order; possibly none.

        Raises UnknownTaskError for a word that is not a family, a split or a difficulty.
        """
        _known("family", family, get_args(Family))
        _known("split", split, SPLITS)
        _known("difficulty", difficulty, get_args(Difficulty))
        return tuple(
            task
            for task in self._tasks
            if family in (None, task.family) and split in (None, task.split) and difficulty in (None, task.difficulty)
        )

    def by_index(self, split: str, index: int) -> Task:
        """The task at a 0-based index of a split. Raises UnknownTaskError when the split has no such index."""
        tasks = self.select(split=split)
        if not 0 <= index < len(tasks):
            raise UnknownTaskError(f"split {split!r} has no index {index}; it has {len(tasks)} tasks, counted from 0")
        return tasks[index]

    def index_of(self, task: Task) -> int:
        """The 0-based index of a task in its own split."""
        return self.select(split=task.split).index(task)

    def draw(self, seed: int, family: str | None = None, split: str | None = None, difficulty: str | None = None) -> Task:
        """One of the selected tasks; the same seed and words always draw the same one. Raises UnknownTaskError when none match."""
        tasks = self.select(family=family, split=split, difficulty=difficulty)
        if not tasks:
            wanted = ", ".join(f"{k}={v!r}" for k, v in (("family", family), ("split", split), ("difficulty", difficulty)) if v is not None)
            there = "; ".join(f"{task.id} ({task.family}, {task.split}, {task.difficulty})" for task in self._tasks)
            raise UnknownTaskError(f"no task has {wanted}; tasks: {there or 'none'}")
        return tasks[position_of_seed(seed, len(tasks))]


@cache
def catalogue() -> Catalogue:
    """The tasks that come with the package."""
    return Catalogue(load_tasks(resources.files("sql_optim_env.tasks.builtin")))


def public_spec(task: Task) -> dict[str, Any]:
    """What the Task API shows of a task of the package: nothing of its grader data, and not whether its query is already optimal."""
    return {
        "id": task.id,
        "split": task.split,
        "index": catalogue().index_of(task),
        "family": task.family,
        "difficulty": task.difficulty,
        "name": task.name,
        "dataset": task.dataset,
        "max_steps": task.max_steps,
    }


def _known(what: str, word: str | None, words: Iterable[str]) -> None:
    if word is not None and word not in words:
        raise UnknownTaskError(f"there is no {what} {word!r}; there are {', '.join(words)}")
