"""The datasets there are, by name."""

from __future__ import annotations

from typing import Final

from sql_optim_env.datasets.dataset import Dataset
from sql_optim_env.datasets.shop import Shop
from sql_optim_env.datasets.tune import tune_datasets
from sql_optim_env.errors import InvalidArgumentError

__all__ = ["dataset_names", "get_dataset"]

_DATASETS: Final[dict[str, Dataset]] = {dataset.name: dataset for dataset in (Shop(), *tune_datasets())}


def dataset_names() -> tuple[str, ...]:
    """Every dataset's name; the first is the default one."""
    return tuple(_DATASETS)


def get_dataset(name: str) -> Dataset:
    """The dataset of that name. Raises InvalidArgumentError, listing the names, when there is none."""
    try:
        return _DATASETS[name]
    except KeyError:
        raise InvalidArgumentError(f"no dataset {name!r}; there are: {', '.join(_DATASETS)}") from None
