"""A server of our own in a child process: started on a free port, waited for, stopped. Used by ``demo`` and ``bench``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

from sql_optim_env.agents.player import Session
from sql_optim_env.cli.readiness import READY_WITHIN_S, wait_until_ready
from sql_optim_env.client import SQLOptimEnv

__all__ = ["LocalServer", "local_session"]

_STOP_S = 15.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class LocalServer:
    """Owns one server process. As a context manager it is ready on entry and gone on exit.

    Args:
        settings: ``SQL_OPTIM_*`` variables for the server, on top of this process's environment.
        ready_within_s: seconds until ``/ready`` must answer 200.
        progress: called with what ``/ready`` says while datasets are being built, each message once.
        log: the file that the server's log goes to; by default this process's stderr.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        ready_within_s: float = READY_WITHIN_S,
        progress: Callable[[str], None] | None = None,
        log: Path | None = None,
    ) -> None:
        self._settings = dict(settings or {})
        self._ready_within_s = ready_within_s
        self._progress = progress
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def url(self) -> str:
        """The base URL a client connects to."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The server's process id."""
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process.pid

    def __enter__(self) -> Self:
        environment = {**os.environ, **self._settings}
        command = [sys.executable, "-m", "sql_optim_env.server.app", "--host", "127.0.0.1", "--port", str(self.port)]
        # Never to this process's stdout, where a table or JSON has to stay clean.
        with nullcontext(sys.stderr.fileno()) if self._log is None else self._log.open("wb") as output:
            self._process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            wait_until_ready(self.url, self._progress, within_s=self._ready_within_s, exit_code=self._process.poll)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> int | None:
        """Ask the server to stop, wait, kill it if it does not. Returns its exit code; idempotent."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        process.terminate()
        try:
            return process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


@contextmanager
def local_session(settings: Mapping[str, str] | None = None) -> Iterator[Session]:
    """A client's session with a server of our own, which logs no more than its warnings and is gone afterwards."""
    with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning", **(settings or {})}) as server, SQLOptimEnv(base_url=server.url).sync() as client:
        yield client
