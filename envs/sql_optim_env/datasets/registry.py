"""The datasets there are, by name: those that are written by hand, and those that are generated when they are asked for."""

from __future__ import annotations

from typing import Final

from sql_optim_env.datasets.dataset import Dataset
from sql_optim_env.datasets.generate.tune import COUNTS, generated_dataset, task_name
from sql_optim_env.datasets.shop import Shop
from sql_optim_env.datasets.tune import tune_datasets
from sql_optim_env.errors import InvalidArgumentError

__all__ = ["dataset_names", "get_dataset"]

_DATASETS: Final[dict[str, Dataset]] = {dataset.name: dataset for dataset in (Shop(), *tune_datasets())}


def dataset_names() -> tuple[str, ...]:
    """The name of every dataset that is written by hand; the first is the default one."""
    return tuple(_DATASETS)


def get_dataset(name: str) -> Dataset:
    """The dataset of that name, generated or not. Raises InvalidArgumentError, listing the names, when there is none."""
    found = _DATASETS.get(name) or generated_dataset(name)
    if found is None:
        generated = (f"{task_name(split, 0)} to {task_name(split, count - 1)}" for split, count in COUNTS.items())
        raise InvalidArgumentError(f"no dataset {name!r}; there are: {', '.join((*_DATASETS, *generated))}")
    return found
