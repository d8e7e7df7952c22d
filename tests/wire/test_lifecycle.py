"""How a server starts, says that it is ready, stays quiet, and ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sql_optim_env.tasks.catalogue import catalogue

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
ENDLESS = "SELECT COUNT(*) AS n FROM events AS a, events AS b WHERE a.id * b.id % 7919 = 3"


def _trouble(log: Path) -> list[str]:
    """The lines of a log that are not information."""
    return [line for line in log.read_text().splitlines() if " INFO " not in line]


def without_the_largest(data_dir: Path, place: Path) -> Path:
    """The same data directory but for the largest database and what was derived from it: there is work to do, and not for a minute."""

    def left_out(directory: str, names: list[str]) -> list[str]:
        # Locks and drafts begin with a dot; other tests may be making some.
        return [name for name in names if name.startswith(".") or (Path(directory) / name / "public.duckdb").exists()]

    def linked(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:  # on another file system
            shutil.copy2(source, target)

    shutil.copytree(data_dir, place, ignore=left_out, copy_function=linked)
    return place


@pytest.mark.usefixtures("server")  # which has filled the data directory
def test_a_fresh_server_is_healthy_first_then_ready_and_an_early_reset_gets_an_infra_error_in_time(
    start_server, data_dir: Path, tmp_path: Path
) -> None:
    fresh = without_the_largest(data_dir, tmp_path / "fresh")
    server = start_server(ready=False, data_dir=fresh, ready_wait_s=0.05, workers=2)
    status, body = server.request("/ready")
    assert (status, body["status"]) == (503, "starting")
    with server.session() as session:
        answer = session.reset(task_id=TASK.id)
        assert answer["data"]["code"] == "EXECUTION_ERROR"
        assert answer["data"]["message"].startswith("infra_error: the server is not ready yet: ")
        assert server.request("/reset", {"task_id": TASK.id})[0] == 503
        server.wait_for("/ready")
        assert session.reset(task_id=TASK.id)["type"] == "observation"
    log = server.log.read_text()
    assert "building shop/public" in log
    assert f"tasks: {len(catalogue().hand_made())} of {len(catalogue().hand_made())} prepared" in log
    assert server.stop() == 0


def test_an_early_reset_waits_until_the_server_is_ready(start_server) -> None:
    server = start_server(ready=False, workers=1)
    with server.session() as session:
        answer = session.say({"type": "reset", "data": {"task_id": TASK.id}}, timeout=120)
        assert answer["data"]["observation"]["task_id"] == TASK.id
    assert server.request("/ready")[0] == 200
    assert server.stop() == 0


def test_a_data_directory_that_cannot_be_used_is_said_on_ready_and_in_resets(start_server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    server = start_server(ready=False, data_dir=tmp_path / "file", workers=1)
    end = time.monotonic() + 30
    while (body := server.request("/ready")[1])["status"] == "starting":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert body["status"] == "failed"
    assert "data directory" in body["error"]
    with server.session() as session:
        assert session.reset(task_id=TASK.id)["data"]["message"].startswith("infra_error: ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_is_quiet_while_sessions_come_and_go_and_ends_soon_on_a_signal(start_server, number: signal.Signals) -> None:
    server = start_server(workers=2)
    before = server.log.read_text()
    for ending in ("close message", "close frame", "cut"):
        with server.session() as session:
            session.reset(task_id=TASK.id)
            session.step(kind="query", sql="SELECT 1 AS one")
            if ending == "close message":
                session.connection.send('{"type": "close"}')
            elif ending == "cut":
                session.connection.socket.shutdown(socket.SHUT_RDWR)
    server.wait_for_sessions(0)
    assert server.log.read_text() == before

    children = server.children()
    with server.session() as session:
        session.reset(task_id=TASK.id)
        session.connection.send(json.dumps({"type": "step", "data": {"kind": "query", "sql": ENDLESS}}))
        server.busy_worker()
        began = time.monotonic()
        server.process.send_signal(number)
        answer = json.loads(session.connection.recv(10))
        assert answer["data"]["message"].startswith("infra_error: ")
        assert server.process.wait(10) == 0
        assert time.monotonic() - began < 6.0
    _, left = psutil.wait_procs(children, timeout=5)
    assert left == []
    assert "Traceback" not in server.log.read_text()


def test_a_signal_while_datasets_are_being_built_ends_the_server_too(start_server, tmp_path: Path) -> None:
    server = start_server(ready=False, data_dir=tmp_path / "fresh", workers=1)
    children = server.children()
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 8.0
    _, left = psutil.wait_procs(children, timeout=5)
    assert left == []
    assert _trouble(server.log) == []


def test_a_server_that_is_killed_takes_its_workers_along(start_server) -> None:
    server = start_server(workers=2)
    children = server.children()
    assert len(server.workers()) == 2
    server.process.kill()
    server.process.wait()
    _, left = psutil.wait_procs(children, timeout=10)
    assert left == []


def test_a_port_that_is_taken_ends_the_server_with_an_error(server, data_dir: Path) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "sql_optim_env.server.app", "--port", str(server.port), "--data-dir", str(data_dir), "--workers", "1"],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode not in (0, None)
    assert "address already in use" in second.stderr
