"""The error tree, and the codes that reach the wire.

    SQLOptimError
    ├── AgentError      the agent's trouble: an ordinary observation with ``error.code``; the session lives
    ├── CallerError     the caller's trouble: OpenEnv's error envelope; the session lives
    │   ├── UnknownTaskError
    │   ├── InvalidArgumentError
    │   ├── EpisodeStateError
    │   └── SessionExpiredError     message begins with ``session_expired:``; this one session is over
    └── InfraError      our trouble: OpenEnv's error envelope, message begins with ``infra_error:``; never a score

The three are never mixed: a trainer learns from the first, mends the second and drops the rollout on the third.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "INFRA_PREFIX",
    "SESSION_EXPIRED_PREFIX",
    "AgentError",
    "CallerError",
    "EpisodeStateError",
    "ErrorCode",
    "InfraError",
    "InvalidArgumentError",
    "SQLOptimError",
    "SessionExpiredError",
    "UnknownTaskError",
]

INFRA_PREFIX = "infra_error:"
SESSION_EXPIRED_PREFIX = "session_expired:"


class ErrorCode(StrEnum):
    """Every value that ``observation.error.code`` can take."""

    EMPTY_SQL = "empty_sql"
    """No SQL where SQL is needed."""
    SQL_TOO_LONG = "sql_too_long"
    """The statement is longer than the published limit."""
    SYNTAX_ERROR = "syntax_error"
    """The engine's parser refused the text."""
    NOT_ONE_SELECT = "not_one_select"
    """Several statements, or a statement that is not a SELECT."""
    REFUSED_FUNCTION = "refused_function"
    """A function that is not on the allow-list, or one whose arguments could make unbounded work."""
    REFUSED_TABLE = "refused_table"
    """A table, file or catalogue object that is not one of the task's tables."""
    REFUSED_SYNTAX = "refused_syntax"
    """A construct that is not admitted (sampling, recursion where the task has none, positional parameters, …)."""
    BINDING_ERROR = "binding_error"
    """Names or types that do not resolve against the schema."""
    EXECUTION_ERROR = "execution_error"
    """The statement was admitted and failed while it ran (overflow, failed cast, …)."""
    TIMEOUT = "timeout"
    """The statement did not finish within the deadline and was stopped."""
    OUT_OF_MEMORY = "out_of_memory"
    """The statement needed more memory or spill space than a statement may use."""
    RESULT_TOO_LARGE = "result_too_large"
    """The result has more rows or bytes than a result may have."""
    ENGINE_CRASH = "engine_crash"
    """The statement brought its own worker down; nothing else was harmed."""
    KIND_NOT_ALLOWED = "kind_not_allowed"
    """The task does not allow this kind of action; ``allowed_kinds`` says which it does."""
    NO_EXPLORATIONS_LEFT = "no_explorations_left"
    """The episode's budget of exploring actions is used up."""
    NO_FIXES_LEFT = "no_fixes_left"
    """The episode's budget of fixes is used up."""


class SQLOptimError(Exception):
    """Base of all errors this package raises on purpose."""


class AgentError(SQLOptimError):
    """A mistake in what the agent sent. ``message`` is written for the agent to learn from and holds no server path."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code.value}: {self.message}"


class CallerError(SQLOptimError):
    """A mistake in how the environment is called (not in the agent's answer)."""


class UnknownTaskError(CallerError):
    """No such task, split, family or index; the message lists what exists."""


class InvalidArgumentError(CallerError):
    """An argument of reset or step that is unknown or out of range; the message says what is allowed."""


class EpisodeStateError(CallerError):
    """A step before reset or after the episode's end."""


class SessionExpiredError(CallerError):
    """The session was closed because it was idle for too long: its episode is lost, a new connection gets a new session."""

    def __init__(self, message: str) -> None:
        super().__init__(message if message.startswith(SESSION_EXPIRED_PREFIX) else f"{SESSION_EXPIRED_PREFIX} {message}")


class InfraError(SQLOptimError):
    """The server failed, not the agent: the rollout must be dropped, not scored."""

    def __init__(self, message: str) -> None:
        super().__init__(message if message.startswith(INFRA_PREFIX) else f"{INFRA_PREFIX} {message}")
