"""What the engine sees of the machine: no files, no libraries, a still clock, chance that can repeat, memory for temporary data.

SQLite reaches the operating system through its VFS only, so this is a wall behind every other rule: a statement that finds a way to name a
file opens nothing. The clock counts how often it is asked, which tells exactly (and not by looking at text) whether a statement's result
depends on the present time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import apsw

from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["LOCKED_VFS", "MAX_TEMPORARY_BYTES", "LockedVFS", "locked_vfs", "repeated_chance"]

LOCKED_VFS: Final = "sql_optim_locked"

MAX_TEMPORARY_BYTES: Final = 128 << 20
"""Bytes that sorters, materialised subqueries and automatic indexes may hold at once beyond their page cache.

The hungriest original among the measured shapes spills 8 MB.
"""

_STILL_TIME = 2_451_544.5  # 2000-01-01 00:00:00 as a Julian day
_MILLISECONDS_A_DAY = 86_400_000


class _TemporaryFile(apsw.VFSFile):
    """A temporary file that lives in memory. (A worker may hardly write anywhere, and its disk would be another thing to bound.)"""

    def __init__(self, owner: LockedVFS) -> None:
        self._owner = owner
        self._content = bytearray()

    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self._content[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        end = offset + len(data)
        if end > len(self._content):
            self._owner.reserve(end - len(self._content))
            self._content.extend(bytes(end - len(self._content)))
        self._content[offset:end] = data

    def xTruncate(self, newsize: int) -> None:
        self._owner.reserve(min(0, newsize - len(self._content)))
        del self._content[newsize:]

    def xClose(self) -> None:
        self.xTruncate(0)

    def xFileSize(self) -> int:
        return len(self._content)

    def xSync(self, flags: int) -> None:
        pass

    def xLock(self, level: int) -> None:
        pass

    def xUnlock(self, level: int) -> None:
        pass

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, op: int, ptr: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return 4096

    def xDeviceCharacteristics(self) -> int:
        return 0


class LockedVFS(apsw.VFS):
    """The VFS of every connection of this engine."""

    def __init__(self) -> None:
        super().__init__(LOCKED_VFS, "")
        self.clock_readings = 0
        """How often a statement of this process has asked for the time."""
        self.temporary_bytes = 0
        """Bytes that temporary files hold at this moment."""

    def reserve(self, size: int) -> None:
        """Account for ``size`` more (or fewer) temporary bytes. Raises AgentError (OUT_OF_MEMORY)."""
        if self.temporary_bytes + size > MAX_TEMPORARY_BYTES:
            raise AgentError(
                ErrorCode.OUT_OF_MEMORY,
                f"the statement needs more than {MAX_TEMPORARY_BYTES >> 20} MiB of temporary space for sorting and subqueries",
            )
        self.temporary_bytes += size

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Open a temporary file in memory; refuse everything that has a name."""
        if name is not None:
            raise AgentError(ErrorCode.REFUSED_SYNTAX, "no file can be opened, attached or written: stay inside this one database")
        flags[1] = flags[0]
        return _TemporaryFile(self)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        """Refuse."""
        raise apsw.PermissionsError("no files")

    def xAccess(self, pathname: str, flags: int) -> bool:
        """Answer that nothing is there."""
        return False

    def xFullPathname(self, name: str) -> str:
        """Leave names as they are: none is ever opened."""
        return name

    def xDlOpen(self, filename: str) -> int:
        """Refuse."""
        raise apsw.PermissionsError("no libraries")

    def xCurrentTimeInt64(self) -> int:
        """Return the time at which the clock stands, in Julian milliseconds."""
        self.clock_readings += 1
        return int(_STILL_TIME * _MILLISECONDS_A_DAY)

    def xCurrentTime(self) -> float:
        """Return the time at which the clock stands, as a Julian day."""
        self.clock_readings += 1
        return _STILL_TIME

    def xRandomness(self, amount: int) -> bytes:
        """Return the same bytes each time: the seed of the engine's random numbers inside :func:`repeated_chance`."""
        return bytes(amount)


@cache
def locked_vfs() -> LockedVFS:
    """Return the one VFS of this process, registered on first use."""
    return LockedVFS()


@contextmanager
def repeated_chance() -> Iterator[None]:
    """Make the engine's chance begin anew, the same each time: ``random()``, ``randomblob()``, rowids that it draws.

    The engine has one generator a process, and seeds it from the default VFS when it is next asked. Afterwards it is seeded from the
    machine again, since names of temporary files come from it, too.
    """
    locked_vfs()
    default = apsw.vfs_names()[0]
    apsw.set_default_vfs(LOCKED_VFS)
    try:
        apsw.randomness(0)
        apsw.randomness(1)
    finally:
        apsw.set_default_vfs(default)
    try:
        yield
    finally:
        apsw.randomness(0)
