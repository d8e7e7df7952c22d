"""A repairing script on a copy of a database: many statements, kept whole or not at all.

The copy is private and in memory, so a script that fails is undone by forgetting the copy, and what its statements remember (PRAGMA
settings, temporary tables) ends with it. Transactions of its own work as they do elsewhere (``BEGIN``, ``COMMIT``, ``END``), since scripts
that rebuild a table are written with them and deferred keys need them; a script that leaves one open fails. ``ROLLBACK`` and savepoints
are refused: half a script is never kept.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import apsw

from sql_optim_env.engines.sqlite.budget import Budget
from sql_optim_env.engines.sqlite.connection import Caps, open_database
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, run_error
from sql_optim_env.engines.sqlite.reads import SourceRules, action_name, check_time_zones
from sql_optim_env.engines.sqlite.showing import ShownRows, fetch_shown
from sql_optim_env.engines.sqlite.statement import authorized, check_characters, prepare
from sql_optim_env.engines.sqlite.tables import quoted
from sql_optim_env.engines.sqlite.text import first_statement, fold, has_code, leading_words, shown_name
from sql_optim_env.engines.sqlite.views import check_expansion, check_views
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["MAX_STATEMENTS", "SCRIPT_CAPS", "ScriptRun", "run_script"]

MAX_STATEMENTS: Final = 200
"""Most statements of one script."""

SCRIPT_CAPS: Final = Caps(max_vm_steps=60_000_000, max_spill_bytes=32 << 20, max_rows=100_000, deadline_s=10.0)
"""What a whole script may use."""

_ADMITTED: Final = frozenset(
    """
    ALTER ANALYZE BEGIN COMMIT CREATE DELETE DROP END INSERT PRAGMA REINDEX REPLACE SELECT UPDATE VALUES WITH
    """.split()
)
_REASONS: Final = {
    "ATTACH": "stay inside this one database",
    "DETACH": "stay inside this one database",
    "EXPLAIN": "it changes nothing; explain in a query",
    "RELEASE": "the script is kept whole or not at all",
    "ROLLBACK": "the script is kept whole or not at all; leave out what should not happen",
    "SAVEPOINT": "the script is kept whole or not at all",
    "VACUUM": "it changes no row",
}

_WRITES: Final = frozenset({apsw.SQLITE_DELETE, apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE})
_DEFINES: Final = frozenset(
    {
        apsw.SQLITE_ALTER_TABLE,
        apsw.SQLITE_ANALYZE,
        apsw.SQLITE_CREATE_INDEX,
        apsw.SQLITE_CREATE_TABLE,
        apsw.SQLITE_CREATE_TEMP_INDEX,
        apsw.SQLITE_CREATE_TEMP_TABLE,
        apsw.SQLITE_CREATE_TEMP_VIEW,
        apsw.SQLITE_CREATE_VIEW,
        apsw.SQLITE_DROP_INDEX,
        apsw.SQLITE_DROP_TABLE,
        apsw.SQLITE_DROP_TEMP_INDEX,
        apsw.SQLITE_DROP_TEMP_TABLE,
        apsw.SQLITE_DROP_TEMP_VIEW,
        apsw.SQLITE_DROP_VIEW,
        apsw.SQLITE_REINDEX,
        apsw.SQLITE_TRANSACTION,
    }
)
_REFUSED: Final = {
    apsw.SQLITE_CREATE_TRIGGER: "triggers are not admitted: what they would do, they would do later; write the change itself",
    apsw.SQLITE_CREATE_TEMP_TRIGGER: "triggers are not admitted: what they would do, they would do later; write the change itself",
    apsw.SQLITE_CREATE_VTABLE: "virtual tables are not admitted; make a table",
    apsw.SQLITE_ATTACH: "ATTACH and VACUUM INTO are not admitted: stay inside this one database",
}
_SCHEMA_TABLES: Final = frozenset({"sqlite_master", "sqlite_temp_master"})
_SEQUENCE: Final = "sqlite_sequence"  # where AUTOINCREMENT counts; it may be set back
_DEFINING: Final = frozenset({"ALTER", "ANALYZE", "CREATE", "DROP", "REINDEX"})
_SET_PRAGMAS: Final = frozenset({"defer_foreign_keys", "foreign_keys"})
_LAST_INSERTED: Final = "last_insert_rowid"  # in a script, which has a connection of its own, the same every time
_ALTERING: Final = frozenset(
    """
    sqlite_add_constraint sqlite_drop_column sqlite_drop_constraint sqlite_fail sqlite_find_constraint sqlite_rename_column
    sqlite_rename_quotefix sqlite_rename_table sqlite_rename_test
    """.split()
)
"""Functions of the engine's own that ALTER calls, and nothing else can."""

_LAST_ROW_ID: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """What a script left behind."""

    database: bytes
    """The whole database after the last statement."""
    statements: int
    last_select: ShownRows | None
    """The last result of the script, of a SELECT, a PRAGMA or a RETURNING clause; None when it has none."""


class _ScriptRules(SourceRules):
    """The authorizer of one statement of a script: reading, rows, tables, indexes and views."""

    def __init__(self, con: apsw.Connection, word: str) -> None:
        super().__init__(con)
        self._word = word
        self.written: set[tuple[str, str]] = set()
        """(database, table) pairs that rows are put into."""

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        if action in _DEFINES:
            if action in (apsw.SQLITE_CREATE_TABLE, apsw.SQLITE_CREATE_TEMP_TABLE):
                self._objects |= {fold(first or "")}  # its own generated columns read it
            return apsw.SQLITE_OK
        if action in _WRITES:
            if fold(first or "").startswith("sqlite_") and fold(first or "") != _SEQUENCE and self._word not in _DEFINING:
                raise AgentError(ErrorCode.REFUSED_TABLE, "the engine's own tables are not written; use CREATE, ALTER, DROP and ANALYZE")
            if action != apsw.SQLITE_DELETE:
                self.written.add((database or "main", first or ""))
            return apsw.SQLITE_OK
        return super().__call__(action, first, second, database, source)

    def _refused(self, action: int) -> AgentError:
        return AgentError(ErrorCode.REFUSED_SYNTAX, _REFUSED.get(action, f"{action_name(action)} is not admitted in a script"))

    def _may_read(self, table: str, database: str | None) -> bool:
        # Temporary tables come and go within the script; the schema of the temporary database is read by ALTER.
        return database == "temp" or super()._may_read(table, database)

    def _function(self, name: str) -> None:
        if name != _LAST_INSERTED and not (self._word == "ALTER" and name in _ALTERING):
            super()._function(name)

    def _pragma(self, name: str, value: str | None) -> None:
        if name not in _SET_PRAGMAS:
            super()._pragma(name, value)


def run_script(
    database: bytes,
    script: str,
    *,
    max_statements: int = MAX_STATEMENTS,
    max_rows: int = 50,
    deadline_s: float = SCRIPT_CAPS.deadline_s,
    caps: Caps | None = None,
) -> ScriptRun:
    """Run the statements of ``script`` in order on a copy of ``database``, and return the copy: all of them, or an error.

    Admitted are SELECT, INSERT, REPLACE, UPDATE, DELETE, CREATE, ALTER and DROP of tables, indexes and views, REINDEX, ANALYZE, BEGIN,
    COMMIT, PRAGMAs that show something, and setting ``foreign_keys`` and ``defer_foreign_keys``. ``caps`` holds for the whole script.

    Raises:
        AgentError: a statement is refused, fails or exceeds the caps; the message begins with its number, from 1. Also EMPTY_SQL and
            SQL_TOO_LONG (of the whole script), and EXECUTION_ERROR for a transaction that is left open.
        InfraError: the bytes are not a database.
    """
    check_characters(script, what="script")
    caps = replace(caps or SCRIPT_CAPS, deadline_s=deadline_s)
    count, last = 0, None
    with open_database(database, "script") as con:
        budget = Budget(con, caps, what="script")
        rest = script
        while has_code(rest):
            text = first_statement(rest)
            count += 1
            try:
                if count > max_statements:
                    raise AgentError(ErrorCode.REFUSED_SYNTAX, f"a script may have {max_statements:,} statements at most")
                last = _run(con, text, budget, max_rows, caps) or last
            except AgentError as error:
                raise AgentError(error.code, f"statement {count}: {error.message}") from error
            rest = rest[len(text) :]
        if not count:
            raise AgentError(ErrorCode.EMPTY_SQL, "there is no statement in this script")
        if con.in_transaction:
            raise AgentError(ErrorCode.EXECUTION_ERROR, "the script leaves its transaction open: end it with COMMIT")
        result = con.serialize("main")
    _check_opens(result)
    return ScriptRun(result, count, last)


def _run(con: apsw.Connection, text: str, budget: Budget, max_rows: int, caps: Caps) -> ShownRows | None:
    """Run one statement; its result if it has one."""
    word = _word(text)
    check_expansion(con, text)
    rules = _ScriptRules(con, word)
    with authorized(con, rules):
        prepare(con, text)
        check_time_zones(text)
        try:
            shown = fetch_shown(con, text, max_rows, limit=caps.max_rows)
        except ENGINE_ERRORS as error:
            raise run_error(error) from error
    budget.check()
    if word in _DEFINING:
        check_views(con)
    _check_row_ids(con, rules.written)
    return shown if shown.columns else None


def _word(text: str) -> str:
    """The word that the statement begins with, one of those that are admitted."""
    words = leading_words(text, 1)
    word = words[0] if words else ""
    if word in _ADMITTED:
        return word
    if word in _REASONS:
        raise AgentError(ErrorCode.REFUSED_SYNTAX, f"{word} is not admitted in a script; {_REASONS[word]}")
    begins = f"this begins with {shown_name(word)}" if word else "this begins otherwise"
    raise AgentError(ErrorCode.SYNTAX_ERROR, f"a statement of a script is one of {', '.join(sorted(_ADMITTED))}; {begins}")


def _check_row_ids(con: apsw.Connection, written: Collection[tuple[str, str]]) -> None:
    """Beyond the last rowid the engine draws rowids by chance, and a script must do the same every time."""
    for database, table in sorted(written):
        if fold(table) in _SCHEMA_TABLES:
            continue
        try:
            last = con.execute(f"SELECT max(_rowid_) FROM {database}.{quoted(table)}").fetchall()[0][0]
        except apsw.SQLError:  # without rowid, or renamed meanwhile
            continue
        if last == _LAST_ROW_ID:
            raise AgentError(
                ErrorCode.EXECUTION_ERROR, f"table {shown_name(table)} holds the largest rowid there is, so that no row can follow"
            )


def _check_opens(database: bytes) -> None:
    try:
        with open_database(database, "look"):
            pass
    except InfraError as error:
        raise AgentError(ErrorCode.EXECUTION_ERROR, "the script leaves a schema behind that cannot be read") from error
