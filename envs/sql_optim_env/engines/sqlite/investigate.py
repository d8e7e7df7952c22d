"""Looking at a database: one reading statement, its rows for show, and what it read."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import apsw

from sql_optim_env.engines.base import ColumnFacts
from sql_optim_env.engines.sqlite.budget import Budget
from sql_optim_env.engines.sqlite.capture import STORAGE_CLASSES
from sql_optim_env.engines.sqlite.connection import Caps, open_database
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, run_error
from sql_optim_env.engines.sqlite.reads import EVERYTHING, Layout, SourceRules, check_time_zones, foreign_key_reads, program_reads
from sql_optim_env.engines.sqlite.showing import JsonValue, ShownRows, fetch_shown
from sql_optim_env.engines.sqlite.statement import authorized, check_characters, prepare
from sql_optim_env.engines.sqlite.tables import columns_of, quoted, tables_of
from sql_optim_env.engines.sqlite.text import fold, has_code, leading_words, shown_name
from sql_optim_env.engines.sqlite.views import check_expansion
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["LOOK_CAPS", "Investigated", "column_facts", "look", "profile_sql"]

LOOK_CAPS: Final = Caps(max_vm_steps=30_000_000, max_spill_bytes=32 << 20, max_rows=100_000, deadline_s=5.0)
"""What one look may use. Comparing 1,800 rows with each other takes about 25 million steps."""

_ADDRESS: Final = re.compile(r"vtab:[0-9A-Fa-f]+")

_ADMITTED: Final = ("SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA")


@dataclass(frozen=True, slots=True)
class Investigated:
    """What a look showed and read. The same on every run and in every process."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Storage classes of each column's shown values, as in :class:`ShownRows`."""
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int
    """Rows of the whole result, shown or not."""
    reads_columns: frozenset[tuple[str, str]]
    """(table, column) pairs of the database's own tables whose values it read, lower case."""
    structures: frozenset[str]
    """Tables whose structure it read, ``*`` for all of them; none unless a row came back. Lower case."""
    vm_steps: int
    """Instructions of the virtual machine."""

    @property
    def truncated(self) -> bool:
        """Whether rows were left out."""
        return len(self.rows) < self.row_count


def look(
    database: bytes, sql: str, *, max_rows: int = 50, deadline_s: float = LOOK_CAPS.deadline_s, caps: Caps | None = None
) -> Investigated:
    """Run ``sql``, exactly one reading statement, on a copy of ``database``; show its first ``max_rows`` rows.

    Admitted are SELECT, WITH, VALUES, EXPLAIN [QUERY PLAN] of those, and PRAGMAs that show something; in all of them tables and views of
    the database, ``sqlite_schema``, ``json_each``, ``json_tree`` and the table-valued forms of the admitted PRAGMAs. EXPLAIN reads nothing.

    Raises:
        AgentError: the statement is refused (NOT_ONE_SELECT, REFUSED_SYNTAX, REFUSED_TABLE, REFUSED_FUNCTION, EMPTY_SQL, SQL_TOO_LONG,
            SYNTAX_ERROR, BINDING_ERROR), fails (EXECUTION_ERROR) or exceeds ``caps`` (TIMEOUT, OUT_OF_MEMORY, RESULT_TOO_LARGE).
        InfraError: the bytes are not a database.
    """
    caps = replace(caps or LOOK_CAPS, deadline_s=deadline_s)
    check_characters(sql)
    words = leading_words(sql, 1)
    if has_code(sql) and words[:1] not in [(word,) for word in _ADMITTED]:
        begins = f"this begins with {shown_name(words[0])}" if words else "this begins otherwise"
        raise AgentError(ErrorCode.NOT_ONE_SELECT, f"only one reading statement is admitted ({', '.join(_ADMITTED)}); {begins}")
    with open_database(database, "look") as con:
        layout = Layout(con)
        planned, ran = SourceRules(con), SourceRules(con)
        budget = Budget(con, caps)
        check_expansion(con, sql)
        with authorized(con, planned):
            prepare(con, sql)
        check_time_zones(sql)
        before = budget.vm_steps
        try:
            with authorized(con, ran):
                shown = fetch_shown(con, sql, max_rows, limit=caps.max_rows)
        except ENGINE_ERRORS as error:
            raise run_error(error) from error
        budget.check()
        vm_steps = budget.vm_steps - before
        if words[0] == "EXPLAIN":
            return _investigated(_without_addresses(shown), frozenset(), frozenset(), vm_steps)
        # PRAGMAs resolve the views of the schema, which is not reading them; and what a PRAGMA asks for inside of a statement, it asks
        # for while that runs. So columns are taken from the planning and PRAGMAs from the run.
        columns = frozenset() if words[0] == "PRAGMA" else layout.own(planned.columns) | program_reads(con, sql, layout)
        columns |= foreign_key_reads(con, layout.checked(ran.pragmas))
        structures = layout.structures(ran.pragmas) | ({EVERYTHING} if planned.schema_read and words[0] != "PRAGMA" else set())
        return _investigated(shown, columns, structures, vm_steps)


def profile_sql(database: bytes, table: str, column: str) -> str:
    """The one query that profiles a column. Raises AgentError (BINDING_ERROR) for a table or column that does not exist; it lists those
    that do.
    """
    with open_database(database, "look") as con:
        return _profile_sql(*_resolve(con, table, column)[:2])


def column_facts(
    database: bytes, table: str, column: str, *, deadline_s: float = LOOK_CAPS.deadline_s
) -> tuple[ColumnFacts, Investigated, str]:
    """Profile a column: the facts, the look that they were taken with, and its SQL. Raises what ``profile_sql`` and ``look`` raise."""
    with open_database(database, "look") as con:
        table, column, declared_type = _resolve(con, table, column)
    sql = _profile_sql(table, column)
    found = look(database, sql, deadline_s=deadline_s)
    row_count, distinct_count, minimum, maximum, *counts = found.rows[0]
    classes = dict(zip(_CLASSES, map(_whole, counts), strict=True))
    types = tuple(sorted((name, count) for name, count in classes.items() if count))
    facts = ColumnFacts(table, column, declared_type, _whole(row_count), classes["NULL"], _whole(distinct_count), minimum, maximum, types)
    return facts, found, sql


_CLASSES: Final = tuple(STORAGE_CLASSES.values())


def _whole(value: JsonValue) -> int:
    return int(value or 0)


def _resolve(con: apsw.Connection, table: str, column: str) -> tuple[str, str, str]:
    """The names as they are declared, and the declared type."""
    tables = tables_of(con)
    name = tables.get(fold(table))
    if name is None:
        listed = ", ".join(tables.values())
        raise AgentError(ErrorCode.BINDING_ERROR, f"there is no table {shown_name(table) or '(no name)'}; there are: {listed}")
    columns = {fold(item.name): item for item in columns_of(con, name)}
    found = columns.get(fold(column))
    if found is None:
        listed = ", ".join(item.name for item in columns.values())
        raise AgentError(
            ErrorCode.BINDING_ERROR, f"table {name} has no column {shown_name(column) or '(no name)'}; its columns are: {listed}"
        )
    return name, found.name, found.declared_type


def _profile_sql(table: str, column: str) -> str:
    value = quoted(column)
    classes = ", ".join(f"count(*) FILTER (WHERE typeof({value}) = '{name.lower()}') AS {name.lower()}_count" for name in _CLASSES)
    return (
        f"SELECT count(*) AS row_count, count(DISTINCT {value}) AS distinct_count, "
        f"min({value}) AS minimum, max({value}) AS maximum, {classes} FROM {quoted(table)}"
    )


def _investigated(shown: ShownRows, reads: frozenset[tuple[str, str]], structures: Collection[str], vm_steps: int) -> Investigated:
    seen = frozenset(structures) if shown.row_count else frozenset()
    return Investigated(shown.columns, shown.types, shown.rows, shown.row_count, reads, seen, vm_steps)


def _without_addresses(shown: ShownRows) -> ShownRows:
    """EXPLAIN names a virtual table by where it stands in memory, which differs in every process."""
    rows = tuple(tuple(_ADDRESS.sub("vtab", value) if isinstance(value, str) else value for value in row) for row in shown.rows)
    return replace(shown, rows=rows)
