"""Tables as they stand in a database, which a repairing script may have shaped: names, rows, declared types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw

from sql_optim_env.engines.sqlite.budget import Budget
from sql_optim_env.engines.sqlite.capture import Value
from sql_optim_env.engines.sqlite.connection import Caps, open_database
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.sqlite.text import fold
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["TABLE_CAPS", "Affinity", "TableColumn", "columns_of", "declared_types", "quoted", "read_rows", "table_names", "tables_of"]

Affinity = Literal["BLOB", "INTEGER", "NUMERIC", "REAL", "TEXT"]

TABLE_CAPS: Final = Caps(max_vm_steps=20_000_000, max_rows=100_000, max_bytes=16 << 20, deadline_s=5.0)
"""What reading one table may use: a thousand times what the tables of an audit problem take, unless generated columns do the work."""

_VIRTUAL = 2  # table_xinfo.hidden of a generated column that is not stored


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as its table declares it."""

    name: str
    declared_type: str
    stored: bool
    """False for a virtual generated column."""
    key_position: int
    """Place in the primary key, from 1; 0 outside of it."""


def quoted(name: str) -> str:
    """Return ``name`` as an identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def tables_of(con: apsw.Connection) -> dict[str, str]:
    """The database's own tables, neither views nor the engine's: each name as it was declared, by its folded form, oldest first."""
    rows = con.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY rowid").fetchall()
    names = [str(row[0]) for row in rows]
    return {fold(name): name for name in names if not fold(name).startswith("sqlite_")}


def columns_of(con: apsw.Connection, table: str) -> tuple[TableColumn, ...]:
    """The columns of ``table`` in declared order, generated ones included; none for a name that is no table."""
    rows: list[Any] = con.execute("SELECT name, type, hidden, pk FROM pragma_table_xinfo(?, 'main')", (table,)).fetchall()
    return tuple(TableColumn(name, declared, hidden != _VIRTUAL, key) for name, declared, hidden, key in rows)


def table_names(database: bytes) -> tuple[str, ...]:
    """Names of the tables of ``database``, neither views nor the engine's own, oldest first. Raises InfraError for other bytes."""
    with open_database(database, "look") as con:
        return tuple(tables_of(con).values())


def declared_types(database: bytes, table: str) -> dict[str, Affinity]:
    """The affinity of each column of ``table`` by its declared name, from the declared type; nothing where there is no such table."""
    with open_database(database, "look") as con:
        name = tables_of(con).get(fold(table))
        return {} if name is None else {column.name: _affinity(column.declared_type) for column in columns_of(con, name)}


def read_rows(database: bytes, table: str, columns: Sequence[str], caps: Caps | None = None) -> tuple[tuple[Value, ...], ...] | None:
    """All rows of ``table`` over ``columns``, in the table's own order; None unless it is a table (not a view) that has all of them.

    Raises:
        AgentError: the rows are beyond ``caps`` (RESULT_TOO_LARGE, TIMEOUT, OUT_OF_MEMORY) or cannot be read as values (EXECUTION_ERROR).
        InfraError: the bytes are not a database.
    """
    caps = caps or TABLE_CAPS
    with open_database(database, "look") as con:
        name = tables_of(con).get(fold(table))
        if name is None:
            return None
        declared = {fold(column.name): column.name for column in columns_of(con, name)}
        if not columns or not all(fold(column) in declared for column in columns):
            return None
        listed = ", ".join(quoted(declared[fold(column)]) for column in columns)
        budget = Budget(con, caps, what="reading of the table")
        try:
            rows = _fetch(con, f"SELECT {listed} FROM main.{quoted(name)} NOT INDEXED", caps)
        except ENGINE_ERRORS as error:
            failure = agent_error(error, preparing=False)
            if isinstance(failure, InfraError):
                raise failure from error
            raise AgentError(failure.code, f"a table cannot be read: {failure.message}") from error
        budget.check()
        return rows


def _fetch(con: apsw.Connection, sql: str, caps: Caps) -> tuple[tuple[Value, ...], ...]:
    rows: list[tuple[Value, ...]] = []
    size = 0
    row: Any
    for row in con.execute(sql):
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) == caps.max_rows or size > caps.max_bytes:
            raise AgentError(ErrorCode.RESULT_TOO_LARGE, f"a table holds more than {caps.max_rows:,} rows or {caps.max_bytes:,} bytes")
        rows.append(row)
    return tuple(rows)


def _affinity(declared: str) -> Affinity:
    """The rules of sqlite.org/datatype3.html, section 3.1, in their order."""
    text = fold(declared)
    if "int" in text:
        return "INTEGER"
    if any(part in text for part in ("char", "clob", "text")):
        return "TEXT"
    if not text or "blob" in text:
        return "BLOB"
    return "REAL" if any(part in text for part in ("real", "floa", "doub")) else "NUMERIC"
