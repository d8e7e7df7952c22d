"""A runner that knows the cost of a few texts and needs no engine."""

from __future__ import annotations

from collections.abc import Mapping

from grading.samples import WRONG_ROWS, evidence, failed, measurement, ran
from sql_optim_env.engines.base import Column, Execution
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.evidence import ExplainResult, QueryResult, RewriteEvidence
from sql_optim_env.tasks.task import Task

EXECUTION = Execution((Column("n", "BIGINT"),), 120, 777, "engine 1, weights 1", 1.5, 2.5, False)


class FakeRunner:
    """Knows REFERENCE, HALF (of its gain), WRONG, REFUSED, SLOW (timeout), BROKEN (our fault); other texts cost what the original does."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.rows: tuple[tuple[int | str, ...], ...] = ((1,), (2,))
        self.plan = "SCAN orders"
        self.costs: Mapping[str, int] = {"REFERENCE": 100, "HALF": 316}

    def grade(self, task: Task, sql: str) -> RewriteEvidence:
        self._note("grade", sql)
        if sql == "REFUSED":
            return failed()
        if sql == "WRONG":
            return evidence(measurement("public", difference=WRONG_ROWS))
        return ran(self.costs.get(sql, 1_000))

    def query(self, task: Task, sql: str) -> QueryResult:
        self._note("query", sql)
        return QueryResult((Column("n", "BIGINT"),), self.rows, 120, len(self.rows) < 120, EXECUTION)

    def explain(self, task: Task, sql: str) -> ExplainResult:
        self._note("explain", sql)
        return ExplainResult(self.plan, None if sql == "UNRUN" else EXECUTION)

    def _note(self, kind: str, sql: str) -> None:
        self.calls.append((kind, sql))
        if sql == "BROKEN":
            raise InfraError("a worker could not be started")
        if sql == "SLOW":
            raise AgentError(ErrorCode.TIMEOUT, "stopped after 10 s.")
