"""The engine's error messages as an agent may see them, and the code each kind of error has on the wire."""

from __future__ import annotations

import re
from collections.abc import Iterable

import duckdb
import pyarrow as pa

from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["ENGINE_ERRORS", "MAX_MESSAGE", "agent_error", "engine_message"]

MAX_MESSAGE = 2_000
"""Longest engine message that is passed on, in characters; the engine repeats whole statements in some."""

ENGINE_ERRORS: tuple[type[Exception], ...] = (duckdb.Error, pa.ArrowException, MemoryError, RuntimeError, OSError)
"""What the engine raises. An error in the middle of an Arrow stream is an OSError or an ArrowException with the engine's text in it."""

_BINDING = (duckdb.BinderException, duckdb.CatalogException, duckdb.TypeMismatchException)
_CRASH = (duckdb.InternalException, duckdb.FatalException)
_NO_MEMORY = re.compile(r"bad.?alloc|Out of Memory Error|std::length_error", re.IGNORECASE)
_NOISE = re.compile(
    r"\n\s*\n?(?:Possible solutions|Stack Trace|This error signals|For more information|This limit was set by)\b.*"
    r"|\s+(?:Use|You can use|Try) \"(?:SET|PRAGMA) [^\"]*\"[^\n]*",
    re.DOTALL,
)
"""Advice on settings that an agent cannot change, and stack traces."""


def engine_message(error: BaseException, hide: Iterable[str] = ()) -> str:
    """The engine's own message without advice on settings, stack traces and the texts in ``hide`` (paths).

    At most MAX_MESSAGE characters.
    """
    text = _NOISE.sub("", str(error)).strip()
    for secret in sorted((part for part in hide if part), key=len, reverse=True):
        text = text.replace(secret, "<database>")
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."


def agent_error(error: BaseException, hide: Iterable[str] = ()) -> AgentError | InfraError:
    """What an error of the engine, raised by an admitted statement, is to the outside.

    An I/O error is ours: an admitted statement touches no file but the instance and its own spill.
    """
    message = engine_message(error, hide)
    # A spill file that meets the process's file size limit is the statement's doing; a full disk is not.
    spilled = "duckdb_temp" in str(error) and "No space left" not in message
    if isinstance(error, MemoryError | duckdb.OutOfMemoryException) or _NO_MEMORY.search(message) or spilled:
        return AgentError(ErrorCode.OUT_OF_MEMORY, "the statement needs more memory or spill space than a statement may use")
    if isinstance(error, RecursionError):
        return AgentError(ErrorCode.EXECUTION_ERROR, "the statement's plan is nested too deeply; write it with fewer levels")
    if isinstance(error, duckdb.InterruptException):
        return AgentError(ErrorCode.TIMEOUT, "the statement was stopped before it finished")
    if isinstance(error, _BINDING):
        return AgentError(ErrorCode.BINDING_ERROR, message)
    if isinstance(error, duckdb.ParserException | duckdb.SyntaxException):
        return AgentError(ErrorCode.SYNTAX_ERROR, message)
    if isinstance(error, _CRASH):
        return AgentError(ErrorCode.ENGINE_CRASH, "the statement ran into an internal error of the engine; write it another way")
    if isinstance(error, duckdb.IOException) or message.startswith("IO Error"):
        return InfraError(f"the engine cannot read or write its files: {message}")
    return AgentError(ErrorCode.EXECUTION_ERROR, message or "the statement failed while it ran")
