"""The worker's side of a call: what a fresh worker does to itself, and how a job's end becomes a reply.

A job is a module-level function; it finds the worker's settings in :func:`config`. Whatever a job does, short of ending the process,
becomes a :class:`Reply`, so nothing that a job raises has to survive pickling on the way back.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import os
import pickle
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.endings import out_of_memory
from sql_optim_env.sandbox.landlock import confine
from sql_optim_env.sandbox.limits import WorkerLimits, data_bytes, renew_cpu_allowance, scrub_environment

__all__ = ["MARK", "Reply", "WorkerConfig", "config", "log_path", "logs", "on_distress", "ping", "remaining_s", "run_job", "start_worker"]

MARK = struct.Struct("<Q")
"""The number of the last job a worker began, as it stands in the mark file."""

_CPU_MARGIN_S = 2.0
"""CPU seconds beyond a job's deadline that a worker may use, so that this backstop never comes before the deadline."""


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """What a worker is told when it starts."""

    home: Path
    """The slot's directory: ``scratch/`` (emptied on start), ``mark`` and one log a process."""
    data_dir: Path
    memory_mb: int
    """Memory an engine may use for one open database, MiB."""
    spill_mb: int
    """Disk an engine may spill to for one open database, MiB."""
    open_databases: int
    """Databases a worker keeps open between jobs."""
    limits: WorkerLimits
    generated_dir: Path | None = None
    """Where datasets of generated tasks are; None: in ``data_dir``."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """Where a worker may write."""
        return (self.scratch, self.data_dir, *(() if self.generated_dir is None else (self.generated_dir,)))

    @property
    def scratch(self) -> Path:
        """The only place where a statement leaves files."""
        return self.home / "scratch"

    @property
    def mark(self) -> Path:
        """The file that says which job was begun last."""
        return self.home / "mark"


@dataclass(frozen=True, slots=True)
class Reply:
    """How a job ended: ``value`` is a pickle, ``error_code`` and ``message`` are the agent's error, ``trouble`` is ours."""

    kind: Literal["value", "agent", "infra"]
    value: bytes = b""
    error_code: ErrorCode | None = None
    message: str = ""
    trouble: str = ""
    """Traceback of our error: for the server's log, never for the wire."""
    data_bytes: int = 0
    """Private memory of the worker after the job."""


_config: WorkerConfig | None = None
_mark_fd = -1
_ends = 0.0
_distress: list[Callable[[], None]] = []


def config() -> WorkerConfig:
    """Return the settings of this worker."""
    if _config is None:
        raise RuntimeError("not inside a sandbox worker")
    return _config


def remaining_s() -> float:
    """Return the seconds that the present job has left until its deadline."""
    return _ends - time.monotonic()


def log_path(home: Path, pid: int) -> Path:
    """Return where the worker ``pid`` of the slot at ``home`` writes what native code prints."""
    return home / f"worker-{pid}.log"


def logs(home: Path) -> list[tuple[Path, int]]:
    """Return the logs that workers of the slot at ``home`` have written, each with its worker's process id."""
    return [(path, int(path.stem.removeprefix("worker-"))) for path in home.glob("worker-*.log")]


def on_distress(release: Callable[[], None]) -> None:
    """Register what gives memory back after a job ran out of it: caches that a worker can do without."""
    _distress.append(release)


def start_worker(settings: WorkerConfig) -> None:
    """Turn a fresh process into a worker: pool initializer, runs before the first job."""
    global _config, _mark_fd
    # pebble asks workers to stop with SIGTERM and handles it in Python code, which a statement inside native code never reaches.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _redirect_output(log_path(settings.home, os.getpid()))
    shutil.rmtree(settings.scratch, ignore_errors=True)
    settings.scratch.mkdir(mode=0o700)
    scratch = str(settings.scratch)
    scrub_environment({"HOME": scratch, "TMPDIR": scratch})
    tempfile.tempdir = scratch
    os.chdir(scratch)
    _mark_fd = os.open(settings.mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for directory in settings.writable:
        with contextlib.suppress(OSError):  # where it cannot be made, the first job that needs it says so
            directory.mkdir(parents=True, exist_ok=True)
    settings.limits.apply()
    confine(path for path in settings.writable if path.is_dir())
    _config = settings
    # Collections then leave alone what the fork server loaded, so those pages stay shared.
    gc.freeze()


def run_job(serial: int, deadline_s: float, payload: bytes) -> Reply:
    """Run the pickled ``(job, args)``; pool task. ``serial`` is written to the mark file before the job begins."""
    global _ends
    os.pwrite(_mark_fd, MARK.pack(serial), 0)
    renew_cpu_allowance(deadline_s + _CPU_MARGIN_S)
    _ends = time.monotonic() + deadline_s
    try:
        job, args = pickle.loads(payload)
        return Reply("value", value=pickle.dumps(job(*args), pickle.HIGHEST_PROTOCOL), data_bytes=data_bytes())
    except AgentError as error:
        if error.code is ErrorCode.OUT_OF_MEMORY:
            _release_memory()
        return Reply("agent", error_code=error.code, message=error.message, data_bytes=data_bytes())
    except MemoryError:
        _release_memory()
        shortage = out_of_memory(config().limits)
        return Reply("agent", error_code=shortage.code, message=shortage.message, data_bytes=data_bytes())
    except InfraError as error:
        return Reply("infra", message=str(error), trouble=traceback.format_exc(), data_bytes=data_bytes())
    except SystemExit as error:
        return Reply("agent", error_code=ErrorCode.ENGINE_CRASH, message=f"the statement ended its own worker ({error.code})")
    except BaseException:
        _release_memory()
        return Reply("infra", trouble=traceback.format_exc(), data_bytes=data_bytes())


def ping() -> int:
    """Return the worker's process id: the job that shows that a worker answers."""
    return os.getpid()


def _release_memory() -> None:
    for release in _distress:
        release()
    gc.collect()
    # Freed memory stays with the C library's allocator until it is asked to give it back, and counts until then.
    ctypes.CDLL(None).malloc_trim(0)


def _redirect_output(path: Path) -> None:
    # Native code prints to descriptors 1 and 2. What it says as it dies (terminate called …, Fatal Python error …) tells a crash from
    # exhausted memory, so it goes where the server can read it afterwards.
    sys.stdout.flush()
    sys.stderr.flush()
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.close(null)
    faulthandler.enable(file=sys.__stderr__ or 2)
