"""Generated datasets of the ``tune`` family: two hundred for training and forty for testing, each made on demand from its name."""

from __future__ import annotations

from sql_optim_env.datasets.generate.tune.dataset import dataset_of, generated_dataset, generator_version, numbers_of
from sql_optim_env.datasets.generate.tune.plan import COUNTS, Plan, ShapeName, make_plan, plan_of, task_name
from sql_optim_env.datasets.generate.tune.shape import Numbers

__all__ = [
    "COUNTS",
    "Numbers",
    "Plan",
    "ShapeName",
    "dataset_of",
    "generated_dataset",
    "generator_version",
    "make_plan",
    "numbers_of",
    "plan_of",
    "task_name",
]
