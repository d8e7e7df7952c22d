"""The arguments of ``reset``: which there are, what each may be, and which task they name."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sql_optim_env.errors import InvalidArgumentError, UnknownTaskError
from sql_optim_env.grading.report import PROFILES, RewardProfile
from sql_optim_env.tasks.catalogue import Catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["ARGUMENTS", "MAX_EPISODE_ID", "Selection", "check_arguments", "choose_task", "count_of", "task_at", "tasks_of"]

ARGUMENTS = ("seed", "episode_id", "task_id", "family", "split", "index", "difficulty", "reward_profile")
"""Every argument ``reset`` takes."""

MAX_EPISODE_ID = 255

_WORDS = ("episode_id", "task_id", "family", "split", "difficulty", "reward_profile")
_NUMBERS = ("seed", "index")


@dataclass(frozen=True, slots=True)
class Selection:
    """The checked arguments of one reset."""

    seed: int | None = None
    episode_id: str | None = None
    task_id: str | None = None
    family: str | None = None
    split: str | None = None
    index: int | None = None
    difficulty: str | None = None
    reward_profile: RewardProfile | None = None


def check_arguments(given: Mapping[str, Any]) -> Selection:
    """Type-check the arguments. Raises ``InvalidArgumentError`` saying what is allowed; None stands for not given."""
    values = {name: value for name, value in given.items() if value is not None}
    unknown = sorted(set(values) - set(ARGUMENTS))
    if unknown:
        raise InvalidArgumentError(f"reset takes no {', '.join(unknown)}; it takes {', '.join(ARGUMENTS)}")
    for name in _NUMBERS:
        value = values.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidArgumentError(f"{name} must be a whole number from 0, not {value!r}")
    for name in _WORDS:
        if not isinstance(values.get(name, ""), str):
            raise InvalidArgumentError(f"{name} must be text, not {values[name]!r}")
    if len(values.get("episode_id", "")) > MAX_EPISODE_ID:
        raise InvalidArgumentError(f"episode_id may have {MAX_EPISODE_ID} characters")
    if values.get("reward_profile", PROFILES[0]) not in PROFILES:
        raise InvalidArgumentError(f"there is no reward_profile {values['reward_profile']!r}; there are {', '.join(PROFILES)}")
    if "index" in values and "split" not in values:
        raise InvalidArgumentError("index counts within a split: give split too")
    return Selection(**values)


def choose_task(tasks: Catalogue, wanted: Selection) -> Task:
    """The task by id, else by split and index, else drawn by seed; without a seed, by chance.

    Arguments beyond those that name the task must agree with it. Raises ``UnknownTaskError`` listing what exists, or
    ``InvalidArgumentError`` for arguments that contradict each other.
    """
    # Words that do not exist are refused whichever way the task is chosen.
    tasks.count(family=wanted.family, split=wanted.split, difficulty=wanted.difficulty)
    if wanted.task_id is not None:
        return _agreeing(tasks, tasks.get(wanted.task_id), wanted)
    if wanted.index is not None and wanted.split is not None:
        return _agreeing(tasks, tasks.by_index(wanted.split, wanted.index), wanted)
    seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
    return tasks.draw(seed, family=wanted.family, split=wanted.split, difficulty=wanted.difficulty)


def _agreeing(tasks: Catalogue, task: Task, wanted: Selection) -> Task:
    facts = {"family": task.family, "split": task.split, "difficulty": task.difficulty, "index": tasks.index_of(task)}
    for name, value in facts.items():
        asked = getattr(wanted, name)
        if asked is not None and asked != value:
            raise InvalidArgumentError(f"task {task.id!r} has {name}={value!r}, not {asked!r}")
    return task


def tasks_of(tasks: Catalogue, split: str) -> tuple[Task, ...]:
    """A split's tasks. Raises IndexError where there is no such split, the one error that OpenEnv's Task API answers with status 400."""
    try:
        return tasks.select(split=split)
    except UnknownTaskError as error:
        raise IndexError(str(error)) from None


def count_of(tasks: Catalogue, split: str) -> int:
    """How many tasks a split has. Raises IndexError where there is no such split."""
    try:
        return tasks.count(split=split)
    except UnknownTaskError as error:
        raise IndexError(str(error)) from None


def task_at(tasks: Catalogue, split: str, index: int) -> Task:
    """The task at ``split[index]``. Raises IndexError where there is none."""
    try:
        return tasks.by_index(split, index)
    except UnknownTaskError as error:
        raise IndexError(str(error)) from None
