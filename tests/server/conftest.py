"""A runtime without workers or datasets, whose runner answers what a test scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.engines.base import Column, Difference, Execution
from sql_optim_env.errors import AgentError, ErrorCode
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
from sql_optim_env.grading.evidence import ExplainResult, InstanceMeasurement, QueryResult, RewriteEvidence
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence, TuneMeasurement
from sql_optim_env.server.environment import SQLOptimEnvironment
from sql_optim_env.server.runtime import Runtime
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.audit.scenario import VARIANTS, Variant
from sql_optim_env.tasks.task import Task


class ScriptedScratch:
    """A copy on which nothing happens; it counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def query(self, sql: str) -> ScratchResult:
        return ScratchResult((Column("n", "INTEGER"),), ((1,),), 1, False, 5, 9, False, 0.1)

    def explain(self, sql: str) -> ExplainResult:
        return ExplainResult("PLAN", None)

    def close(self) -> None:
        self.closed += 1


class ScriptedRunner:
    """Runs nothing: the reference of a task is equal and as cheap as it gets, everything else is wrong; ``trouble`` is raised when set."""

    def __init__(self) -> None:
        self.trouble: Exception | None = None
        self.rows: tuple[tuple[Any, ...], ...] = ((1, "x"),)
        self.plan = "PLAN"
        self.scratches: list[ScriptedScratch] = []
        self.seeds: list[int | None] = []

    def grade(self, task: Task, sql: str) -> RewriteEvidence:
        self._maybe_raise()
        right = sql.strip() == task.rewrite.reference_sql.strip()
        difference = Difference("equal", "") if right else Difference("rows", "1 row is missing", 1, 0, (("1",),))
        measurements = tuple(
            InstanceMeasurement(role, role, difference, 1000, 100, 100 if right else 1000, 10.0, 1.0, 1.0, False)
            for role in ("public", "twin")
        )
        return RewriteEvidence("cost", "v1", measurements, plan=self.plan, row_count=1)

    def query(self, task: Task, sql: str) -> QueryResult:
        self._maybe_raise()
        columns = (Column("n", "INTEGER"), Column("t", "VARCHAR"))
        return QueryResult(columns, self.rows, len(self.rows), False, self._execution(columns))

    def explain(self, task: Task, sql: str) -> ExplainResult:
        self._maybe_raise()
        return ExplainResult(self.plan, None)

    def grade_tune(self, task: Task, sql: str, ddl: tuple[str, ...]) -> TuneEvidence:
        self._maybe_raise()
        right = (sql, ddl) == (task.tune.reference_sql, task.tune.reference_ddl)
        roles: tuple[Any, ...] = ("public", "twin", "twin")
        measured = (TuneMeasurement(role, role, Difference("equal", ""), 1000, 100, 100 if right else 1000, 9, 0) for role in roles)
        return TuneEvidence("v1", tuple(measured), plan=self.plan, row_count=1)

    def open_scratch(self, task: Task) -> ScriptedScratch:
        self.scratches.append(ScriptedScratch())
        return self.scratches[-1]

    def audit_open(self, task: Task, seed: int | None) -> AuditBrief:
        self.seeds.append(seed)
        return AuditBrief(f"CREATE TABLE t (n INTEGER) -- of seed {seed}", (TableSample("t", ("n",), ((1,),), 1),))

    def audit_query(self, task: Task, seed: int | None, sql: str, fix: str) -> Look:
        self._maybe_raise()
        self.seeds.append(seed)
        return Look(Shown((Column("n", "INTEGER"),), ((1,),), 1, False), Reads(frozenset(), frozenset(), 9), sql)

    def audit_profile(self, task: Task, seed: int | None, table: str, column: str, fix: str) -> tuple[ColumnFacts, Look]:
        facts = ColumnFacts(table, column, "INTEGER", 1, 0, 1, 1, 1, (("INTEGER", 1),))
        return facts, self.audit_query(task, seed, f"SELECT {column} FROM {table}", fix)

    def audit_fix(self, task: Task, seed: int | None, script: str) -> FixResult:
        self._maybe_raise()
        self.seeds.append(seed)
        return FixResult((TableChange("t", 1, 0, 0, 1),), _facts("base"), 1)

    def audit_grade(self, task: Task, seed: int | None, fix: str, checks: tuple[str, ...]) -> AuditEvidence:
        self._maybe_raise()
        self.seeds.append(seed)
        return AuditEvidence(tuple(map(_facts, VARIANTS)) if fix else (), tuple(True for _ in checks), 1, "v1")

    def _maybe_raise(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    def _execution(self, columns: tuple[Column, ...]) -> Execution:
        return Execution(columns, len(self.rows), 5, "v1", 0.1, 0.1, False)


def _facts(variant: Variant) -> RepairFacts:
    """All that was good kept, all that was broken mended."""
    return RepairFacts(variant, None, True, 2, 1, 1, 1, 1, 0, 1, 1, 0, True)


class PlayableRuntime(Runtime):
    """Ready from the start."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.scripted = ScriptedRunner()
        self.runner = self.scripted

    def wait_ready(self, timeout_s: float | None = None) -> None:
        return

    def schema_info(self, task: Task) -> str:
        return "" if task.family == "audit" else f"CREATE TABLE t (n INTEGER) -- of {task.dataset}"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", scratch_dir=tmp_path / "scratch", workers=1, enable_web=False)


@pytest.fixture
def runtime(settings: Settings) -> Iterator[PlayableRuntime]:
    made = PlayableRuntime(settings)
    yield made
    made.close()


@pytest.fixture
def environment(runtime: PlayableRuntime) -> SQLOptimEnvironment:
    return SQLOptimEnvironment(runtime)


@pytest.fixture
def timeout_error() -> AgentError:
    return AgentError(ErrorCode.TIMEOUT, "the statement did not finish within 10 s")
