from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.pool import Sandbox


@pytest.fixture(scope="session", autouse=True)
def secret_in_the_server() -> Iterator[None]:
    """The fork server copies the environment when it starts, so a secret has to be there before the first sandbox."""
    os.environ["HF_TOKEN"] = "hf_planted_secret"
    yield
    del os.environ["HF_TOKEN"]


@pytest.fixture
def make_sandbox(tmp_path: Path) -> Iterator[Callable[..., Sandbox]]:
    """Start sandboxes with a short deadline; all are closed, and shown to have left nothing, at the end of the test."""
    made: list[Sandbox] = []

    def make(*, workers: int = 1, deadline_s: float = 1.0, limits: WorkerLimits | None = None, scratch_root: Path | None = None) -> Sandbox:
        sandbox = Sandbox(
            workers=workers,
            data_dir=tmp_path / "data",
            deadline_s=deadline_s,
            limits=limits,
            scratch_root=scratch_root if scratch_root is not None else tmp_path / "scratch",
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
