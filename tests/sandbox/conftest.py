from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from sql_optim_env.sandbox.jobs import prepare_task
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.sandbox.tune_jobs import prepare_tune

TASK = "task_1_basic_antipatterns"
TUNE_TASK = "tune_seed_bank"


@pytest.fixture(scope="session", autouse=True)
def secret_in_the_server() -> Iterator[None]:
    """The fork server copies the environment when it starts, so a secret has to be there before the first sandbox."""
    os.environ["HF_TOKEN"] = "hf_planted_secret"
    yield
    os.environ.pop("HF_TOKEN", None)  # whoever reads the token may have taken it out


@pytest.fixture
def make_sandbox(tmp_path: Path) -> Iterator[Callable[..., Sandbox]]:
    """Start sandboxes with a short deadline; all are closed, and shown to have left nothing, at the end of the test."""
    made: list[Sandbox] = []

    def make(
        *, workers: int = 1, deadline_s: float = 1.0, spill_mb: int = 512, limits: WorkerLimits | None = None, data_dir: Path | None = None
    ) -> Sandbox:
        sandbox = Sandbox(
            workers=workers,
            data_dir=data_dir if data_dir is not None else tmp_path / "data",
            deadline_s=deadline_s,
            spill_mb=spill_mb,
            limits=limits,
            scratch_root=tmp_path / "scratch",
        )
        made.append(sandbox)
        sandbox.start()
        return sandbox

    yield make
    for sandbox in made:
        pids = sandbox.worker_pids()
        sandbox.close()
        assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert not list((tmp_path / "scratch").glob("*"))


@pytest.fixture
def sandbox(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    return make_sandbox()


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one task prepared by two workers at once, from nothing unless the directory is given."""
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    data_dir = Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")
    with (
        Sandbox(workers=2, data_dir=data_dir, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox,
        ThreadPoolExecutor() as threads,
    ):
        first, second = (threads.submit(sandbox.call, prepare_task, TASK, deadline_s=240.0) for _ in range(2))
        assert first.result() == second.result()
    return data_dir


@pytest.fixture
def shop_sandbox(make_sandbox: Callable[..., Sandbox], shop: Path) -> Sandbox:
    return make_sandbox(data_dir=shop, deadline_s=60.0)


@pytest.fixture(scope="session")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one tune task prepared, from nothing unless the directory is given."""
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    data_dir = Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")
    with Sandbox(workers=1, data_dir=data_dir, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox:
        sandbox.call(prepare_tune, TUNE_TASK, deadline_s=240.0)
    return data_dir


@pytest.fixture
def tune_sandbox(make_sandbox: Callable[..., Sandbox], depot: Path) -> Sandbox:
    return make_sandbox(data_dir=depot, deadline_s=60.0)
