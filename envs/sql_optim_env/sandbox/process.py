"""How worker processes are started.

Start method, measured with DuckDB 2.0.1 and PyArrow 26 on Linux: ``spawn`` needs 250 ms and 74 MB for a worker, because each one imports
everything anew; ``forkserver`` with the imports preloaded needs 8 ms and 30 MB. A worker is replaced whenever a statement overruns, so
this is the price of a timeout. Plain ``fork`` is out of the question in a server with threads and an event loop; the fork server is a
process of its own with a single thread, which also makes "die with the parent" exact (that signal follows the parent *thread*).
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, popen_forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import RLock
from types import ModuleType
from typing import Any

__all__ = ["WorkerContext", "WorkerProcess"]

_PRELOAD = "sql_optim_env.sandbox.preload"

_main_lock = threading.Lock()


class _Popen(popen_forkserver.Popen):
    """A started process that several threads may ask for its end.

    The exit code arrives once, through a pipe, and starting any process polls all others: of two threads that poll at the same moment the
    loser would read the closed pipe and record 255.
    """

    def __init__(self, process_obj: BaseProcess) -> None:
        self._poll_lock = threading.Lock()
        super().__init__(process_obj)

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        if flag != os.WNOHANG and self.returncode is None:
            wait([self.sentinel])
        with self._poll_lock:
            return super().poll(os.WNOHANG)


class WorkerProcess(ForkServerProcess):
    """A process that does not import the parent's main module.

    Children of ``multiprocessing`` load the script that the parent was started with, which here is a web server: a second and 100 MB
    for code no worker needs.
    """

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> _Popen:
        return _Popen(process_obj)

    def start(self) -> None:
        """Start the process; the fork server is started first where it is not running."""
        forkserver.ensure_running()
        with _hidden_main():
            super().start()


class WorkerContext:
    """A multiprocessing context that remembers the last process made with it, so that its exit code can be asked for."""

    def __init__(self) -> None:
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PRELOAD])
        self.latest: WorkerProcess | None = None

    def Pipe(self, duplex: bool = True) -> tuple[Connection[Any, Any], Connection[Any, Any]]:
        """Make a pipe whose ends can be sent to a new process."""
        return self._context.Pipe(duplex)

    def RLock(self) -> RLock:
        """Make a lock that can be sent to a new process."""
        return self._context.RLock()

    def Process(self, *args: Any, **kwargs: Any) -> WorkerProcess:
        """Make a process and remember it."""
        self.latest = WorkerProcess(*args, **kwargs)
        return self.latest

    def get_start_method(self) -> str:
        """Return the name of the start method."""
        return self._context.get_start_method()


@contextmanager
def _hidden_main() -> Iterator[None]:
    # The description of the parent's main module is taken from sys.modules while a process is started; an empty module describes nothing.
    with _main_lock:
        real = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = real
