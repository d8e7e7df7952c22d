from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the datasets are: those of the environment when it names them, else built once for the session."""
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    return Path(chosen) if chosen else tmp_path_factory.mktemp("data")
