"""Supporting DDL, clean-room: each item is run alone on a private copy, then what it did is compared with what was allowed.

The authorizer cannot tell a composite, partial or unique index from a plain one, and a statement can do more than its first words say. So
there are two nets: what an item asks for while it is prepared and run, and what is different afterwards in the schema and in the file's
header.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw

from sql_optim_env.engines.sqlite.connection import Watch, open_database
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.sqlite.rules import DdlError, Rule
from sql_optim_env.engines.sqlite.statement import authorized, prepare
from sql_optim_env.engines.sqlite.text import fold, has_code, leading_words, shown_name
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["MAX_DDL_ITEMS", "apply_ddl"]

MAX_DDL_ITEMS: Final = 32
"""Most items of one submission."""

_STATISTICS: Final = frozenset({"sqlite_stat1", "sqlite_stat4"})
_CATALOGUE: Final = "sqlite_master"

_HEADER: Final[dict[str, tuple[int, int]]] = {
    "file format": (0, 16),
    "page size": (16, 2),
    "journal mode": (18, 2),
    "reserved bytes": (20, 1),
    "payload fractions": (21, 3),
    "schema format": (44, 4),
    "default cache size": (48, 4),
    "encoding": (56, 4),
    "user version": (60, 4),
    "incremental vacuum": (64, 4),
    "application id": (68, 4),
    "reserved space": (72, 20),
}
"""Fields of the file header that DDL must leave alone: offset and length (sqlite.org/fileformat2.html). Change counters, the schema
cookie, the number of pages and the free list move with every honest statement.
"""
_AUTO_VACUUM: Final = slice(52, 56)  # the largest root page, which moves, or zero without auto-vacuum


@dataclass(frozen=True, slots=True)
class _SchemaObject:
    kind: str
    name: str
    table: str
    root_page: int
    sql: str | None


class _DdlRules:
    """The authorizer of one DDL item of a given kind."""

    def __init__(self, kind: Literal["index", "analyze"], tables: frozenset[str], index: int) -> None:
        self._kind = kind
        self._tables = tables
        self._index = index

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        first, second = fold(first or ""), fold(second or "")
        if database in ("main", None):
            if self._kind == "index":
                self._check_index(action, first, second)
                if self._index_may(action, first):
                    return apsw.SQLITE_OK
            elif self._analyze_may(action, first, second):
                return apsw.SQLITE_OK
        name = str(apsw.mapping_authorizer_function[action]).removeprefix("SQLITE_").replace("_", " ")
        raise self._broken(Rule.KIND, f"the statement would {name}{f' {shown_name(first)}' if first else ''}")

    def _check_index(self, action: int, name: str, table: str) -> None:
        if action == apsw.SQLITE_CREATE_INDEX and table not in self._tables:
            raise self._broken(Rule.TABLE, f"{shown_name(table)} is not one of the task's tables ({', '.join(sorted(self._tables))})")
        if action == apsw.SQLITE_FUNCTION:
            raise self._broken(Rule.EXPRESSION, f"the index calls {shown_name(table)}()")

    def _index_may(self, action: int, name: str) -> bool:
        if action == apsw.SQLITE_INSERT:
            return name == _CATALOGUE
        if action == apsw.SQLITE_READ:
            return name in self._tables
        return action in (apsw.SQLITE_CREATE_INDEX, apsw.SQLITE_REINDEX)

    def _analyze_may(self, action: int, name: str, function: str) -> bool:
        if action in (apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE):
            return name == _CATALOGUE
        if action == apsw.SQLITE_READ:
            return name == _CATALOGUE or name in _STATISTICS
        if action in (apsw.SQLITE_CREATE_TABLE, apsw.SQLITE_DELETE):
            return name in _STATISTICS
        if action == apsw.SQLITE_FUNCTION:
            return function == "count"
        return action in (apsw.SQLITE_ANALYZE, apsw.SQLITE_SELECT)

    def _broken(self, rule: Rule, message: str) -> DdlError:
        return DdlError(ErrorCode.REFUSED_SYNTAX, message, index=self._index, rule=rule)


def apply_ddl(database: bytes, items: Sequence[str], *, tables: Collection[str], max_indexes: int, deadline_s: float = 30.0) -> bytes:
    """Run ``items`` in order on a copy of ``database`` and return the bytes of the result, which are ``database`` itself without items.

    Args:
        database: a whole database file in rollback-journal mode; it is not changed.
        items: SQL texts, each exactly one statement.
        tables: names of the tables that may be indexed.
        max_indexes: how many indexes may be new in the end; an ``IF NOT EXISTS`` that makes none counts nothing.
        deadline_s: wall seconds for all items together.

    Raises:
        DdlError: an item breaks a rule (REFUSED_SYNTAX, or EMPTY_SQL, NOT_ONE_SELECT, SQL_TOO_LONG for its text) or fails (SYNTAX_ERROR,
            BINDING_ERROR, EXECUTION_ERROR, TIMEOUT, OUT_OF_MEMORY).
        InfraError: the bytes are not a database.
    """
    if not items:
        return database
    if len(items) > MAX_DDL_ITEMS:
        message = f"there are {len(items):,} items; at most {MAX_DDL_ITEMS} are admitted"
        raise DdlError(ErrorCode.REFUSED_SYNTAX, message, index=MAX_DDL_ITEMS, rule=Rule.MAX_INDEXES)
    owned = frozenset(map(fold, tables))
    with open_database(database, "ddl") as con:
        Watch(con, deadline_s)
        pristine = current = _schema(con)
        for index, item in enumerate(items):
            _run_item(con, item, index, owned)
            previous, current = current, _schema(con)
            _check_schema(con, previous, current, index, owned)
            added = sum(found.kind == "index" for found in current - pristine)
            if added > max_indexes:
                message = f"this makes {added} new index{'es' if added != 1 else ''}; the task allows {max_indexes}"
                raise DdlError(ErrorCode.REFUSED_SYNTAX, message, index=index, rule=Rule.MAX_INDEXES)
        result = con.serialize("main")
    _check_header(database, result, len(items) - 1)
    return result


def _run_item(con: apsw.Connection, item: str, index: int, tables: frozenset[str]) -> None:
    try:
        rules = _DdlRules(_kind(item, index), tables, index)
        with authorized(con, rules):
            prepare(con, item)
            con.execute(item).fetchall()
    except DdlError:
        raise
    except AgentError as error:
        rule = Rule.ONE_STATEMENT if error.code in (ErrorCode.EMPTY_SQL, ErrorCode.NOT_ONE_SELECT) else None
        raise DdlError(error.code, error.message, index=index, rule=rule) from error
    except ENGINE_ERRORS as error:
        failure = agent_error(error, preparing=False)
        if isinstance(failure, InfraError):
            raise failure from error
        raise DdlError(failure.code, failure.message, index=index) from error


def _kind(item: str, index: int) -> Literal["index", "analyze"]:
    words = leading_words(item, 3)
    if words[:2] == ("CREATE", "INDEX"):
        return "index"
    if words[:1] == ("ANALYZE",):
        return "analyze"
    if words == ("CREATE", "UNIQUE", "INDEX"):
        raise DdlError(ErrorCode.REFUSED_SYNTAX, "this index is UNIQUE", index=index, rule=Rule.UNIQUE)
    if not has_code(item):
        raise DdlError(ErrorCode.EMPTY_SQL, "there is no statement in this text", index=index, rule=Rule.ONE_STATEMENT)
    begins = f"this begins with {' '.join(map(shown_name, words[:2]))}" if words else "this is neither"
    raise DdlError(ErrorCode.REFUSED_SYNTAX, f"only CREATE INDEX and ANALYZE are admitted; {begins}", index=index, rule=Rule.KIND)


def _schema(con: apsw.Connection) -> frozenset[_SchemaObject]:
    rows: Any = con.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema")
    return frozenset(_SchemaObject(*row) for row in rows)


def _check_schema(
    con: apsw.Connection, before: frozenset[_SchemaObject], after: frozenset[_SchemaObject], index: int, tables: frozenset[str]
) -> None:
    for gone in sorted(before - after, key=lambda item: item.name):
        raise DdlError(ErrorCode.REFUSED_SYNTAX, f"{gone.kind} {shown_name(gone.name)} was changed", index=index, rule=Rule.SCHEMA)
    for new in sorted(after - before, key=lambda item: item.name):
        if new.kind == "index" and new.sql is not None and fold(new.table) in tables:
            _check_index(con, new, index)
        elif not (new.kind == "table" and new.name in _STATISTICS):
            raise DdlError(ErrorCode.REFUSED_SYNTAX, f"{new.kind} {shown_name(new.name)} is new", index=index, rule=Rule.SCHEMA)


def _check_index(con: apsw.Connection, new: _SchemaObject, index: int) -> None:
    def broken(rule: Rule, message: str) -> DdlError:
        return DdlError(ErrorCode.REFUSED_SYNTAX, f"index {shown_name(new.name)} {message}", index=index, rule=rule)

    # Names are bound, never pasted: an index may be called "x') UNION SELECT …".
    listed: list[Any] = con.execute('SELECT "unique", partial FROM pragma_index_list(?) WHERE name = ?', (new.table, new.name)).fetchall()
    keys: list[Any] = con.execute('SELECT cid, name, "desc", coll FROM pragma_index_xinfo(?) WHERE key', (new.name,)).fetchall()
    (unique, partial) = listed[0]
    if unique:
        raise broken(Rule.UNIQUE, "is UNIQUE")
    if partial:
        raise broken(Rule.PARTIAL, "has a WHERE clause")
    if len(keys) != 1:
        raise broken(Rule.COMPOSITE, f"has {len(keys)} columns")
    column_id, column, descending, collation = keys[0]
    if column_id < 0 or column is None:
        raise broken(Rule.EXPRESSION, "is on an expression")
    if descending:
        raise broken(Rule.DESCENDING, "is descending")
    own = con.column_metadata("main", new.table, column)[1]
    if fold(collation) != fold(own):
        raise broken(Rule.COLLATION, f"has the collation {collation}; {column} has {own}")


def _check_header(before: bytes, after: bytes, index: int) -> None:
    changed = [name for name, (start, length) in _HEADER.items() if before[start : start + length] != after[start : start + length]]
    if any(before[_AUTO_VACUUM]) != any(after[_AUTO_VACUUM]):
        changed.append("auto-vacuum")
    if changed:
        raise DdlError(ErrorCode.REFUSED_SYNTAX, f"changed: {', '.join(changed)}", index=index, rule=Rule.HEADER)
