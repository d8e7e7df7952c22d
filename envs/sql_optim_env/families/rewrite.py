"""The rewrite family: make a query cheaper without changing its result, and say what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sql_optim_env.engines.base import Execution
from sql_optim_env.errors import AgentError
from sql_optim_env.families.base import Explain, Query, StepOutcome, Submit
from sql_optim_env.families.episode import TaskEpisode
from sql_optim_env.families.instructions import rewrite_instructions
from sql_optim_env.families.showing import clip, fit_rows
from sql_optim_env.grading.evidence import ExplainResult, QueryResult, RewriteEvidence
from sql_optim_env.grading.feedback import failure_message
from sql_optim_env.grading.report import GradeReport, MatchedIssue, grade_rewrite
from sql_optim_env.models import ActionKind, ColumnInfo, ExecutionInfo

__all__ = ["ALLOWED_KINDS", "SUCCESS_SCORE", "RewriteEpisode"]

ALLOWED_KINDS: tuple[ActionKind, ...] = ("submit", "query", "explain")

SUCCESS_SCORE = 0.95
"""An answer this good ends the episode."""


class RewriteEpisode(TaskEpisode):
    """One rewrite task being worked on; it ends at a score of :data:`SUCCESS_SCORE` or with the last submission."""

    allowed_kinds = ALLOWED_KINDS

    def _begin(self) -> str:
        self._found: dict[int, MatchedIssue] = {}
        return rewrite_instructions(self.task, self._profile, self._reward_mode)

    def _submit(self, command: Submit) -> StepOutcome:
        evidence, error = self._evidence(command.sql)
        report = grade_rewrite(self.task, command.review, evidence, self._profile)
        for match in report.matched:
            self._found.setdefault(match.expected, match)
        return self._graded(report.score, error, enough=SUCCESS_SCORE, **_submission_fields(report, evidence))

    def _evidence(self, sql: str) -> tuple[RewriteEvidence | None, AgentError | None]:
        """What running ``sql`` showed, and the agent's error if it is one; both None when there is nothing to run."""
        if not sql:
            return None, None
        try:
            evidence = self._runner.grade(self.task, sql)
        except AgentError as error:
            failed = RewriteEvidence("cost", "", (), error_code=error.code, error_message=error.message)
            return failed, error
        if evidence.error_code is None:
            return evidence, None
        return evidence, AgentError(evidence.error_code, failure_message(evidence))

    def _look(self, command: Query | Explain) -> dict[str, Any]:
        if isinstance(command, Query):
            return _query_fields(self._runner.query(self.task, command.sql))
        return _explain_fields(self._runner.explain(self.task, command.sql))

    def _standing(self) -> dict[str, Any]:
        return {"issues_found_so_far": _issues(self._found.values())}


def _issues(found: Iterable[MatchedIssue]) -> list[dict[str, Any]]:
    """In the order of lines, by the agent's own words, so that the list tells nothing that was not said."""
    return [{"issue_type": match.issue_type, "line": match.line} for match in sorted(found, key=lambda m: (m.line, m.issue_type))]


def _submission_fields(report: GradeReport, evidence: RewriteEvidence | None) -> dict[str, Any]:
    return {
        "plan": clip(evidence.plan) if evidence is not None else "",
        "reward_breakdown": report.breakdown,
        "feedback": clip(report.feedback),
        "last_execution": report.execution,
    }


def _query_fields(result: QueryResult) -> dict[str, Any]:
    rows, left_out = fit_rows(result.rows)
    return {
        "columns": [ColumnInfo(name=column.name, type=column.type) for column in result.columns],
        "rows": rows,
        "row_count": result.row_count,
        "truncated": result.truncated or left_out,
        "last_execution": _explored_execution(result.execution),
        "feedback": f"{result.row_count:,} rows, {len(rows):,} shown; cost {result.execution.cost:,} work units.",
    }


def _explain_fields(result: ExplainResult) -> dict[str, Any]:
    execution = result.execution
    return {
        "plan": clip(result.plan),
        "last_execution": _explored_execution(execution) if execution is not None else None,
        "feedback": f"cost {execution.cost:,} work units." if execution is not None else "",
    }


def _explored_execution(execution: Execution) -> ExecutionInfo:
    return ExecutionInfo(
        cost_version=execution.cost_version,
        submitted_cost=execution.cost,
        submitted_ms=round(execution.cpu_ms, 3),
        wall_ms=round(execution.wall_ms, 3),
        row_count=execution.row_count,
    )
