"""What all tests share: one place for datasets, so that they are built once for the whole suite (and for the demo after it)."""

from __future__ import annotations

import os

from sql_optim_env.datasets.store import DATA_DIR_VARIABLE, default_data_dir

os.environ.setdefault(DATA_DIR_VARIABLE, str(default_data_dir()))
