"""The datasets of the ``tune`` family, one module each: every module of this package that has a ``DATASET``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from sql_optim_env.datasets.tune.base import TuneDataset

__all__ = ["TuneDataset", "tune_datasets"]


def tune_datasets() -> tuple[TuneDataset, ...]:
    """Every dataset of this package, by name."""
    modules = [import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    found = [module.DATASET for module in modules if hasattr(module, "DATASET")]
    return tuple(sorted(found, key=lambda dataset: dataset.name))
