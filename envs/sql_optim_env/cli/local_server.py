"""A server of our own in a child process: started on a free port, waited for, stopped. Used by ``demo`` and ``bench``."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["LocalServer", "ServerStartError"]

_POLL_S = 0.05
_STOP_S = 15.0


class ServerStartError(RuntimeError):
    """The server ended, or did not become ready in time; the message holds the end of its log."""


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
        ready_within_s: float = 300.0,
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
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """GET a JSON document; returns (status, body). An unreachable server is status 0."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)
        except OSError:
            return 0, {}

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        end = time.monotonic() + self._ready_within_s
        said = ""
        while True:
            status, body = self.get("/ready")
            if status == 200:
                return
            message = str(body.get("progress", ""))
            if message and message != said and self._progress is not None:
                self._progress(message)
            said = message or said
            if (code := self._process.poll()) is not None:
                raise ServerStartError(f"the server ended with exit code {code} before it was ready")
            if body.get("status") == "failed":
                raise ServerStartError(f"the server cannot become ready: {body.get('error') or said}")
            if time.monotonic() > end:
                raise ServerStartError(f"the server was not ready within {self._ready_within_s:.0f} s; it last said: {said or 'nothing'}")
            time.sleep(_POLL_S)

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
