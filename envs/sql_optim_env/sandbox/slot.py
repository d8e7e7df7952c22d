"""One place for a worker: the process in it now, the deadline of the job it runs, and its replacement when it is gone.

Each slot has a pebble pool of its own with a single process. A pool shared by all workers sends its jobs through one locked pipe, and a
worker killed at the wrong moment takes that lock with it; this way a slot can be rebuilt while the others go on.
"""

from __future__ import annotations

import logging
import os
import pickle
import shutil
import signal
import threading
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path

from pebble import ProcessExpired, ProcessPool

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.endings import exit_sentence, out_of_memory, overrun, worker_died
from sql_optim_env.sandbox.process import WorkerContext
from sql_optim_env.sandbox.worker import MARK, Reply, WorkerConfig, log_path, logs, run_job, start_worker

__all__ = ["START_TIMEOUT_S", "WorkerSlot"]

START_TIMEOUT_S = 30.0
"""Longest time until a worker begins a job, its start included: 10 ms once the fork server runs, under a second for the first."""

_KILL_GRACE_S = 2.0
"""After a deadline, how long pebble's own kill may take (it looks every 0.1 s) before the slot gives the pool up."""

_WORN_SHARE = 0.6
"""Share of the memory limit that a worker may hold between jobs; above it the next statement would meet a smaller limit than the last."""

_LAST_WORDS_BYTES = 4096

_log = logging.getLogger(__name__)


class _NeverBegunError(Exception):
    """The worker was gone before it began the job, so the job may be given to another one."""


class _Employment:
    """A pebble pool with its only process."""

    def __init__(self, settings: WorkerConfig) -> None:
        self.context = WorkerContext()
        self.pool = ProcessPool(max_workers=1, initializer=start_worker, initargs=(settings,), context=self.context)

    @property
    def exit_code(self) -> int | None:
        """Exit code of the process, None while it runs or when there is none."""
        process = self.context.latest
        return process.exitcode if process is not None and process.pid is not None else None

    def end(self) -> None:
        """Kill the process and stop the pool's threads. Takes up to 0.2 s, pebble's own pace."""
        self.pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it unannotated
        self.pool.join()


class WorkerSlot:
    """Runs one job at a time in a worker process that is killed at the job's deadline and replaced when it is gone.

    Its owner lends it to one caller at a time; only :meth:`close` may be called beside a running job.
    """

    def __init__(self, settings: WorkerConfig) -> None:
        self._settings = settings
        self._serial = 0
        self._lock = threading.Lock()
        self._employment: _Employment | None = None
        self._future: Future[Reply] | None = None
        self._closed = False
        self._endings: list[threading.Thread] = []
        self.answered = False
        """Whether the slot's last call was answered by a worker, in whatever way."""
        settings.home.mkdir(mode=0o700)
        settings.mark.write_bytes(MARK.pack(0))

    @property
    def pid(self) -> int | None:
        """Process id of the present worker, None when there is none."""
        employment = self._employment
        process = employment.context.latest if employment is not None else None
        return process.pid if process is not None else None

    @property
    def scratch(self) -> Path:
        """Where the worker leaves files; emptied when the next one starts."""
        return self._settings.scratch

    def run(self, payload: bytes, deadline_s: float) -> object:
        """Run a pickled ``(job, args)`` and return what it returned.

        Raises AgentError (the job's own, or TIMEOUT, OUT_OF_MEMORY, ENGINE_CRASH) or InfraError.
        """
        reason = ""
        for _ in range(2):
            try:
                reply = self._run_once(payload, deadline_s)
            except _NeverBegunError as gone:
                _log.warning("a sandbox worker is replaced before it began a job: %s", gone)
                self._replace()
                reason = str(gone)
            except AgentError:
                self.answered = True
                raise
            else:
                self.answered = True
                return self._open(reply)
        self.answered = False
        raise InfraError(f"a sandbox worker cannot be started: {reason}")

    def close(self) -> None:
        """End the worker for good and remove its files; a call in flight fails with InfraError. Idempotent."""
        with self._lock:
            self._closed = True
            future = self._future
        if future is not None:
            future.cancel()
        self._replace()
        for ending in tuple(self._endings):
            ending.join(START_TIMEOUT_S)
        shutil.rmtree(self._settings.home, ignore_errors=True)

    def _run_once(self, payload: bytes, deadline_s: float) -> Reply:
        employment, future = self._begin(payload, deadline_s)
        process = employment.context.latest
        try:
            return self._wait(future, deadline_s)
        except CancelledError:
            raise InfraError("the sandbox was closed while a statement ran") from None
        except TimeoutError:
            exit_code = process.exitcode if process is not None else None
            if process is not None and exit_code is not None and exit_code not in (-signal.SIGTERM, -signal.SIGKILL):
                # It had ended by itself; pebble takes exit code 0 for a worker that finished, and the job for one that overran.
                raise self._died(exit_code, process.pid) from None
            raise overrun(deadline_s) from None
        except ProcessExpired as error:
            raise self._died(error.exitcode, error.pid) from None
        except MemoryError:
            raise out_of_memory(self._settings.limits) from None
        except Exception as error:
            # pebble gives up a pool whose worker ends while no job is known to run, and a crash in a job's first moments looks like that.
            died = self._died(employment.exit_code, self.pid)
            self._replace()
            raise died from error
        finally:
            self._future = None
            self._sweep_logs()

    def _begin(self, payload: bytes, deadline_s: float) -> tuple[_Employment, Future[Reply]]:
        with self._lock:
            if self._closed:
                raise InfraError("the sandbox is closed")
            if self._employment is None:
                self._employment = _Employment(self._settings)
            self._serial += 1
            arguments = (self._serial, deadline_s, payload)
            try:
                self._future = self._employment.pool.schedule(run_job, args=arguments, timeout=deadline_s)
            except (RuntimeError, OSError) as error:
                exit_code = self._employment.exit_code
                raise _NeverBegunError(exit_sentence(exit_code) if exit_code is not None else repr(error.__cause__ or error)) from error
            return self._employment, self._future

    def _wait(self, future: Future[Reply], deadline_s: float) -> Reply:
        """Wait for the reply. pebble keeps the deadline; the watch kept here is for a pool that no longer does."""
        seen = False
        now = time.monotonic()
        patience = now + START_TIMEOUT_S
        while True:
            try:
                return future.result(timeout=patience - now if seen else 0.5)
            except TimeoutError:
                if future.done():
                    return future.result()
            now = time.monotonic()
            if not seen and self._begun():
                seen, patience = True, now + deadline_s + _KILL_GRACE_S
            elif now >= patience:
                self._replace()
                if seen:
                    raise TimeoutError
                raise _NeverBegunError(f"no worker took a job within {START_TIMEOUT_S:.0f} s")

    def _open(self, reply: Reply) -> object:
        """Turn a reply into the value or the exception it stands for, and dismiss a worker that is not as good as new."""
        worn = reply.data_bytes > self._settings.limits.data_mb * _WORN_SHARE * (1 << 20)
        if worn or reply.kind == "infra" or reply.error_code is ErrorCode.ENGINE_CRASH:
            self._replace()
        if reply.error_code is not None:
            raise AgentError(reply.error_code, reply.message)
        if reply.kind == "infra":
            _log.error("a sandbox job failed:\n%s", reply.trouble)
            raise InfraError(reply.message or "a sandbox job failed unexpectedly; the server's log says how")
        value: object = pickle.loads(reply.value)
        return value

    def _died(self, exit_code: int | None, pid: int | None) -> AgentError | InfraError | _NeverBegunError:
        words = self._last_words(pid)
        sentence = exit_sentence(exit_code)
        if not self._begun():
            return _NeverBegunError(f"{sentence}\n{words}" if words else sentence)
        _log.warning("%s while it ran a statement%s", sentence, f"; its last words:\n{words}" if words else "")
        error = worker_died(exit_code, words, self._settings.limits)
        if isinstance(error, InfraError):
            # A process killed from outside may have held the lock of its pool's pipe.
            self._replace()
        return error

    def _begun(self) -> bool:
        """Whether a worker has begun the present job."""
        try:
            return self._settings.mark.read_bytes() == MARK.pack(self._serial)
        except OSError:
            return False

    def _last_words(self, pid: int | None) -> str:
        """Return the end of what a process that is gone has printed."""
        if pid is None:
            return ""
        try:
            with log_path(self._settings.home, pid).open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - _LAST_WORDS_BYTES))
                return log.read().decode("utf-8", errors="replace").strip()
        except OSError:
            return ""

    def _sweep_logs(self) -> None:
        """Remove the logs of workers that are gone, whenever there is more than one log."""
        found = logs(self._settings.home)
        for path, pid in found if len(found) > 1 else ():
            if not Path("/proc", str(pid)).exists():
                path.unlink(missing_ok=True)

    def _replace(self) -> None:
        """Dismiss the present worker; the next call starts another."""
        with self._lock:
            employment, self._employment = self._employment, None
            self._endings = [ending for ending in self._endings if ending.is_alive()]
            if employment is not None:
                ending = threading.Thread(target=employment.end, name="sandbox-dismissal", daemon=True)
                ending.start()
                self._endings.append(ending)
