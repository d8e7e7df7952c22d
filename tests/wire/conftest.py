"""Real servers: a child process on a free port, its log in a file, and raw WebSocket sessions with it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.sync.client import ClientConnection, connect

READY_WITHIN_S = 180.0


class Wire:
    """One raw session: JSON in, JSON out."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def say(self, message: object, timeout: float = 60.0) -> Any:
        """Send a message (text or bytes as they are, anything else as JSON) and return the answer."""
        self.connection.send(message if isinstance(message, str | bytes) else json.dumps(message))
        return json.loads(self.connection.recv(timeout))

    def reset(self, **arguments: Any) -> Any:
        return self.say({"type": "reset", "data": arguments})

    def step(self, timeout: float = 60.0, **action: Any) -> Any:
        return self.say({"type": "step", "data": action}, timeout)

    def state(self) -> Any:
        return self.say({"type": "state"})["data"]


class RunningServer:
    """A server process; ended by the fixture that made it."""

    def __init__(self, log: Path, data_dir: Path, settings: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.log = log
        environment = {**os.environ, "SQL_OPTIM_DATA_DIR": str(data_dir), "SQL_OPTIM_WORKERS": "2", **settings}
        environment.pop("ENABLE_WEB_INTERFACE", None)
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sql_optim_env.server.app", "--port", str(self.port)], env=environment, stdout=output, stderr=output
            )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """Status and decoded body of a GET, or of a POST when there is a body (bytes as they are, anything else as JSON)."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text, status = answer.read().decode(), answer.status
        except urllib.error.HTTPError as error:
            with error:
                text, status = error.read().decode(), error.code
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def wait_for(self, path: str, wanted: int = 200, within_s: float = READY_WITHIN_S) -> Any:
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log.read_text()}")
            try:
                status, body = self.request(path)
            except OSError:
                status, body = 0, None
            if status == wanted:
                return body
            time.sleep(0.05)
        raise AssertionError(f"{path} did not answer {wanted} within {within_s} s; the log:\n{self.log.read_text()}")

    @contextmanager
    def session(self) -> Iterator[Wire]:
        with connect(f"ws://127.0.0.1:{self.port}/ws", max_size=None, proxy=None) as connection:
            yield Wire(connection)

    def wait_for_sessions(self, count: int) -> None:
        """Wait until the server counts so many sessions that hold an episode."""
        end = time.monotonic() + 30
        while f"sql_optim_sessions {count}.0\n" not in self.request("/metrics")[1]:
            assert time.monotonic() < end, f"there are not {count} sessions"
            time.sleep(0.05)

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def workers(self) -> list[psutil.Process]:
        """The sandbox's worker processes: those that are children of the server's child, the fork server."""
        return [process for child in psutil.Process(self.process.pid).children() for process in child.children()]

    def busy_worker(self) -> psutil.Process:
        """The worker that is computing now; waits for one."""
        end = time.monotonic() + 9
        while time.monotonic() < end:
            before = {worker: worker.cpu_times().user for worker in self.workers()}
            time.sleep(0.5)
            for worker, seconds in before.items():
                # More than a worker that starts or answers something small takes, less than a share of a crowded machine.
                if worker.is_running() and worker.cpu_times().user - seconds >= 0.1:
                    return worker
        raise AssertionError("no worker is computing")

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not stop; its log:\n{self.log.read_text()}") from None


StartServer = Callable[..., RunningServer]


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the servers of these tests build their datasets: once for all of them."""
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    return Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")


@pytest.fixture(scope="session")
def start_server(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """Starts servers with settings of their own; they are ready when it returns and gone in the end."""
    with ExitStack() as running:

        def start(ready: bool = True, **settings: object) -> RunningServer:
            log = tmp_path_factory.mktemp("server") / "log"
            made = RunningServer(log, data_dir, {f"SQL_OPTIM_{name.upper()}": str(value) for name, value in settings.items()})
            running.callback(made.stop)
            made.wait_for("/ready" if ready else "/health")
            return made

        yield start


@pytest.fixture(scope="session")
def server(start_server: StartServer) -> RunningServer:
    """One server with its default settings, shared by tests that leave it as it was."""
    return start_server()


@pytest.fixture(scope="session")
def small_server(start_server: StartServer) -> RunningServer:
    """One with room for two sessions."""
    return start_server(max_sessions=2, workers=1)


@pytest.fixture(scope="session")
def hasty_server(start_server: StartServer) -> RunningServer:
    """One that closes sessions which are idle for two seconds."""
    return start_server(session_timeout_s=2, max_sessions=1, workers=1)


@pytest.fixture
def wire(server: RunningServer) -> Iterator[Wire]:
    with server.session() as session:
        yield session
