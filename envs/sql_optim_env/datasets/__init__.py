"""Datasets: a schema with a seeded generator each, and the store that keeps what they build."""

from __future__ import annotations

from sql_optim_env.datasets.dataset import Dataset
from sql_optim_env.datasets.instance import Instance, Role
from sql_optim_env.datasets.registry import dataset_names, get_dataset
from sql_optim_env.datasets.store import DatasetStore, default_data_dir

__all__ = ["Dataset", "DatasetStore", "Instance", "Role", "dataset_names", "default_data_dir", "get_dataset"]
