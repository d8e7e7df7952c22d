"""What a worker process may use: limits that the kernel enforces, and an environment without secrets.

Everything here is applied by the worker to itself, once, before its first job; only the CPU allowance moves with every job.

Which limit bounds memory was found by experiment (DuckDB 2.0.1, PyArrow 26, glibc, Linux 6.18). ``RLIMIT_AS`` is of no use: every open
database reserves 0.2 to 0.7 GB of address space it never touches, so a comparison of two results of 1 M rows x 6 columns fails under
1.6 GB of address space while it holds 0.4 GB. ``RLIMIT_DATA`` counts private writable memory, which is what a bomb needs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["KEPT_VARIABLES", "WorkerLimits", "data_bytes", "renew_cpu_allowance", "scrub_environment"]

KEPT_VARIABLES = frozenset({"LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONHASHSEED", "TZ"})
"""Environment variables that a worker keeps; every other one may be a secret and is dropped."""

_MIB = 1 << 20

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38

_CAPABILITY_VERSION_3 = 0x20080522
_FILE_CAPABILITIES = 0b1111  # CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER: a data directory may belong to somebody else


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Kernel limits of one worker. Sizes are in MiB; a limit is never raised above the one the server itself has."""

    data_mb: int = 1280
    """Private writable memory (``RLIMIT_DATA``). A worker has 0.1 GB when it is idle, 0.5 GB with the databases of seven tasks open and
    0.65 GB once it has played all families, half of it reserved by allocators and not used; comparing two results of 1 M rows x 6 columns
    takes 0.2 GB more. With 1024 MiB the families' caches made a worker look worn every few dozen episodes.
    """
    file_mb: int = 1024
    """Largest file a worker may write (``RLIMIT_FSIZE``): the spill file of a query, or an instance built on first use."""
    open_files: int = 512
    """Open descriptors. A worker holds up to 40 databases and 128 results open, one descriptor each."""

    def apply(self) -> None:
        """Put the limits on this process for good: also no core dumps, no new privileges, no capabilities, and death with
        the parent.
        """
        _lower(resource.RLIMIT_DATA, self.data_mb * _MIB)
        _lower(resource.RLIMIT_FSIZE, self.file_mb * _MIB)
        _lower(resource.RLIMIT_NOFILE, self.open_files)
        _lower(resource.RLIMIT_CORE, 0)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        # A core that is piped to a handler ignores RLIMIT_CORE. A process that is not dumpable leaves none, and its peers cannot trace it.
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _drop_capabilities()


def renew_cpu_allowance(seconds: float) -> None:
    """Allow this process ``seconds`` of CPU time from now on; over it the kernel ends it with SIGXCPU.

    The limit counts CPU time since the process started, so it has to move with every job. It is the backstop for a worker whose parent
    can no longer kill it; the deadline itself is wall time and kept by the pool.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (_clamp(wanted, hard), hard))


def scrub_environment(extra: dict[str, str], keep: Iterable[str] = KEPT_VARIABLES) -> None:
    """Leave only the ``keep`` variables and ``extra`` in the environment, also in the block that ``/proc/<pid>/environ`` shows."""
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    os.environ.clear()
    _erase_initial_environment()
    os.environ.update(kept | extra)


def data_bytes() -> int:
    """Private writable memory of this process in bytes, the figure ``RLIMIT_DATA`` bounds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    return pages * resource.getpagesize()


def _lower(limit: int, wanted: int) -> None:
    _, hard = resource.getrlimit(limit)
    value = _clamp(wanted, hard)
    resource.setrlimit(limit, (value, value))


def _clamp(wanted: int, hard: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def _drop_capabilities() -> None:
    """Give up every capability but those over ownership and modes of files; does something only where the server runs as root."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    # Effective, permitted and inheritable sets, first their low 32 bits, then their high ones.
    sets = ctypes.create_string_buffer(24)
    if libc.capget(header, sets) == 0:
        effective, permitted = struct.unpack_from("=II", sets.raw)
        kept = struct.pack("=6I", effective & _FILE_CAPABILITIES, permitted & _FILE_CAPABILITIES, 0, 0, 0, 0)
        if libc.capset(header, kept) == 0:
            return
    number = ctypes.get_errno()
    raise OSError(number, f"capabilities cannot be dropped: {os.strerror(number)}")


def _erase_initial_environment() -> None:
    # The strings a process was started with stay in memory after unsetenv. Nothing points at them once os.environ is empty.
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
