"""One instance, opened read-only behind the engine's own locks, on which admitted statements run one after the other.

What the settings leave open (temporary objects, ATTACH of the own path, SET VARIABLE, PREPARE, …) needs statements that admission refuses,
so nothing a statement does outlives it. A ``Database`` belongs to one sandbox worker and one thread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from sql_optim_env.engines.base import Column, Execution
from sql_optim_env.engines.duckdb.admission import AdmissionPolicy, Statement, admit
from sql_optim_env.engines.duckdb.capture import Capture
from sql_optim_env.engines.duckdb.cost import Card, CostModel, guard
from sql_optim_env.engines.duckdb.explain import plan_text
from sql_optim_env.engines.duckdb.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.duckdb.settings import open_read_only
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

__all__ = ["Database", "Pricing", "Run"]

_BATCH_ROWS = 100_000
_GUARD_RERUNS = 2
_MAX_COLUMNS = 1_000


class Pricing(Protocol):
    """What ``Database`` needs of a cost model."""

    @property
    def version(self) -> str:
        """Version of the weights."""
        ...

    def cost(self, profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card) -> int:
        """Deterministic cost in nanoseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """One execution: its measurements, its rows, and the engine's profile they were priced from."""

    execution: Execution
    capture: Capture
    profile: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Reading:
    table: pa.Table
    cpu_ms: float
    wall_ms: float


class Database:
    """A read-only DuckDB instance for admitted statements. Context manager; reusable for any number of statements."""

    def __init__(
        self,
        path: Path,
        *,
        memory_mb: int = 256,
        spill_mb: int = 256,
        temp_dir: Path,
        card: Card | None = None,
        cost_model: Pricing | None = None,
    ) -> None:
        """Open ``path``. ``memory_mb`` bounds the engine's buffers, ``spill_mb`` what it may write into ``temp_dir``.

        Without ``card`` nothing is priced: every execution costs 0.

        Raises:
            InfraError: the file cannot be opened.
        """
        self._path, self._temp_dir = path, temp_dir
        self._memory_mb, self._spill_mb = memory_mb, spill_mb
        self._card = card
        self._model: Pricing = CostModel.load() if cost_model is None else cost_model
        self._hide = (str(path), str(path.parent), str(temp_dir))
        self._con = self._open()

    def _open(self) -> duckdb.DuckDBPyConnection:
        try:
            return open_read_only(self._path, memory_mb=self._memory_mb, spill_mb=self._spill_mb, temp_dir=self._temp_dir)
        except duckdb.Error as error:
            raise InfraError(f"an instance cannot be opened: {type(error).__name__}") from error

    def close(self) -> None:
        """Close the instance."""
        self._con.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def cost_version(self) -> str:
        """Engine and weights version of the costs this database reports."""
        return self._model.version

    def admit(self, sql: str, policy: AdmissionPolicy) -> Statement:
        """See ``admission.admit``; the statement may then run on any instance."""
        return admit(self._con, sql, policy)

    def run(self, statement: Statement, *, max_rows: int, max_bytes: int, priced: bool = True) -> Run:
        """Execute ``statement`` once and keep its whole result.

        Time and CPU are measured around the execution (with the planning that precedes it), not around binding, pricing or reading the
        profile. When the first CPU reading is far above what the cost explains, the statement is run twice more and the minimum counts.
        With ``priced=False`` (instances on which cost means nothing) cost is 0 and nothing is guarded.

        Raises:
            AgentError: BINDING_ERROR, EXECUTION_ERROR, OUT_OF_MEMORY, RESULT_TOO_LARGE or ENGINE_CRASH.
            InfraError: the engine could not read its file.
        """
        card = self._card if priced else None
        try:
            relation = self._con.sql(statement.sql)
            columns = tuple(Column(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True))
            if len(columns) > _MAX_COLUMNS:
                raise AgentError(
                    ErrorCode.RESULT_TOO_LARGE, f"the result has {len(columns):,} columns; at most {_MAX_COLUMNS:,} are admitted"
                )
            plan = self._plan(statement) if card is not None else None
            reading = self._read(relation, max_rows, max_bytes)
            profile = self._profile() if card is not None else {}
            if any("INTERVAL" in column.type for column in columns):
                self._check_intervals(relation, columns, reading.table)
            cost, hidden = 0, False
            cpu_ms, wall_ms = reading.cpu_ms, reading.wall_ms
            if card is not None:
                cost = self._model.cost(profile, plan, card)
                for _ in range(_GUARD_RERUNS):
                    hidden = guard(cpu_ms, cost)
                    if not hidden:
                        break
                    again = self._read(self._con.sql(statement.sql), max_rows, max_bytes)
                    cpu_ms, wall_ms = min(cpu_ms, again.cpu_ms), min(wall_ms, again.wall_ms)
                hidden = hidden and guard(cpu_ms, cost)
        except ENGINE_ERRORS as error:
            raise self._failed(error) from error
        capture = Capture.of(columns, reading.table)
        version = self.cost_version
        return Run(Execution(columns, capture.row_count, cost, version, cpu_ms, wall_ms, hidden), capture, profile)

    def explain(self, statement: Statement, *, analyze: bool, max_rows: int = 1_000_000, max_bytes: int = 256 << 20) -> str:
        """The plan as an indented tree with estimated rows, and measured rows with ``analyze`` (which runs the statement).

        Deterministic: no times, no paths. Raises what ``run`` raises.
        """
        try:
            if analyze:
                self._read(self._con.sql(statement.sql), max_rows, max_bytes)
                operators = self._profile().get("operator")
                if operators:
                    return plan_text(operators)
            return plan_text(json.loads(self._con.sql(statement.sql).explain(format="json")))
        except ENGINE_ERRORS as error:
            raise self._failed(error) from error

    def _plan(self, statement: Statement) -> Mapping[str, Any] | None:
        """The optimised logical plan, or None where the engine has none. Raises AgentError where it cannot write it down."""
        # Nulls and empty lists say nothing to the cost model, and most of the text is made of them.
        sql = "SELECT json_serialize_plan(?, skip_null := true, skip_empty := true, optimize := true)"
        try:
            plan: Mapping[str, Any] = json.loads(self._con.execute(sql, [statement.sql]).fetchall()[0][0])
        except duckdb.Error:
            return None
        except ValueError:
            # The engine answers with an empty text where a BIT constant is in the plan. Without it aliases would hide work for nothing.
            message = "the engine cannot write down the plan of this statement, so it has no price; do not use BIT constants"
            raise AgentError(ErrorCode.REFUSED_SYNTAX, message) from None
        return plan if plan.get("error") is False else None

    def _profile(self) -> Mapping[str, Any]:
        profile: Mapping[str, Any] = json.loads(self._con.get_profiling_information("json"))
        return profile

    def _read(self, relation: duckdb.DuckDBPyRelation, max_rows: int, max_bytes: int) -> _Reading:
        batches: list[pa.RecordBatch] = []
        rows = size = 0
        wall, cpu = time.perf_counter(), time.process_time()
        # to_arrow_reader on a relation keeps the profile's totals; the same through execute() loses them.
        with relation.to_arrow_reader(_BATCH_ROWS) as reader:
            for batch in reader:
                rows += batch.num_rows
                size += batch.nbytes
                if rows > max_rows or size > max_bytes:
                    raise AgentError(
                        ErrorCode.RESULT_TOO_LARGE, f"the result is larger than {max_rows:,} rows or {max_bytes:,} bytes; return fewer rows"
                    )
                batches.append(batch)
            schema = reader.schema
        cpu_ms, wall_ms = (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3
        return _Reading(pa.Table.from_batches(batches, schema), cpu_ms, wall_ms)

    def _check_intervals(self, relation: duckdb.DuckDBPyRelation, columns: tuple[Column, ...], table: pa.Table) -> None:
        """Refuse INTERVALs that Arrow's 64-bit nanoseconds cannot hold (292 years of hours): they would wrap around and compare wrongly.

        The capture cannot tell, so the statement is run again with its intervals as text. Tasks with INTERVAL results are rare.
        """
        texts = ", ".join(
            f"CAST(#{position} AS VARCHAR) AS c{position}" for position, column in enumerate(columns, start=1) if "INTERVAL" in column.type
        )
        rows = relation.project(texts).to_arrow_table(_BATCH_ROWS)
        captured = self._con.from_arrow(Capture.of(columns, table).table).project(texts).to_arrow_table(_BATCH_ROWS)
        # The engine may order the rows of the two projections differently; as multisets they must agree.
        if not rows.sort_by([(name, "ascending") for name in rows.column_names]).equals(
            captured.sort_by([(name, "ascending") for name in captured.column_names])
        ):
            raise AgentError(
                ErrorCode.EXECUTION_ERROR, "the result holds an INTERVAL of more than 292 years of hours, which cannot be compared"
            )

    def _failed(self, error: BaseException) -> Exception:
        failure = agent_error(error, self._hide)
        if isinstance(error, duckdb.FatalException | duckdb.InternalException):
            # The engine declares the whole instance invalid after such an error.
            self._con.close()
            self._con = self._open()
        return failure
