"""What a reading statement reads: the authorizer's account, and the program's where the authorizer keeps silent.

The authorizer is not asked about the columns of ``USING`` and ``NATURAL`` joins, nor about what ``PRAGMA foreign_key_check`` compares.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import apsw

from sql_optim_env.engines.sqlite.functions import ALLOWED_FUNCTIONS, DATE_FUNCTIONS, refusal_reason
from sql_optim_env.engines.sqlite.tables import TableColumn, columns_of, tables_of
from sql_optim_env.engines.sqlite.text import call_literals, fold, shown_name
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["EVERYTHING", "Layout", "SourceRules", "action_name", "check_time_zones", "foreign_key_reads", "program_reads"]

EVERYTHING: Final = "*"
"""The structure of all tables at once: the schema table, or ``PRAGMA table_list``."""

_ABOUT_SOMETHING: Final = frozenset(
    """
    foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check table_info table_list table_xinfo
    """.split()
)
"""PRAGMAs that show something; what they are given is a name or a number of rows, never a value to set."""

_SETTINGS: Final = frozenset(
    """
    application_id collation_list database_list encoding foreign_keys freelist_count page_count page_size schema_version user_version
    """.split()
)
"""PRAGMAs that are admitted without a value."""

_STRUCTURE: Final = frozenset({"foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"})
_SCHEMA_TABLES: Final = frozenset({"sqlite_master", "sqlite_schema"})
_SCHEMA_COLUMNS: Final = frozenset({"name", "sql", "tbl_name"})
_OPEN_FUNCTIONS: Final = frozenset({"json_each", "json_tree"})
"""Table-valued functions that are admitted beside those of the PRAGMAs."""
_TIME_ZONES: Final = frozenset({"localtime", "utc"})


class Layout:
    """Tables, columns, indexes and where each is stored, as a connection has them at this moment. All names are folded."""

    def __init__(self, con: apsw.Connection) -> None:
        """Read the schema of ``con``."""
        self.tables: dict[str, tuple[TableColumn, ...]] = {}
        """The columns of each of the database's own tables."""
        self.indexes: dict[str, str]
        """The table of each index."""
        self.stored: dict[int, tuple[tuple[str, str | None], ...]] = {}
        """By root page: what the n-th value of an entry is, a (table, column), column None for an expression or a bare rowid."""
        self.keys: dict[int, int] = {}
        """By root page of an index: how many of its values are the key that it is searched by."""
        self.row_ids: dict[int, tuple[str, str]] = {}
        """By root page: the column that stands for the rowid, where there is one."""
        for table, name in tables_of(con).items():
            self.tables[table] = columns_of(con, name)
        rows: list[Any] = con.execute("SELECT type, name, tbl_name, rootpage FROM main.sqlite_schema").fetchall()
        self.indexes = {fold(name): fold(table) for kind, name, table, _ in rows if kind == "index"}
        roots = {fold(name): root for kind, name, _, root in rows if kind == "index"}
        for kind, name, _, root in rows:
            if kind == "table" and fold(name) in self.tables:
                self._add_table(con, fold(name), root)
        for index, root in roots.items():
            if self.indexes[index] in self.tables:
                self._add_index(con, index, root)

    def own(self, reads: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Those of ``reads`` that are columns of the database's own tables."""
        return frozenset(reads) & {(table, fold(column.name)) for table, columns in self.tables.items() for column in columns}

    def structures(self, pragmas: Collection[tuple[str, str]]) -> frozenset[str]:
        """The tables whose structure ``pragmas`` show, and :data:`EVERYTHING` for a list of them all."""
        shown = {self.indexes.get(about, about) for name, about in pragmas if name in _STRUCTURE}
        return frozenset(shown & self.tables.keys()) | ({EVERYTHING} if ("table_list", "") in pragmas else frozenset())

    def checked(self, pragmas: Iterable[tuple[str, str]]) -> frozenset[str]:
        """The tables whose foreign keys ``pragmas`` check."""
        named = {about for name, about in pragmas if name == "foreign_key_check"}
        return frozenset(self.tables if "" in named else named & self.tables.keys())

    def _add_table(self, con: apsw.Connection, table: str, root: int) -> None:
        columns = self.tables[table]
        keys: list[Any] = con.execute("SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", (table,)).fetchall()
        # The key of a table without rowid is the table itself, and so has no entry of its own. (PRAGMA table_list would say it, but
        # resolves every view of the schema.)
        for (name,) in keys:
            if fold(name) not in self.indexes:
                self._add_index(con, str(name), root, table)
                return
        self.stored[root] = tuple((table, fold(column.name)) for column in columns if column.stored)
        key = [column for column in columns if column.key_position]
        if not keys and key:  # no index of its own: the rowid is the key
            self.row_ids[root] = (table, fold(key[0].name))

    def _add_index(self, con: apsw.Connection, index: str, root: int, table: str = "") -> None:
        owner = table or self.indexes[index]
        rows: list[Any] = con.execute("SELECT cid, name, key FROM pragma_index_xinfo(?) ORDER BY seqno", (index,)).fetchall()
        row_id = next((key for other, key in self.row_ids.items() if self.stored[other][0][0] == owner), None)
        alias = row_id[1] if row_id else None
        self.stored[root] = tuple((owner, fold(name) if cid >= 0 else alias if cid == -1 else None) for cid, name, _ in rows)
        self.keys[root] = sum(bool(key) for _, _, key in rows)
        if row_id:
            self.row_ids[root] = row_id


class SourceRules:
    """The authorizer of what a statement may read, and the record of what it asked for. A subclass adds what it allows beyond reading."""

    def __init__(self, con: apsw.Connection) -> None:
        """Rules for the next statement on ``con``."""
        self._objects, self._modules = _names(con)
        self.columns: set[tuple[str, str]] = set()
        """(table or view, column) as the engine reports them, folded."""
        self.pragmas: set[tuple[str, str]] = set()
        """PRAGMAs and what each was given, folded; an empty text for nothing."""
        self.schema_read = False
        """Whether names or definitions are read from the schema table."""

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        """Allow or raise AgentError."""
        if action in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE):
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_READ:
            self._read(fold(first or ""), fold(second or ""), database)
        elif action == apsw.SQLITE_FUNCTION:
            self._function(fold(second or ""))
        elif action == apsw.SQLITE_PRAGMA:
            self._pragma(fold(first or ""), second)
        else:
            raise self._refused(action)
        return apsw.SQLITE_OK

    def _refused(self, action: int) -> AgentError:
        return AgentError(
            ErrorCode.NOT_ONE_SELECT,
            f"only one reading statement is admitted (SELECT, WITH, VALUES, EXPLAIN, PRAGMA); this would {action_name(action)}",
        )

    def _read(self, table: str, column: str, database: str | None) -> None:
        if table in self._objects:
            self.columns.add((table, column))
        elif table in _SCHEMA_TABLES:
            self.schema_read = self.schema_read or column in _SCHEMA_COLUMNS
        # A source none of whose columns is used is reported without a column, and so are a query's own CTEs.
        elif not self._may_read(table, database) and (column or table in self._modules or table.startswith(("sqlite_", "pragma_"))):
            raise AgentError(ErrorCode.REFUSED_TABLE, f"{shown_name(table)} is not a table or view of this database")

    def _may_read(self, table: str, database: str | None) -> bool:
        return table in _OPEN_FUNCTIONS or table.removeprefix("pragma_") in _ABOUT_SOMETHING | _SETTINGS

    def _function(self, name: str) -> None:
        if name not in ALLOWED_FUNCTIONS:
            raise AgentError(ErrorCode.REFUSED_FUNCTION, f"{shown_name(name)}() is refused because {refusal_reason(name)}")

    def _pragma(self, name: str, value: str | None) -> None:
        if name not in _ABOUT_SOMETHING and not (name in _SETTINGS and value is None):
            what = "is admitted without a value only" if name in _SETTINGS else "is not admitted"
            raise AgentError(ErrorCode.REFUSED_SYNTAX, f"PRAGMA {shown_name(name)} {what}")
        self.pragmas.add((name, fold(value or "")))


def action_name(action: int) -> str:
    """What the authorizer calls ``action``, in words: ``CREATE TRIGGER``."""
    return str(apsw.mapping_authorizer_function[action]).removeprefix("SQLITE_").replace("_", " ")


def _names(con: apsw.Connection) -> tuple[frozenset[str], frozenset[str]]:
    """Folded names of the tables and views of ``con``, and those under which the engine offers virtual tables, some of them (``dbstat``)
    without being asked.
    """
    objects = con.execute("SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')").fetchall()
    modules = con.execute("SELECT name FROM pragma_module_list").fetchall()
    return frozenset(fold(str(row[0])) for row in objects), frozenset(fold(str(row[0])) for row in modules)


def check_time_zones(sql: str) -> None:
    """Refuse the modifiers of date functions that depend on where the server stands. Raises AgentError."""
    if call_literals(sql, DATE_FUNCTIONS) & _TIME_ZONES:
        raise AgentError(
            ErrorCode.REFUSED_FUNCTION,
            "the modifiers 'localtime' and 'utc' are refused because the result depends on the server's time zone; "
            "add or subtract hours instead",
        )


_SEARCHES: Final = frozenset(
    {"Found", "IdxGE", "IdxGT", "IdxLE", "IdxLT", "NoConflict", "NotFound", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekScan"}
)
_ROW_IDS: Final = frozenset({"IdxRowid", "NotExists", "Rowid", "SeekRowid"})


def program_reads(con: apsw.Connection, sql: str, layout: Layout) -> frozenset[tuple[str, str]]:
    """(table, column) pairs whose stored values the program of ``sql`` takes or compares. Prepare it first: this raises engine errors."""
    roots: dict[int, int] = {}
    found: set[tuple[str, str | None]] = set()
    rows: list[Any] = con.execute(sql, explain=1).fetchall()
    # In two passes: the program may open a cursor behind what uses it.
    for _, name, cursor, root, schema, *_ in rows:
        if name in ("OpenRead", "ReopenIdx") and schema == 0:
            roots[cursor] = root
    for position, (_, name, cursor, place, _, argument, *_) in enumerate(rows):
        stored = layout.stored.get(roots.get(cursor, 0))
        # The rowid at the end of an automatic index's entry is not a value that the statement asked for.
        if stored is None or (name == "Rowid" and rows[position + 1][1] == "MakeRecord"):
            continue
        if name == "Column" and place < len(stored):
            found.add(stored[place])
        elif name in _ROW_IDS or (name in _SEARCHES and roots[cursor] not in layout.keys):
            found.update(_row_id(layout, roots[cursor]))
        elif name in _SEARCHES:
            found.update(stored[: _count(argument) or layout.keys[roots[cursor]]])
    return frozenset((table, column) for table, column in found if column is not None)


def _row_id(layout: Layout, root: int) -> set[tuple[str, str]]:
    return {layout.row_ids[root]} if root in layout.row_ids else set()


def _count(argument: Any) -> int:
    return int(argument) if isinstance(argument, int) or (isinstance(argument, str) and argument.isdecimal()) else 0


def foreign_key_reads(con: apsw.Connection, tables: Iterable[str]) -> frozenset[tuple[str, str]]:
    """(table, column) pairs that a check of the foreign keys of ``tables`` compares."""
    found: set[tuple[str, str]] = set()
    for table in tables:
        rows: list[Any] = con.execute('SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (table,)).fetchall()
        for parent, column, key in rows:
            found.add((table, fold(column)))
            if key is not None:
                found.add((fold(parent), fold(key)))
    return frozenset(found)
