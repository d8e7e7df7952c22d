"""From a task and the seed of a reset to the scenario that is played."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from sql_optim_env.datasets.generate.domains import DOMAINS
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import Scenario
from sql_optim_env.tasks.task import Task

__all__ = ["scenario_of"]


@lru_cache(maxsize=256)
def scenario_of(task: Task, seed: int | None) -> Scenario:
    """The scenario of ``task`` under a reset's seed; without a seed the task's own one, of the documented sizes if made by hand.

    The domain is drawn from the worlds of the task's split, so no name of a test task is met in training.
    """
    grader = task.audit
    default = seed is None and grader.default_sizes
    text = f"{task.id}:{grader.seed}" if seed is None else f"{task.id}:{grader.seed}:{seed}"
    dice = Random(f"audit-scenario:{text}")
    return kinds()[grader.kind].draw(dice.choice(DOMAINS[task.split]), dice, seed=text, default=default)
