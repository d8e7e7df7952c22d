"""An episode's own copy of a database: a file that workers read, and that only the server replaces.

A worker runs a statement on the copy in memory and leaves what it has become in a directory of its own; the server then moves that file
here, under a name that was never used. So a statement that is killed at any moment leaves the copy as it was, workers need no right to
write anywhere else, and no worker can touch another episode's copy.
"""

from __future__ import annotations

import os
import shutil
import threading
from functools import partial
from pathlib import Path

from sql_optim_env.errors import InfraError
from sql_optim_env.grading.evidence import ExplainResult
from sql_optim_env.grading.tune_evidence import ScratchResult
from sql_optim_env.sandbox import tune_jobs
from sql_optim_env.sandbox.pool import Sandbox

__all__ = ["SandboxScratch"]


class SandboxScratch:
    """The copy of one episode. It costs nothing until a statement changes it. Only :meth:`close` may be called from another thread."""

    def __init__(self, sandbox: Sandbox, task_id: str) -> None:
        self._sandbox = sandbox
        self._task_id = task_id
        self._lock = threading.Lock()
        self._directory: Path | None = None
        self._copy: Path | None = None  # None: still the pristine database
        self._statements = 0
        self._closed = False

    def query(self, sql: str) -> ScratchResult:
        """Run one statement; what it changes stays."""
        target = self._target()
        result: ScratchResult = self._sandbox.call(
            tune_jobs.scratch_query, self._task_id, self._copy, target, sql, collect=partial(self._collect, target)
        )
        return result

    def explain(self, sql: str) -> ExplainResult:
        """Plan a statement without running it."""
        return self._sandbox.call(tune_jobs.scratch_explain, self._task_id, self._copy, sql)

    def close(self) -> None:
        """Remove the copy. Idempotent; a statement that is under way fails with ``InfraError`` if it changed something."""
        with self._lock:
            self._closed = True
            directory, self._directory, self._copy = self._directory, None, None
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)

    def _target(self) -> Path:
        """Where the copy will be if the next statement changes it."""
        with self._lock:
            if self._closed:
                raise InfraError("the session was closed")
            if self._directory is None:
                self._directory = self._sandbox.make_directory("copy-")
            self._statements += 1
            return self._directory / f"{self._statements}.sqlite"

    def _collect(self, target: Path, result: ScratchResult, worker_scratch: Path) -> None:
        if not result.changed:
            return
        with self._lock:
            if self._closed:
                raise InfraError("the session was closed while a statement ran")
            try:
                os.replace(worker_scratch / tune_jobs.CHANGED_COPY, target)
            except OSError as error:
                raise InfraError(f"a scratch copy cannot be kept: {error.strerror or error}") from error
            previous, self._copy = self._copy, target
        if previous is not None:
            previous.unlink(missing_ok=True)
