"""One statement on the agent's own copy of a database: almost anything goes, and nothing of it leaves the copy.

Chance and the clock are the same for every statement, so that an episode can be replayed: ``random()`` begins anew each time.

The copy travels as bytes, so a statement that is killed half-way leaves the old copy whole. Each statement has a connection of its own:
what a connection remembers (PRAGMA settings, temporary tables, an open transaction) is gone afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import apsw

from sql_optim_env.engines.sqlite.connection import Caps, Watch, open_database
from sql_optim_env.engines.sqlite.explain import plan_text
from sql_optim_env.engines.sqlite.measure import Counters
from sql_optim_env.engines.sqlite.messages import ENGINE_ERRORS, run_error
from sql_optim_env.engines.sqlite.showing import MAX_SHOWN, MAX_TEXT, JsonValue, fetch_shown
from sql_optim_env.engines.sqlite.statement import authorized, prepare
from sql_optim_env.engines.sqlite.text import fold, leading_words, shown_name
from sql_optim_env.engines.sqlite.vfs import repeated_chance
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["ALLOWED_PRAGMAS", "MAX_SHOWN", "MAX_TEXT", "JsonValue", "ScratchRun", "explain_statement", "run_statement"]

ALLOWED_PRAGMAS: Final = frozenset(
    """
    analysis_limit application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill cell_size_check collation_list
    compile_options data_version database_list defer_foreign_keys encoding foreign_key_check foreign_key_list foreign_keys freelist_count
    function_list ignore_check_constraints incremental_vacuum index_info index_list index_xinfo integrity_check journal_mode
    journal_size_limit legacy_alter_table locking_mode max_page_count mmap_size module_list optimize page_count page_size pragma_list
    query_only quick_check read_uncommitted recursive_triggers reverse_unordered_selects schema_version secure_delete shrink_memory
    synchronous table_info table_list table_xinfo temp_store threads user_version
    """.split()
)
"""PRAGMAs whose effect stays in the connection or the copy. Not here: those of the process (``hard_heap_limit``) or the schema's bytes."""

_REFUSED_FUNCTIONS: Final = frozenset({"fts3_tokenizer", "load_extension", "sqlite_log"})
_TRANSACTIONS: Final = frozenset({"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"})
_PLANNED: Final = ("SELECT", "WITH", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE")
"""Of any other statement SQLite shows an empty plan, also of one that is refused when it is run."""


@dataclass(frozen=True, slots=True)
class ScratchRun:
    """What one statement showed and did."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Storage classes of each column's shown values, NULL apart: ``INTEGER``, ``INTEGER/TEXT``, or ``NULL`` where there is no other."""
    rows: tuple[tuple[JsonValue, ...], ...]
    """The first rows, values as JSON can hold them."""
    row_count: int
    """Rows of the whole result, shown or not."""
    logical_reads: int
    """Pages of this statement, counted as for a submission."""
    vm_steps: int
    """Instructions of the virtual machine, counted as for a submission."""
    database: bytes | None
    """The copy after the statement; None when the statement changed nothing."""

    @property
    def truncated(self) -> bool:
        """Whether rows were left out."""
        return len(self.rows) < self.row_count


class _ScratchRules:
    """The authorizer of scratch statements: a list of what is refused, since everything else stays inside the copy."""

    def __init__(self, *, vacuum: bool) -> None:
        self._vacuum = vacuum

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, source: str | None, /) -> int:
        if action == apsw.SQLITE_PRAGMA and fold(first or "") not in ALLOWED_PRAGMAS:
            raise AgentError(ErrorCode.REFUSED_SYNTAX, f"PRAGMA {shown_name(first or '')} is not admitted, not even on your own copy")
        if action == apsw.SQLITE_FUNCTION and fold(second or "") in _REFUSED_FUNCTIONS:
            raise AgentError(ErrorCode.REFUSED_FUNCTION, f"{second}() is not admitted, not even on your own copy")
        if action == apsw.SQLITE_ATTACH and not (self._vacuum and first == ""):
            raise AgentError(ErrorCode.REFUSED_SYNTAX, "ATTACH and VACUUM INTO are not admitted: stay inside this one database")
        return apsw.SQLITE_OK


def run_statement(database: bytes, sql: str, *, max_rows: int = 50, caps: Caps | None = None) -> ScratchRun:
    """Run ``sql``, exactly one statement of any kind, on a copy of ``database``; show its first ``max_rows`` rows.

    Of ``caps`` the row and byte limits do not apply: rows beyond ``max_rows`` are counted, not kept.

    Raises:
        AgentError: the statement is refused (ATTACH, VACUUM INTO, a transaction of its own, a PRAGMA that reaches beyond the copy), or
            fails; the copy is as it was.
        InfraError: the bytes are not a database.
    """
    caps = caps or Caps()
    words = leading_words(sql, 1)
    if words and words[0] in _TRANSACTIONS:
        raise AgentError(
            ErrorCode.REFUSED_SYNTAX, f"{words[0]} is not admitted: every statement is a transaction of its own, kept when it succeeds"
        )
    with repeated_chance(), open_database(database, "scratch") as con:
        watch = Watch(con, caps.deadline_s)
        with authorized(con, _ScratchRules(vacuum=words == ("VACUUM",))):
            prepare(con, sql)
            watch.arm(caps)
            version = con.data_version("main")
            counters = Counters(con)
            try:
                shown = fetch_shown(con, sql, max_rows)
            except ENGINE_ERRORS as error:
                raise run_error(error) from error
            logical_reads = counters.pages
        # Moves with every commit that may have changed a page, also of VACUUM, DDL and PRAGMA user_version.
        changed = con.data_version("main") != version
        after = con.serialize("main") if changed else database
    kept = after if after != database else None
    return ScratchRun(shown.columns, shown.types, shown.rows, shown.row_count, logical_reads, counters.vm_steps, kept)


def explain_statement(database: bytes, sql: str, *, deadline_s: float = 30.0) -> str:
    """Return the plan of ``sql``, exactly one statement that reads or changes rows, as an indented tree. Nothing is run.

    Raises:
        AgentError: the statement is refused, does not prepare, or is one that has no plan.
        InfraError: the bytes are not a database.
    """
    with open_database(database, "scratch") as con:
        Watch(con, deadline_s)
        with authorized(con, _ScratchRules(vacuum=False)):
            prepare(con, sql)
            word = next(word for word in leading_words(sql, 4) if word not in ("EXPLAIN", "QUERY", "PLAN"))
            if word not in _PLANNED:
                admitted = f"{', '.join(_PLANNED[:-1])} or {_PLANNED[-1]}"
                raise AgentError(ErrorCode.REFUSED_SYNTAX, f"{word} has no plan: explain takes {admitted}")
            return plan_text(con, sql)
