"""Admission of a graded query: exactly one SELECT over the task's tables, whose result depends on nothing else.

Four layers, each of which would do for most cheats: the first keyword, the authorizer's allow-list, the program itself (every b-tree that
it opens must be one of the task's), and, once it has run, the clock (see :mod:`vfs`). Recursive CTEs are admitted; a cap on steps of the
virtual machine bounds them.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

from sql_optim_env.engines.sqlite.functions import ALLOWED_FUNCTIONS, DATE_FUNCTIONS, refusal_reason
from sql_optim_env.engines.sqlite.statement import authorized, prepare
from sql_optim_env.engines.sqlite.text import fold, has_code, leading_words, shown_name, string_literals
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["QueryRules", "admit"]

_TIME_ZONES = frozenset({"localtime", "utc"})


class QueryRules:
    """The authorizer of graded queries: SELECT, READ of the task's tables, listed functions and recursion; nothing else."""

    def __init__(self, tables: Collection[str], objects: Collection[str]) -> None:
        """``tables`` are those a query may read, ``objects`` every name that the schema gives to something."""
        self._tables = frozenset(map(fold, tables))
        self._objects = frozenset(map(fold, objects))
        self.functions: set[str] = set()
        """Functions that the query calls."""

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        """Allow or raise AgentError."""
        if action in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE):
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_READ:
            self._read(fold(first or ""), second or "", database)
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION:
            self._function(fold(second or ""))
            return apsw.SQLITE_OK
        name = str(apsw.mapping_authorizer_function[action]).removeprefix("SQLITE_").replace("_", " ")
        raise AgentError(ErrorCode.NOT_ONE_SELECT, f"only one SELECT that reads the task's tables is admitted; this statement would {name}")

    def _read(self, table: str, column: str, database: str | None) -> None:
        if table in self._tables and database in ("main", None):
            return
        # A source none of whose columns is used is reported without a column, and so are a query's own CTEs.
        if not column and table not in self._objects and not table.startswith(("sqlite_", "pragma_")):
            return
        raise AgentError(
            ErrorCode.REFUSED_TABLE, f"{shown_name(table)} is not one of the task's tables ({', '.join(sorted(self._tables))})"
        )

    def _function(self, name: str) -> None:
        if name not in ALLOWED_FUNCTIONS:
            raise AgentError(ErrorCode.REFUSED_FUNCTION, f"{shown_name(name)}() is refused because {refusal_reason(name)}")
        self.functions.add(name)


def admit(con: apsw.Connection, sql: str, tables: Collection[str]) -> QueryRules:
    """Admit ``sql`` to run on ``con`` as it stands, with ``tables`` as the tables that it may read; return the rules to run it under.

    Raises:
        AgentError: EMPTY_SQL, SQL_TOO_LONG, SYNTAX_ERROR, NOT_ONE_SELECT, REFUSED_FUNCTION, REFUSED_TABLE, REFUSED_SYNTAX or BINDING_ERROR,
            with a message that says what is admitted.
    """
    words = leading_words(sql, 1)
    if has_code(sql) and words not in (("SELECT",), ("WITH",)):
        begins = f"this begins with {shown_name(words[0])}" if words else "this begins otherwise"
        raise AgentError(ErrorCode.NOT_ONE_SELECT, f"only one SELECT (or WITH … SELECT) is admitted; {begins}")
    owned = frozenset(map(fold, tables))
    objects, roots = set(), set()
    for name, table, root in con.execute("SELECT name, tbl_name, rootpage FROM sqlite_schema"):
        objects.add(str(name))
        if fold(str(table)) in owned:
            roots.add(root)
    rules = QueryRules(owned, objects)
    with authorized(con, rules):
        program = prepare(con, sql)
    for opcode in program:
        if opcode.name == "VOpen":
            raise AgentError(ErrorCode.REFUSED_TABLE, "table-valued functions and virtual tables are not admitted; read the task's tables")
        if opcode.name == "OpenWrite":
            raise AgentError(ErrorCode.NOT_ONE_SELECT, "only one SELECT is admitted; this statement would write")
        if opcode.name in ("OpenRead", "ReopenIdx") and (opcode.p2 not in roots or opcode.p3 != 0):
            raise AgentError(ErrorCode.REFUSED_TABLE, "the statement reads something that is not one of the task's tables")
    if rules.functions & DATE_FUNCTIONS and string_literals(sql) & _TIME_ZONES:
        raise AgentError(
            ErrorCode.REFUSED_FUNCTION,
            "the modifiers 'localtime' and 'utc' are refused because the result depends on the server's time zone",
        )
    return rules
