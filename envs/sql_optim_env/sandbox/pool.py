"""The sandbox as the server sees it: a fixed number of workers, a fair queue in front of them, and one call.

    with Sandbox(workers=2, data_dir=...) as sandbox:
        result = sandbox.call(run_query, task_id, sql)

A call waits its turn (first come, first served), then has its deadline to itself. It returns what the job returned, or raises AgentError or
InfraError, never anything else.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import pickle
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar, cast

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.slot import START_TIMEOUT_S, WorkerSlot
from sql_optim_env.sandbox.worker import WorkerConfig, ping

__all__ = ["Sandbox", "SandboxMetrics"]

T = TypeVar("T")

_PREFIX = "sql-optim-sandbox-"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SandboxMetrics:
    """What the sandbox has done since it was made. ``busy_seconds`` is wall time that workers spent on calls, queue time excluded."""

    workers: int
    waiting: int
    """Calls in the queue at this moment."""
    calls: int
    """Calls that ended, in whatever way."""
    timeouts: int
    crashes: int
    out_of_memory: int
    infra_errors: int
    """Calls that failed through no fault of the statement."""
    busy_seconds: float


class Sandbox:
    """Runs jobs in worker processes. Thread-safe; safe in a process that has threads and an event loop, which it must not block.

    ``scratch_root`` is where workers keep temporary files (default: the system's temporary directory); everything below it that belongs to
    this sandbox is gone after :meth:`close`, and what a killed server left behind is removed by the next one.
    """

    def __init__(
        self,
        *,
        workers: int,
        data_dir: Path,
        deadline_s: float = 10.0,
        memory_mb: int = 256,
        spill_mb: int = 512,
        open_databases: int = 40,
        limits: WorkerLimits | None = None,
        scratch_root: Path | None = None,
        generated_dir: Path | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError(f"a sandbox needs at least one worker, not {workers}")
        self._limits = limits if limits is not None else WorkerLimits()
        if self._limits.file_mb < spill_mb:
            raise ValueError(f"a worker may write files of {self._limits.file_mb} MiB, which is less than the {spill_mb} MiB it may spill")
        self._count = workers
        self._deadline_s = deadline_s
        self._data_dir, self._generated_dir = data_dir, generated_dir
        self._memory_mb, self._spill_mb, self._open_databases = memory_mb, spill_mb, open_databases
        self._scratch_root = scratch_root if scratch_root is not None else Path(tempfile.gettempdir())
        self._scratch: _Scratch | None = None
        self._slots: tuple[WorkerSlot, ...] = ()
        self._queue = _SlotQueue()
        self._state_lock = threading.Lock()
        self._tally = _Tally()

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Start the workers and wait until each has answered. Raises InfraError, and leaves nothing behind, when one does not."""
        with self._state_lock:
            if self._scratch is not None or self._queue.closed:
                raise InfraError("a sandbox is started once")
            self._scratch = _Scratch(self._scratch_root)
            self._slots = tuple(WorkerSlot(self._settings(self._scratch.path / f"slot-{number}")) for number in range(self._count))
        try:
            with ThreadPoolExecutor(self._count, thread_name_prefix="sandbox-start") as starters:
                list(starters.map(_ping, self._slots))
        except BaseException:
            self.close()
            raise
        for slot in self._slots:
            self._queue.put(slot)

    def ready(self) -> bool:
        """Whether every worker answers. Does not block: one that could not be started last time is asked again in the background."""
        if not self._slots or self._queue.closed:
            return False
        for slot in self._slots:
            if not slot.answered and self._queue.take(slot):
                threading.Thread(target=self._ask_again, args=(slot,), name="sandbox-ping", daemon=True).start()
        return all(slot.answered for slot in self._slots)

    def call(
        self, job: Callable[..., T], *args: object, deadline_s: float | None = None, collect: Callable[[T, Path], None] | None = None
    ) -> T:
        """Run ``job(*args)`` in a worker and return its result; blocks the calling thread.

        ``job`` is a module-level function; arguments and result are picklable. ``deadline_s`` (default: the sandbox's) counts from the
        moment a worker takes the job. ``collect`` gets the result and the worker's scratch directory before any other job may run there:
        the moment to move away a file that the job has left. What it raises is raised here.

        Raises AgentError (the job's own, or TIMEOUT, OUT_OF_MEMORY, ENGINE_CRASH) or InfraError.
        """
        try:
            payload = pickle.dumps((job, args), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise InfraError(f"a sandbox job cannot be sent: {error}") from error
        slot = self._queue.get()
        began = time.monotonic()
        try:
            result = cast("T", slot.run(payload, self._deadline_s if deadline_s is None else deadline_s))
            if collect is not None:
                collect(result, slot.scratch)
        except BaseException as error:
            self._tally.add(time.monotonic() - began, error)
            raise
        else:
            self._tally.add(time.monotonic() - began, None)
            return result
        finally:
            self._queue.put(slot)

    def metrics(self) -> SandboxMetrics:
        """Return the counters as they are now."""
        return self._tally.snapshot(self._count, self._queue.waiting)

    def worker_pids(self) -> tuple[int, ...]:
        """Return the process ids of the present workers."""
        return tuple(pid for slot in self._slots if (pid := slot.pid) is not None)

    def make_directory(self, prefix: str) -> Path:
        """Make a directory that nobody but the server may enter, on the same file system as the workers' scratch directories.

        Workers may read what is in it and not write there. It is gone after :meth:`close` unless its owner removes it before.
        """
        with self._state_lock:
            if self._scratch is None or self._queue.closed:
                raise InfraError("the sandbox is not running")
            return Path(tempfile.mkdtemp(prefix=prefix, dir=self._scratch.path))

    def close(self) -> None:
        """Kill the workers and remove their files. Calls that wait or run fail with InfraError. Idempotent."""
        with self._state_lock:
            self._queue.close()
            for slot in self._slots:
                slot.close()
            if self._scratch is not None:
                self._scratch.remove()

    def _ask_again(self, slot: WorkerSlot) -> None:
        try:
            _ping(slot)
        except InfraError as error:
            _log.warning("a sandbox worker does not answer: %s", error)
        finally:
            self._queue.put(slot)

    def _settings(self, home: Path) -> WorkerConfig:
        return WorkerConfig(
            home=home,
            data_dir=self._data_dir,
            generated_dir=self._generated_dir,
            memory_mb=self._memory_mb,
            spill_mb=self._spill_mb,
            open_databases=self._open_databases,
            limits=self._limits,
        )


class _SlotQueue:
    """Free slots, and the callers that wait for one in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[WorkerSlot] = []
        self._waiting: deque[Future[WorkerSlot]] = deque()
        self.closed = False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def get(self) -> WorkerSlot:
        with self._lock:
            if self.closed:
                raise InfraError("the sandbox is closed")
            if self._free:
                # The slot that was used last: its databases are open and warm.
                return self._free.pop()
            turn: Future[WorkerSlot] = Future()
            self._waiting.append(turn)
        try:
            return turn.result()
        except InfraError:
            raise
        except BaseException:
            with self._lock:
                if turn in self._waiting:
                    self._waiting.remove(turn)
            if turn.done() and turn.exception() is None:
                self.put(turn.result())
            raise

    def put(self, slot: WorkerSlot) -> None:
        with self._lock:
            if self._waiting:
                # Handed over directly: a caller that comes now cannot overtake the one that waits.
                self._waiting.popleft().set_result(slot)
            else:
                self._free.append(slot)

    def take(self, slot: WorkerSlot) -> bool:
        """Take this very slot if it is free."""
        with self._lock:
            if slot not in self._free:
                return False
            self._free.remove(slot)
            return True

    def close(self) -> None:
        with self._lock:
            self.closed = True
            while self._waiting:
                self._waiting.popleft().set_exception(InfraError("the sandbox was closed before the statement's turn"))


class _Tally:
    """Counters under a lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = self._timeouts = self._crashes = self._memory = self._infra = 0
        self._busy = 0.0

    def add(self, seconds: float, error: BaseException | None) -> None:
        code = error.code if isinstance(error, AgentError) else None
        with self._lock:
            self._calls += 1
            self._busy += seconds
            self._timeouts += code is ErrorCode.TIMEOUT
            self._crashes += code is ErrorCode.ENGINE_CRASH
            self._memory += code is ErrorCode.OUT_OF_MEMORY
            self._infra += isinstance(error, InfraError)

    def snapshot(self, workers: int, waiting: int) -> SandboxMetrics:
        with self._lock:
            return SandboxMetrics(workers, waiting, self._calls, self._timeouts, self._crashes, self._memory, self._infra, self._busy)


class _Scratch:
    """The directory of one sandbox. A lock on a file inside says that its owner lives, so the next server can tell what was left behind."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for abandoned in _abandoned(root):
            shutil.rmtree(abandoned, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        # Locked under another name first: a lock file that can be seen is locked, or its owner is gone.
        draft = self.path / "lock.new"
        self._lock_fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock_fd, fcntl.LOCK_EX)
        draft.rename(self.path / "lock")

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1


def _abandoned(root: Path) -> Iterator[Path]:
    for lock in root.glob(f"{_PREFIX}*/lock"):
        with contextlib.suppress(OSError), lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield lock.parent


def _ping(slot: WorkerSlot) -> None:
    slot.run(pickle.dumps((ping, ())), START_TIMEOUT_S)
