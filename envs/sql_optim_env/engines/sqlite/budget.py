"""What looks and scripts may use of the engine, over all their statements together, and whether one of them asked for the time."""

from __future__ import annotations

import time
from typing import Any, Final

import apsw

from sql_optim_env.engines.sqlite.connection import Caps
from sql_optim_env.engines.sqlite.vfs import locked_vfs
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["Budget"]

_STEPS: Final = 100
"""Steps of the virtual machine between two looks at the budget. A step may be a function call of 0.05 s (see ``connection``)."""

_PROFILER_READINGS: Final = 2
"""How often the engine itself asks for the time while it counts a statement's steps: when it begins and when it has ended."""


class Budget:
    """A progress handler that ends whatever runs on a connection beyond its caps, with the reason as the error.

    Preparing a statement counts too: views over views can be small to write and endless to prepare.
    """

    def __init__(self, con: apsw.Connection, caps: Caps, *, what: str = "statement") -> None:
        """Watch ``con`` from now on; messages call what runs there ``what``."""
        self._con = con
        self._caps = caps
        self._what = what
        self._ends = time.monotonic() + caps.deadline_s
        self._looks = 0
        self._ended = 0
        self._clock = locked_vfs().clock_readings
        self.vm_steps = 0
        """Instructions of the virtual machine in all statements that have ended."""
        con.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._profile)
        con.set_progress_handler(self._look, _STEPS)

    def check(self) -> None:
        """Ask once more with the exact figures, when a statement has ended. Raises AgentError.

        TIMEOUT for steps and the deadline, OUT_OF_MEMORY for spilled bytes, REFUSED_FUNCTION when a statement has read the clock.
        """
        self._check(self.vm_steps)
        if locked_vfs().clock_readings != self._clock + _PROFILER_READINGS * self._ended:
            raise AgentError(
                ErrorCode.REFUSED_FUNCTION,
                f"the {self._what} reads the clock ('now', CURRENT_TIMESTAMP, …), and what it does must not change with time; "
                "write the date or time as a literal",
            )

    def _check(self, vm_steps: int) -> None:
        caps = self._caps
        if time.monotonic() > self._ends:
            raise AgentError(ErrorCode.TIMEOUT, f"the {self._what} was stopped: it did not finish within {caps.deadline_s:g} s")
        if vm_steps > caps.max_vm_steps:
            raise AgentError(
                ErrorCode.TIMEOUT,
                f"the {self._what} was stopped after {caps.max_vm_steps:,} steps of the engine's virtual machine "
                "(endless recursion, nested loops over large tables, views over views)",
            )
        if self._con.status(apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL)[0] > caps.max_spill_bytes:
            raise AgentError(
                ErrorCode.OUT_OF_MEMORY, f"the {self._what} was stopped after its sorters spilled {caps.max_spill_bytes:,} bytes"
            )

    def _look(self) -> bool:
        self._looks += 1
        self._check(self._looks * _STEPS)
        return False

    def _profile(self, event: dict[str, Any]) -> None:
        # Also of the statements that a table-valued PRAGMA runs inside another one.
        self._ended += 1
        self.vm_steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
