"""The catalogue: every task by id, by split and index, or drawn by a seed; and what of a task is public."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, get_args

from sql_optim_env.errors import UnknownTaskError
from sql_optim_env.tasks.entry import TaskEntry
from sql_optim_env.tasks.generate import audit, tune
from sql_optim_env.tasks.loader import load_tasks
from sql_optim_env.tasks.splits import SPLITS, position_of_seed
from sql_optim_env.tasks.task import Difficulty, Family, Task

__all__ = ["Catalogue", "catalogue", "public_spec"]


class Catalogue:
    """An ordered, immutable set of tasks with unique ids: those that were made by hand first, then the generated ones.

    A generated task is made when it is first asked for by ``get``, ``by_index``, ``draw`` or ``select``.
    """

    def __init__(self, tasks: Iterable[Task], generated: Iterable[TaskEntry] = ()) -> None:
        self._hand_made = tuple(tasks)
        self._generated = tuple(generated)
        self._entries = (*map(TaskEntry.of, self._hand_made), *self._generated)
        self._by_id = {entry.id: entry for entry in self._entries}
        if len(self._by_id) != len(self._entries):
            raise ValueError("two tasks have the same id")
        self._splits = {split: tuple(entry for entry in self._entries if entry.split == split) for split in SPLITS}
        self._places = {entry.id: place for entries in self._splits.values() for place, entry in enumerate(entries)}

    def entries(self) -> tuple[TaskEntry, ...]:
        """Every place, in catalogue order; makes no task."""
        return self._entries

    def hand_made(self) -> tuple[Task, ...]:
        """The tasks that are not generated, in catalogue order: those that a server prepares when it starts."""
        return self._hand_made

    def generated(self) -> tuple[Task, ...]:
        """The generated tasks, in catalogue order; makes all of them. A server prepares each at its first reset."""
        return tuple(entry.make() for entry in self._generated)

    def get(self, task_id: str) -> Task:
        """The task with this id. Raises UnknownTaskError with the ids that exist."""
        try:
            return self._by_id[task_id].make()
        except KeyError:
            raise UnknownTaskError(f"there is no task {task_id!r}; tasks: {', '.join(self._listed())}") from None

    def select(self, family: str | None = None, split: str | None = None, difficulty: str | None = None) -> tuple[Task, ...]:
        """The tasks that match every given word, in catalogue order; possibly none.

        Raises UnknownTaskError for a word that is not a family, a split or a difficulty.
        """
        return tuple(entry.make() for entry in self._matching(family, split, difficulty))

    def count(self, family: str | None = None, split: str | None = None, difficulty: str | None = None) -> int:
        """How many tasks ``select`` would give; makes none."""
        return len(self._matching(family, split, difficulty))

    def by_index(self, split: str, index: int) -> Task:
        """The task at a 0-based index of a split. Raises UnknownTaskError when the split has no such index."""
        entries = self._matching(None, split, None)
        if not 0 <= index < len(entries):
            raise UnknownTaskError(f"split {split!r} has no index {index}; it has {len(entries)} tasks, counted from 0")
        return entries[index].make()

    def index_of(self, task: Task) -> int:
        """The 0-based index of a task in its own split."""
        return self._places[task.id]

    def draw(self, seed: int, family: str | None = None, split: str | None = None, difficulty: str | None = None) -> Task:
        """One of the selected tasks; the same seed and words always draw the same one. Raises UnknownTaskError when none match."""
        entries = self._matching(family, split, difficulty)
        if not entries:
            wanted = ", ".join(f"{k}={v!r}" for k, v in (("family", family), ("split", split), ("difficulty", difficulty)) if v is not None)
            raise UnknownTaskError(f"no task has {wanted}; tasks: {'; '.join(self._listed(facts=True)) or 'none'}")
        return entries[position_of_seed(seed, len(entries))].make()

    def _matching(self, family: str | None, split: str | None, difficulty: str | None) -> tuple[TaskEntry, ...]:
        _known("family", family, get_args(Family))
        _known("split", split, SPLITS)
        _known("difficulty", difficulty, get_args(Difficulty))
        return tuple(
            entry
            for entry in self._entries
            if family in (None, entry.family) and split in (None, entry.split) and difficulty in (None, entry.difficulty)
        )

    def _listed(self, *, facts: bool = False) -> list[str]:
        """Every id, but of the generated tasks of a family's split the first and the last only: an error message has to be read."""
        hand_made = [f"{task.id} ({task.family}, {task.split}, {task.difficulty})" if facts else task.id for task in self._hand_made]
        runs = [
            [entry for entry in self._generated if (entry.family, entry.split) == (family, split)]
            for family in get_args(Family)
            for split in SPLITS
        ]
        ends = [f"{run[0].id} to {run[-1].id}" + (f" ({run[0].family}, {run[0].split})" if facts else "") for run in runs if run]
        return hand_made + ends


@cache
def catalogue() -> Catalogue:
    """The tasks that come with the package, and those that it can generate."""
    return Catalogue(load_tasks(resources.files("sql_optim_env.tasks.builtin")), (*tune.generated_entries(), *audit.generated_entries()))


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
