"""A database from plain data: the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from sql_optim_env.engines.sqlite.capture import Value
from sql_optim_env.engines.sqlite.tables import quoted
from sql_optim_env.engines.sqlite.vfs import LOCKED_VFS, locked_vfs
from sql_optim_env.errors import AgentError, InfraError

__all__ = ["build_database"]


def build_database(ddl: Sequence[str], rows: Mapping[str, Sequence[Sequence[Value]]]) -> bytes:
    """Return the bytes of a database (4 KiB pages, UTF-8) with the schema ``ddl`` and, in the given order, the rows of each table.

    Foreign keys are not enforced meanwhile: a database may be meant to break them.

    Raises:
        InfraError: a statement fails or rows do not fit their table.
    """
    locked_vfs()
    con = apsw.Connection(":memory:", vfs=LOCKED_VFS, statementcachesize=0)
    try:
        con.execute("PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA foreign_keys = 0")
        with con:
            for statement in ddl:
                con.execute(statement).fetchall()
            for table, content in rows.items():
                _insert(con, table, content)
        return con.serialize("main")
    except (AgentError, apsw.Error, TypeError) as error:
        raise InfraError(f"a database cannot be built: {error}") from error
    finally:
        con.close()


def _insert(con: apsw.Connection, table: str, rows: Sequence[Sequence[Value]]) -> None:
    if rows:
        places = ", ".join("?" * len(rows[0]))
        con.executemany(f"INSERT INTO {quoted(table)} VALUES ({places})", rows)
