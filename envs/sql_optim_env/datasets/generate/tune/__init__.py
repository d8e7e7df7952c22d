"""Generated datasets of the ``tune`` family: two hundred for training and forty for testing, each made on demand from its name."""

from __future__ import annotations

from sql_optim_env.datasets.generate.tune.dataset import generated_dataset, generator_version, numbers_of
from sql_optim_env.datasets.generate.tune.plan import COUNTS, SHAPES, Plan, plan_of, task_name
from sql_optim_env.datasets.generate.tune.shape import Numbers

__all__ = ["COUNTS", "SHAPES", "Numbers", "Plan", "generated_dataset", "generator_version", "numbers_of", "plan_of", "task_name"]
