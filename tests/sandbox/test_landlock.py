from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from sandbox import hostile_jobs as jobs
from sql_optim_env.sandbox.landlock import landlock_abi
from sql_optim_env.sandbox.pool import Sandbox

REFUSED = {f"refused {errno.EACCES}", f"refused {errno.EPERM}"}

needs_landlock = pytest.mark.skipif(landlock_abi() < 2, reason="this kernel has no Landlock")
needs_net = pytest.mark.skipif(landlock_abi() < 4, reason="this kernel's Landlock does not cover TCP")
needs_scope = pytest.mark.skipif(landlock_abi() < 6, reason="this kernel's Landlock does not cover signals")


@needs_landlock
@pytest.mark.parametrize("what", ["write", "make directory", "link"])
def test_a_worker_makes_nothing_outside_its_directories(sandbox: Sandbox, tmp_path: Path, what: str) -> None:
    target = tmp_path / "made"
    assert sandbox.call(jobs.attempt, what, str(target)) in REFUSED
    assert not target.exists()


@needs_landlock
@pytest.mark.parametrize("what", ["write", "append", "truncate", "remove"])
def test_a_worker_changes_nothing_outside_its_directories(sandbox: Sandbox, tmp_path: Path, what: str) -> None:
    if what == "truncate" and landlock_abi() < 3:
        pytest.skip("this kernel's Landlock does not cover truncation")
    target = tmp_path / "kept"
    target.write_text("as it was")
    assert sandbox.call(jobs.attempt, what, str(target)) in REFUSED
    assert target.read_text() == "as it was"


@needs_landlock
def test_a_worker_moves_nothing_out_of_its_directories(sandbox: Sandbox, tmp_path: Path) -> None:
    assert sandbox.call(jobs.attempt, "move out", str(tmp_path / "moved")) in REFUSED | {f"refused {errno.EXDEV}"}
    assert not (tmp_path / "moved").exists()


@needs_landlock
def test_a_worker_writes_in_its_own_directory_and_below_the_data_directory(sandbox: Sandbox, tmp_path: Path) -> None:
    own = sandbox.call(jobs.working_directory)
    assert sandbox.call(jobs.attempt, "write", str(own / "spill")) == "done"
    assert sandbox.call(jobs.attempt, "make directory", str(tmp_path / "data" / "shop")) == "done"
    assert sandbox.call(jobs.attempt, "move out", str(tmp_path / "data" / "shop" / "published")) == "done"
    assert (tmp_path / "data" / "shop" / "published").read_text() == "x"


@needs_landlock
def test_a_worker_starts_no_program(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.attempt, "run", "/bin/true") in REFUSED


@needs_landlock
def test_a_worker_does_not_see_the_servers_environment(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.attempt, "read", f"/proc/{os.getpid()}/environ") in REFUSED


@needs_net
def test_a_worker_neither_connects_nor_listens(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert sandbox.call(jobs.attempt, "connect", str(server.getsockname()[1])) in REFUSED
    assert sandbox.call(jobs.attempt, "listen", "") in REFUSED


@needs_scope
def test_a_worker_signals_nobody(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.attempt, "signal", str(os.getpid())) in REFUSED
