"""The jobs of the rewrite family. Each runs in a worker; arguments and results are plain data.

Nothing that a job returns or raises holds a row, a name or an error message of a hidden instance.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from sql_optim_env.engines.base import Difference
from sql_optim_env.engines.duckdb.admission import Statement
from sql_optim_env.engines.duckdb.cost import CostModel
from sql_optim_env.engines.duckdb.database import Run
from sql_optim_env.engines.duckdb.explain import plan_text
from sql_optim_env.errors import AgentError, ErrorCode, InfraError, SQLOptimError
from sql_optim_env.grading.evidence import ExplainResult, InstanceMeasurement, Measure, QueryResult, RewriteEvidence
from sql_optim_env.sandbox.baseline import Baseline, Prepared, PreparedInstance, run
from sql_optim_env.sandbox.digest import engine_digest
from sql_optim_env.sandbox.timing import paired_cpu_ms
from sql_optim_env.sandbox.workbench import SCORED_ROLES, workbench
from sql_optim_env.sandbox.worker import remaining_s
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["explain_query", "grade_rewrite", "prepare_task", "run_query", "warm_up"]

_HIDDEN_FAILURE = "the statement ran on the public data and failed on other data of the same schema"
_HIDDEN_DIFFERENCE = "the result differs on a hidden instance"

_TIMING_BUDGET_S = 2.0
_TIMING_SHARE = 0.3
"""Share of the time left that the timing of one instance may take (measure ``time``)."""


def prepare_task(task_id: str) -> Baseline:
    """Measure the original and the reference of a task on every instance, unless that was done before, and return the figures.

    Builds the instances that are missing. Raises InfraError when the task is broken: a query of its own fails, or the reference's result
    differs from the original's on some instance.
    """
    # Measured anew rather than remembered: whoever prepares wants the files to be there.
    _prepared.cache_clear()
    return _prepared(task_id).baseline


def grade_rewrite(task_id: str, sql: str, measure: Measure) -> RewriteEvidence:
    """Run a submission once on every instance of its task, until one differs or fails, and say what it did.

    A refused or failing statement is evidence too (``error_code``). With ``measure="time"`` the original and the submission are run in
    turns on the scored instances, and every ``*_ms`` is a median of those runs.
    """
    prepared = _prepared(task_id)
    grade = _Grade(prepared, measure)
    try:
        statement = workbench().database(prepared.public).admit(sql, prepared.policy)
    except AgentError as error:
        return grade.evidence(error)
    for item in prepared.instances:
        try:
            measurement = grade.measure(item, statement)
        except AgentError as error:
            if error.code in (ErrorCode.OUT_OF_MEMORY, ErrorCode.ENGINE_CRASH):
                workbench().release()
            return grade.evidence(error if item.instance.role == "public" else AgentError(error.code, _HIDDEN_FAILURE))
        except InfraError:
            workbench().verify(item.instance)
            raise
        if not measurement.difference.equal:
            break
    return grade.evidence()


def run_query(task_id: str, sql: str, max_rows: int = 50) -> QueryResult:
    """Run an exploring query on the public instance and return its first ``max_rows`` rows. Raises AgentError."""
    ran = _explore(task_id, sql)[1]
    rows = workbench().renderer().rows(ran.capture.columns, ran.capture.table.slice(0, max_rows))
    return QueryResult(ran.execution.columns, rows, ran.execution.row_count, ran.execution.row_count > len(rows), ran.execution)


def explain_query(task_id: str, sql: str) -> ExplainResult:
    """Run a statement on the public instance and return its plan with estimated and measured rows.

    A result that is too large to be kept is planned only (``execution`` is None). Raises AgentError otherwise.
    """
    prepared = _prepared(task_id)
    database = workbench().database(prepared.public)
    try:
        statement, ran = _explore(task_id, sql)
    except AgentError as error:
        if error.code is not ErrorCode.RESULT_TOO_LARGE:
            raise
        return ExplainResult(database.explain(database.admit(sql, prepared.policy), analyze=False), None)
    return ExplainResult(_plan(prepared, statement, ran), ran.execution)


def warm_up() -> None:
    """Load what every worker needs and no worker changes; the fork server does this once for all of them."""
    engine_digest()
    CostModel.load()
    with suppress(SQLOptimError):  # a catalogue that cannot be read is said by the first job that needs it, not by a fork server that ends
        catalogue()


class _Grade:
    """Collects the evidence of one submission."""

    def __init__(self, prepared: Prepared, measure: Measure) -> None:
        self._prepared = prepared
        self._measure: Measure = measure
        self._measurements: list[InstanceMeasurement] = []
        self._public: Run | None = None
        self._plan = ""

    def measure(self, item: PreparedInstance, statement: Statement) -> InstanceMeasurement:
        """Run the submission on one instance and compare its result with the right one."""
        scored = item.instance.role in SCORED_ROLES
        public = item.instance.role == "public"
        ran = run(workbench().database(item.instance), statement, priced=scored)
        if public:
            self._public, self._plan = ran, _plan(self._prepared, statement, ran)
        difference = workbench().comparer().compare(workbench().expected(item.expected), ran.capture, examples=5 if public else 0)
        if not public and not difference.equal:
            difference = Difference(difference.kind, _HIDDEN_DIFFERENCE)
        original_ms, reference_ms, submitted_ms = item.baseline.original_ms, item.baseline.reference_ms, ran.execution.cpu_ms
        if self._measure == "time" and scored and difference.equal:
            original_ms, reference_ms, submitted_ms = self._timed(item, statement, submitted_ms)
        measurement = InstanceMeasurement(
            instance=item.instance.name,
            role=item.instance.role,
            difference=difference,
            original_cost=item.baseline.original_cost,
            reference_cost=item.baseline.reference_cost,
            submitted_cost=ran.execution.cost,
            original_ms=original_ms,
            reference_ms=reference_ms,
            submitted_ms=submitted_ms,
            hidden_work=ran.execution.hidden_work,
        )
        self._measurements.append(measurement)
        return measurement

    def evidence(self, error: AgentError | None = None) -> RewriteEvidence:
        """Return what was collected, with the error that ended it, if one did."""
        public = self._public.execution if self._public is not None else None
        return RewriteEvidence(
            measure=self._measure,
            cost_version=self._prepared.cost_version,
            measurements=tuple(self._measurements),
            plan=self._plan,
            row_count=public.row_count if public is not None else None,
            wall_ms=public.wall_ms if public is not None else 0.0,
            error_code=error.code if error is not None else None,
            error_message=error.message if error is not None else "",
        )

    def _timed(self, item: PreparedInstance, statement: Statement, once_ms: float) -> tuple[float, float, float]:
        """CPU milliseconds of the original, the reference and the submission, of which the first and the last were run in turns just now.

        The reference is placed by its ratio to the original, which was measured in the same way when the task was prepared.
        """
        base = item.baseline
        left = remaining_s()
        if (base.original_ms + once_ms) / 1e3 > left / 2:
            # No time for a pair before the deadline: the figures of the preparation are all there is.
            return base.original_ms, base.reference_ms, once_ms
        database = workbench().database(item.instance)
        original_ms, submitted_ms = paired_cpu_ms(
            lambda: run(database, self._prepared.original, priced=False).execution.cpu_ms,
            lambda: run(database, statement, priced=False).execution.cpu_ms,
            budget_s=min(_TIMING_BUDGET_S, left * _TIMING_SHARE),
        )
        return original_ms, original_ms * base.reference_ms / base.original_ms, submitted_ms


@lru_cache(maxsize=256)
def _prepared(task_id: str) -> Prepared:
    return Prepared(workbench(), catalogue().get(task_id))


def _explore(task_id: str, sql: str) -> tuple[Statement, Run]:
    prepared = _prepared(task_id)
    database = workbench().database(prepared.public)
    statement = database.admit(sql, prepared.policy)
    try:
        return statement, run(database, statement, priced=True)
    except AgentError as error:
        if error.code is ErrorCode.ENGINE_CRASH:
            workbench().release()
        raise
    except InfraError:
        workbench().verify(prepared.public)
        raise


def _plan(prepared: Prepared, statement: Statement, ran: Run) -> str:
    operators = ran.profile.get("operator")
    if operators:
        return plan_text(operators)
    # Answered from statistics: there is no executed plan, only the one that was made.
    return workbench().database(prepared.public).explain(statement, analyze=False)
