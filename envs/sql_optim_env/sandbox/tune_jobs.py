"""The jobs of the tune family. Each runs in a worker; arguments and results are plain data.

Grading is clean-room: a submission meets pristine bytes and a new connection on every instance, never the scratch copy. Nothing that a job
returns or raises holds a row, a name, a page count or an error message of a hidden instance beyond the evidence that is graded.
"""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Final

from sql_optim_env.engines.base import Column, Difference
from sql_optim_env.engines.sqlite import Caps, DdlError, Run, apply_ddl, compare, engine_version, explain_statement, measure, run_statement
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.evidence import ExplainResult
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence, TuneMeasurement
from sql_optim_env.sandbox.tune_baseline import (
    TuneBaseline,
    TunePrepared,
    TunePreparedInstance,
    task_caps,
    time_left,
    tune_bench,
    tune_digest,
)
from sql_optim_env.sandbox.worker import config
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["CHANGED_COPY", "MAX_GROWTH", "grade_tune", "max_copy_bytes", "prepare_tune", "scratch_explain", "scratch_query", "warm_up"]

CHANGED_COPY: Final = "changed-copy.sqlite"
"""Where :func:`scratch_query` leaves a copy that was changed: a file in the worker's scratch directory, for the caller to take away."""

_HIDDEN_FAILURE = "the submission ran on the public data and failed on other data of the same schema"
_HIDDEN_DIFFERENCE = "the result differs on a hidden instance"

MAX_GROWTH: Final = 16 << 20
"""Bytes by which a scratch copy may grow: several times what the indexes of the largest task take, and a bound for the disk, since every
session may have a copy.
"""


def prepare_tune(task_id: str) -> TuneBaseline:
    """Measure the original and the reference of a task on every instance, unless this very build did so before, and return the figures.

    Builds the instances that are missing. Raises InfraError when the engine is not the expected one or the task is broken.
    """
    # Measured or read anew rather than remembered: whoever prepares wants the files to be there.
    _prepared.cache_clear()
    prepared = _prepared(task_id)
    store = tune_bench().store
    for item in prepared.instances:
        if not store.path(item.instance).exists():  # its figures were kept, it was not; what is there is checked when it is read
            store.ensure(item.instance)
    return prepared.baseline


def grade_tune(task_id: str, sql: str, ddl: tuple[str, ...]) -> TuneEvidence:
    """Run a submission on every instance of its task until one differs or fails, and say what it did.

    On each instance: pristine bytes, the DDL one statement at a time under its rules, a new connection, the query under the task's caps,
    the comparison. What is refused or fails is evidence too (``error_code``).
    """
    grade = _Grade(_prepared(task_id))
    for item in grade.prepared.instances:
        try:
            measurement = grade.measure(item, sql, ddl)
        except AgentError as error:
            if error.code in (ErrorCode.OUT_OF_MEMORY, ErrorCode.ENGINE_CRASH):
                tune_bench().release()
            return grade.evidence(error if item.instance.role == "public" else AgentError(error.code, _HIDDEN_FAILURE))
        except InfraError:
            tune_bench().forget(item.instance)
            raise
        if not measurement.difference.equal:
            break
    return grade.evidence()


def scratch_query(task_id: str, scratch: Path | None, target: Path, sql: str, max_rows: int = 50) -> ScratchResult:
    """Run one statement of any kind on an agent's own copy of the public instance and count its pages. Raises AgentError.

    ``scratch`` is the file of the copy, None while it is pristine; it is never written to. A statement that changes something leaves the
    new copy in :data:`CHANGED_COPY` (``changed`` is true), and the caller moves it to ``target``, a path that was never used before. So
    whatever happens to the worker in between, there is one whole copy.
    """
    prepared = _prepared(task_id)
    bench = tune_bench()
    pristine = bench.database(prepared.public)
    database = pristine if scratch is None else bench.copy(scratch)
    began = time.perf_counter()
    run = run_statement(database, sql, max_rows=max_rows, caps=Caps(deadline_s=time_left()))
    wall_ms = (time.perf_counter() - began) * 1e3
    if run.database is not None:
        limit = max_copy_bytes(len(pristine))
        if len(run.database) > limit:
            raise AgentError(ErrorCode.OUT_OF_MEMORY, f"your copy may hold {limit >> 20} MiB at most; it was left as it was")
        try:
            (config().scratch / CHANGED_COPY).write_bytes(run.database)
        except OSError as error:
            raise InfraError(f"a scratch copy cannot be written: {error.strerror or error}") from error
        bench.keep_copy(target, run.database)
    columns = tuple(Column(name, kind) for name, kind in zip(run.columns, run.types, strict=True))
    return ScratchResult(
        columns, run.rows, run.row_count, run.truncated, run.logical_reads, run.vm_steps, run.database is not None, wall_ms
    )


def scratch_explain(task_id: str, scratch: Path | None, sql: str) -> ExplainResult:
    """Plan a statement on an agent's own copy. Nothing is run. Raises AgentError."""
    prepared = _prepared(task_id)
    database = tune_bench().database(prepared.public) if scratch is None else tune_bench().copy(scratch)
    return ExplainResult(explain_statement(database, sql, deadline_s=time_left()), None)


def warm_up() -> None:
    """Load what every worker needs and no worker changes; the fork server does this once for all of them."""
    tune_digest()


def max_copy_bytes(pristine: int) -> int:
    """The most bytes a scratch copy may have, from the size of the pristine database."""
    return pristine + MAX_GROWTH


class _Grade:
    """Collects the evidence of one submission."""

    def __init__(self, prepared: TunePrepared) -> None:
        self.prepared = prepared
        self._measurements: list[TuneMeasurement] = []
        self._public: Run | None = None

    def measure(self, item: TunePreparedInstance, sql: str, ddl: tuple[str, ...]) -> TuneMeasurement:
        """Run the submission on one instance and compare its result with the right one."""
        task, bench = self.prepared.task, tune_bench()
        public = item.instance.role == "public"
        pristine = bench.database(item.instance)
        database = apply_ddl(pristine, ddl, tables=task.tables, max_indexes=task.max_indexes, deadline_s=time_left())
        run = measure(database, sql, tables=task.tables, caps=task_caps(task))
        if public:
            self._public = run
        difference = compare(bench.expected(item.expected), run.capture, examples=5 if public else 0)
        if not public and not difference.equal:
            difference = Difference(difference.kind, _HIDDEN_DIFFERENCE)
        base = item.baseline
        measurement = TuneMeasurement(
            instance=base.instance,
            role=base.role,
            difference=difference,
            original_pages=base.original_pages,
            reference_pages=base.reference_pages,
            submitted_pages=run.pages,
            vm_steps=run.vm_steps,
            spill_bytes=run.spill_bytes,
        )
        self._measurements.append(measurement)
        return measurement

    def evidence(self, error: AgentError | None = None) -> TuneEvidence:
        """Return what was collected, with the error that ended it, if one did."""
        public = self._public
        return TuneEvidence(
            engine_version=engine_version(),
            measurements=tuple(self._measurements),
            plan=public.plan if public is not None else "",
            row_count=public.capture.row_count if public is not None else None,
            wall_ms=public.wall_ms if public is not None else 0.0,
            error_code=error.code if error is not None else None,
            error_message=error.message if error is not None else "",
            ddl_error_index=error.index if isinstance(error, DdlError) else None,
        )


@lru_cache(maxsize=256)
def _prepared(task_id: str) -> TunePrepared:
    return TunePrepared(tune_bench(), catalogue().get(task_id))
