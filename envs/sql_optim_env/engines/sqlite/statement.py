"""One text, one statement: what every text of an agent passes first, whatever it may do afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import apsw

from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.sqlite.text import has_code
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["MAX_SQL_LENGTH", "Authorizer", "Opcode", "authorized", "check_characters", "prepare"]

MAX_SQL_LENGTH: Final = 20_000
"""Longest statement, in characters: the published limit of the action's SQL fields."""


class Authorizer(Protocol):
    """What SQLite asks, while it prepares a statement, about everything that the statement would touch; it may raise AgentError."""

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        """Return SQLITE_OK or SQLITE_DENY. What the names mean depends on the action (sqlite.org/c3ref/c_alter_table.html)."""
        ...


@dataclass(frozen=True, slots=True)
class Opcode:
    """An instruction of a prepared statement, as ``EXPLAIN`` shows it; only what is inspected."""

    name: str
    p1: int
    p2: int
    p3: int


@contextmanager
def authorized(con: apsw.Connection, authorizer: Authorizer) -> Iterator[None]:
    """Prepare statements under ``authorizer`` inside the block."""
    con.authorizer = authorizer
    try:
        yield
    finally:
        con.authorizer = None


def prepare(con: apsw.Connection, sql: str) -> tuple[Opcode, ...]:
    """Prepare ``sql``, exactly one statement, without running it, and return its program. Comments and semicolons around it are fine.

    The connection's authorizer decides about it; what that raises is raised here.

    Raises:
        AgentError: EMPTY_SQL, SQL_TOO_LONG, NOT_ONE_SELECT (more than one statement), SYNTAX_ERROR, BINDING_ERROR or REFUSED_SYNTAX.
    """
    check_characters(sql)
    found, consumed = False, 0

    def trace(cursor: apsw.Cursor, text: str, bindings: Any) -> bool:
        nonlocal found, consumed
        consumed += len(text)
        found = found or cursor.has_vdbe
        # Noticed before the next one is prepared: it may be wrong for want of what the first would have made.
        if found and has_code(sql[consumed:]):
            raise AgentError(ErrorCode.NOT_ONE_SELECT, "this text holds more than one statement; send exactly one")
        return True

    con.exec_trace = trace
    try:
        rows: list[Any] = con.execute(sql, explain=1).fetchall()
    except ENGINE_ERRORS as error:
        raise agent_error(error, preparing=True) from error
    finally:
        con.exec_trace = None
    if not found:
        raise AgentError(ErrorCode.EMPTY_SQL, "there is no statement in this text")
    return tuple(Opcode(str(name), int(p1), int(p2), int(p3)) for _, name, p1, p2, p3, *_ in rows)


def check_characters(sql: str, *, what: str = "statement") -> None:
    """Check the length and the characters of a text, which messages call ``what``. Raises AgentError (SQL_TOO_LONG or SYNTAX_ERROR)."""
    if len(sql) > MAX_SQL_LENGTH:
        raise AgentError(ErrorCode.SQL_TOO_LONG, f"the {what} has {len(sql):,} characters; at most {MAX_SQL_LENGTH:,} are admitted")
    if "\x00" in sql:
        raise AgentError(ErrorCode.SYNTAX_ERROR, "the text holds a NUL character; send plain SQL text")
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise AgentError(ErrorCode.SYNTAX_ERROR, "the text holds half a surrogate pair; send plain SQL text") from None
