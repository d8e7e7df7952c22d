"""The engine's errors as an agent may see them. Databases are opened from memory, so no message can hold a path."""

from __future__ import annotations

import re
from typing import Final

import apsw

from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["ENGINE_ERRORS", "MAX_MESSAGE", "agent_error", "run_error"]

MAX_MESSAGE: Final = 2_000
"""Longest engine message that is passed on, in characters; the engine repeats names and tokens in some."""

ENGINE_ERRORS: Final = (apsw.Error, UnicodeDecodeError)
"""What the engine raises. Text that is not valid UTF-8 is noticed when a row is fetched."""

_SYNTAX = re.compile(r'near ".*": syntax error|unrecognized token|incomplete input', re.DOTALL)
_TOO_MUCH = re.compile(r"too (?:large|many|big)|[Rr]ecursion limit|stack overflow|at most \d+ tables in a join", re.DOTALL)


def agent_error(error: BaseException, *, preparing: bool) -> AgentError | InfraError:
    """Return what an engine error means to the outside; ``preparing`` tells a text that cannot run from a run that failed."""
    text = str(error)
    message = text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
    if isinstance(error, UnicodeDecodeError):
        return AgentError(ErrorCode.EXECUTION_ERROR, "a TEXT value of the result is not valid UTF-8; return it as a BLOB or as hex()")
    if isinstance(error, apsw.NoMemError):
        return AgentError(ErrorCode.OUT_OF_MEMORY, "the statement needs more memory than a statement may use")
    if isinstance(error, apsw.FullError):
        return AgentError(ErrorCode.OUT_OF_MEMORY, "the database may not grow any further")
    if isinstance(error, apsw.InterruptError):
        return AgentError(ErrorCode.TIMEOUT, "the statement was stopped before it finished")
    if isinstance(error, apsw.BindingsError):
        return AgentError(
            ErrorCode.REFUSED_SYNTAX, "parameters (?, :name, @name, $name) are not admitted; write the values into the statement"
        )
    if isinstance(error, apsw.AuthError | apsw.PermissionsError):
        return AgentError(ErrorCode.REFUSED_SYNTAX, f"this is not admitted: {message}")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.IOError | apsw.CantOpenError | apsw.InternalError | apsw.MisuseError):
        return InfraError(f"the engine cannot read its database: {type(error).__name__}")
    if preparing and isinstance(error, apsw.SQLError | apsw.TooBigError):
        if _SYNTAX.match(text):
            return AgentError(ErrorCode.SYNTAX_ERROR, message)
        if _TOO_MUCH.search(text):
            return AgentError(ErrorCode.REFUSED_SYNTAX, f"the statement is too large or nested too deeply: {message}")
        return AgentError(ErrorCode.BINDING_ERROR, message)
    return AgentError(ErrorCode.EXECUTION_ERROR, message or "the statement failed while it ran")


def run_error(error: BaseException) -> AgentError:
    """Return what an engine error means that a statement met while it ran on a copy of its own.

    The engine opened this database just now; what it cannot read any more, the statement has broken.
    """
    failure = agent_error(error, preparing=False)
    if isinstance(failure, InfraError):
        return AgentError(ErrorCode.EXECUTION_ERROR, f"the statement failed: {error}")
    return failure
