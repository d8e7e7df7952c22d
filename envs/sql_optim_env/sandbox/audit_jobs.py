"""The jobs of the audit family. Each runs in a worker; arguments and results are plain data, and the same every time.

Nothing that a job returns or raises holds a row, a name or an error message of a hidden database beyond the facts that are graded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from sql_optim_env.datasets.dataset import ddl_with_counts
from sql_optim_env.engines.base import Column
from sql_optim_env.engines.sqlite import engine_version
from sql_optim_env.engines.sqlite.investigate import LOOK_CAPS, Investigated, column_facts, look
from sql_optim_env.engines.sqlite.script import run_script
from sql_optim_env.engines.sqlite.showing import ShownRows
from sql_optim_env.engines.sqlite.tables import declared_types, quoted, read_rows, table_names
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.audit_evidence import (
    AuditBrief,
    AuditEvidence,
    ColumnFacts,
    FixResult,
    Look,
    Reads,
    RepairFacts,
    Shown,
    TableChange,
    TableSample,
)
from sql_optim_env.grading.audit_level import repair_level
from sql_optim_env.sandbox.audit_bench import Problem, audit_bench
from sql_optim_env.sandbox.audit_repair import Built, repair_facts
from sql_optim_env.sandbox.tune_baseline import time_left
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS, Variant

__all__ = [
    "MAX_CHECK_STEPS",
    "SAMPLE_ROWS",
    "audit_fix",
    "audit_grade",
    "audit_open",
    "audit_profile",
    "audit_query",
    "prepare_audit",
    "warm_up",
]

SAMPLE_ROWS: Final = 5
"""Rows of each table that an episode opens with."""

MAX_CHECK_STEPS: Final = 200_000_000
"""Instructions of the virtual machine for all checks of an episode together, a few seconds' work. Steps rather than time, so that a grade
does not depend on how busy the machine is.
"""


def prepare_audit(task_id: str) -> None:
    """Check that the task can be played: as it is without a seed, its reference repairs it. Raises InfraError where it does not."""
    problem = audit_bench().problem(task_id, None)
    if not problem.scenario.fixable:
        audit_bench().built(problem)
        return
    if repair_level(problem.scenario, _facts(problem, "base", problem.scenario.reference_fix)) != "perfect":
        raise InfraError(f"task {task_id} is broken: its reference does not repair it")


def audit_open(task_id: str, seed: int | None) -> AuditBrief:
    """The broken database as an episode opens: its DDL with row counts, and each table's first rows."""
    built = audit_bench().built(audit_bench().problem(task_id, seed))
    return AuditBrief(_schema_info(built), tuple(_sample(built, table) for table in built.content.rows))


def audit_query(task_id: str, seed: int | None, sql: str, fix: str) -> Look:
    """Run one reading statement on the broken database and, where there is a fix, on a copy that it was applied to.

    A statement whose names exist only after the fix is a look at that copy alone. Raises AgentError for a statement that is refused, or
    that fails on both.
    """
    problem = audit_bench().problem(task_id, seed)
    try:
        found = look(audit_bench().built(problem).database, sql, deadline_s=time_left())
    except AgentError as error:
        if not fix or error.code is not ErrorCode.BINDING_ERROR:
            raise
        return _look_after(problem, sql, fix, error)
    return _look(problem, found, sql, fix)


def audit_profile(task_id: str, seed: int | None, table: str, column: str, fix: str) -> tuple[ColumnFacts, Look]:
    """Describe a column of the broken database, or of the copy with the fix where only that has it. Raises AgentError.

    The look is the query that computes the figures.
    """
    problem = audit_bench().problem(task_id, seed)
    try:
        facts, found, sql = column_facts(audit_bench().built(problem).database, table, column, deadline_s=time_left())
    except AgentError as error:
        if not fix or error.code is not ErrorCode.BINDING_ERROR:
            raise
        return _profile_after(problem, table, column, fix, error)
    return facts, _look(problem, found, sql, fix)


def audit_fix(task_id: str, seed: int | None, script: str) -> FixResult:
    """Run a script on a fresh copy of the broken database and say what it did to each table. Raises AgentError; then nothing is kept."""
    problem = audit_bench().problem(task_id, seed)
    built = audit_bench().built(problem)
    run = run_script(built.database, script, deadline_s=time_left())
    result = FixResult(
        changes=tuple(_changes(_contents(built.database), _contents(run.database))),
        facts=repair_facts(built, lambda _: run.database),
        statements=run.statements,
        shown=None if run.last_select is None else _shown(run.last_select),
    )
    audit_bench().keep_repaired(problem, script, run.database)
    return result


def audit_grade(task_id: str, seed: int | None, fix: str, checks: tuple[str, ...]) -> AuditEvidence:
    """Run ``fix`` on every database of the scenario, and each of ``checks`` on the broken and on the rightly repaired one that is shown.

    A fix that fails on a database is evidence too: facts with an error code. Without a fix there are no facts and no checks.
    """
    problem = audit_bench().problem(task_id, seed)
    scenario = problem.scenario
    counts = {table.lower(): len(rows) for table, rows in audit_bench().built(problem).content.rows.items()}
    return AuditEvidence(
        facts=tuple(_facts(problem, variant, fix) for variant in VARIANTS) if fix else (),
        checks=tuple(_checks(problem, checks)) if scenario.fixable else tuple(False for _ in checks),
        table_rows=counts.get(scenario.defect.table.lower(), 0),
        engine_version=engine_version(),
    )


def warm_up() -> None:
    """Load what every worker needs and no worker changes; the fork server does this once for all of them."""
    kinds()


def _look(problem: Problem, found: Investigated, sql: str, fix: str) -> Look:
    repaired: Shown | None = None
    trouble = ""
    if fix:
        try:
            repaired = _shown(look(audit_bench().repaired(problem, fix), sql, deadline_s=time_left()))
        except AgentError as error:
            trouble = error.message
    return Look(shown=_shown(found), reads=_reads(found), sql=sql, repaired=repaired, repaired_error=trouble)


def _look_after(problem: Problem, sql: str, fix: str, broken: AgentError) -> Look:
    """A look at names that only the repaired copy has. Raises the broken database's error where the copy does not have them either."""
    try:
        found = look(audit_bench().repaired(problem, fix), sql, deadline_s=time_left())
    except AgentError as error:
        raise (broken if error.code is broken.code else error) from None
    return _look_at_copy(found, sql, broken)


def _profile_after(problem: Problem, table: str, column: str, fix: str, broken: AgentError) -> tuple[ColumnFacts, Look]:
    try:
        facts, found, sql = column_facts(audit_bench().repaired(problem, fix), table, column, deadline_s=time_left())
    except AgentError as error:
        raise (broken if error.code is broken.code else error) from None
    return facts, _look_at_copy(found, sql, broken)


def _look_at_copy(found: Investigated, sql: str, broken: AgentError) -> Look:
    nothing = Shown((), (), 0, False)
    return Look(shown=nothing, reads=_reads(found), sql=sql, repaired=_shown(found), broken_error=broken.message)


def _shown(found: Investigated | ShownRows) -> Shown:
    columns = tuple(Column(name, kind) for name, kind in zip(found.columns, found.types, strict=True))
    return Shown(columns, found.rows, found.row_count, found.truncated)


def _reads(found: Investigated) -> Reads:
    return Reads(found.reads_columns, found.structures, found.vm_steps)


def _checks(problem: Problem, statements: tuple[str, ...]) -> Iterator[bool]:
    """Whether each statement tells the rightly repaired database from the broken one; none does after the steps for all are used up."""
    known: dict[str, bool] = {}
    left = MAX_CHECK_STEPS
    for sql in statements:
        if sql not in known:
            known[sql], steps = _could_fail(problem, sql) if left > 0 else (False, 0)
            left -= steps
        yield known[sql]


def _could_fail(problem: Problem, sql: str) -> tuple[bool, int]:
    """Whether a statement's result differs between the two databases, and the steps that this took.

    Rows are compared without their order, which a repair may change and which proves nothing. A statement that does not run on the
    repaired database proves nothing either.
    """
    bench = audit_bench()
    try:
        right = look(bench.repaired(problem, problem.scenario.reference_fix), sql, deadline_s=time_left())
    except AgentError as error:
        return False, _steps_of(error)
    try:
        broken = look(bench.built(problem).database, sql, deadline_s=time_left())
    except AgentError as error:
        return error.code is ErrorCode.BINDING_ERROR, right.vm_steps + _steps_of(error)
    return _told(right) != _told(broken), right.vm_steps + broken.vm_steps


def _steps_of(error: AgentError) -> int:
    """Steps that a failed look counts for: how many it took is not known, except where it was never begun."""
    return 0 if error.code is ErrorCode.BINDING_ERROR else LOOK_CAPS.max_vm_steps


def _told(found: Investigated) -> tuple[object, ...]:
    return found.columns, found.row_count, Counter(map(repr, found.rows))


def _facts(problem: Problem, variant: Variant, fix: str) -> RepairFacts:
    built = audit_bench().built(problem, variant)
    if variant == "base":
        return repair_facts(built, lambda _: audit_bench().repaired(problem, fix))
    return repair_facts(built, lambda database: run_script(database, fix, deadline_s=time_left()).database)


_Contents = Mapping[str, tuple[tuple[str, ...], Counter[str]]]
"""Each table's columns and the multiset of its rows, by its name."""


def _contents(database: bytes) -> _Contents:
    found = {}
    for table in table_names(database):
        columns = tuple(declared_types(database, table))
        # By their text: 1, 1.0 and '1' are three different cells here.
        found[table] = columns, Counter(map(repr, read_rows(database, table, columns) or ()))
    return found


def _changes(before: _Contents, after: _Contents) -> Iterator[TableChange]:
    for table in dict.fromkeys((*before, *after)):
        (columns, rows), (now_columns, now) = before.get(table, _NO_TABLE), after.get(table, _NO_TABLE)
        if (columns, rows) == (now_columns, now):
            continue
        # Under other columns no row is like it was.
        added, removed = (now - rows, rows - now) if columns == now_columns else (now, rows)
        yield TableChange(
            table,
            before=rows.total() if table in before else None,
            after=now.total() if table in after else None,
            added=added.total(),
            removed=removed.total(),
        )


_NO_TABLE: Final[tuple[tuple[str, ...], Counter[str]]] = ((), Counter())


def _schema_info(built: Built) -> str:
    counts = {table: len(rows) for table, rows in built.content.rows.items()}
    return ddl_with_counts(built.content.ddl, counts)


def _sample(built: Built, table: str) -> TableSample:
    found = look(built.database, f"SELECT * FROM {quoted(table)} ORDER BY rowid LIMIT {SAMPLE_ROWS}", deadline_s=time_left())
    return TableSample(table, found.columns, found.rows, len(built.content.rows[table]))
