"""The rewrite family: make a query cheaper without changing its result, and say what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sql_optim_env.engines.base import Execution
from sql_optim_env.errors import AgentError, EpisodeStateError, ErrorCode
from sql_optim_env.families.base import Explain, Query, RewardMode, Runner, StepOutcome, Submit, parse
from sql_optim_env.families.instructions import rewrite_instructions
from sql_optim_env.families.showing import clip, fit_rows
from sql_optim_env.grading.evidence import ExplainResult, QueryResult, RewriteEvidence
from sql_optim_env.grading.feedback import failure_message
from sql_optim_env.grading.report import GradeReport, MatchedIssue, RewardProfile, grade_rewrite
from sql_optim_env.grading.score import SCORE_DIGITS, telescoping_reward
from sql_optim_env.models import ActionKind, ColumnInfo, ExecutionInfo, ObservationError, SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.task import Task

__all__ = ["ALLOWED_KINDS", "MAX_MISSTEPS", "SUCCESS_SCORE", "RewriteEpisode"]

ALLOWED_KINDS: tuple[ActionKind, ...] = ("submit", "query", "explain")

SUCCESS_SCORE = 0.95
"""An answer this good ends the episode."""

MAX_MISSTEPS = 8
"""Actions that no budget covers (a kind that is not allowed, exploring beyond the budget). This many end the episode: none is endless."""


class RewriteEpisode:
    """One rewrite task being worked on.

    A submission uses up one of ``task.max_steps``, an exploration one of ``task.max_explorations``, whether it is refused or not; what no
    budget covers is a misstep. All of them count in ``step_count``. Nothing is counted until the runner has answered, so a step that
    fails with an ``InfraError`` can be played again.
    """

    def __init__(
        self,
        task: Task,
        runner: Runner,
        *,
        schema_info: str,
        profile: RewardProfile = "composite",
        reward_mode: RewardMode = "telescoping",
    ) -> None:
        self.task = task
        self.step_count = 0
        self.best_score = 0.0
        self.cumulative_reward = 0.0
        self.done = False
        self._runner = runner
        self._schema_info = schema_info
        self._profile: RewardProfile = profile
        self._reward_mode: RewardMode = reward_mode
        self._instructions = rewrite_instructions(task, profile, reward_mode)
        self._submissions = 0
        self._explorations = 0
        self._missteps = 0
        self._found: dict[int, MatchedIssue] = {}

    def opening(self) -> SQLOptimObservation:
        """The observation that ``reset`` returns: the whole task, and no reward yet."""
        return self._observation()

    def handle(self, action: SQLOptimAction) -> StepOutcome:
        """Play one action; see the class for what it uses up."""
        if self.done:
            raise EpisodeStateError("the episode has ended; call reset")
        try:
            command = parse(action, ALLOWED_KINDS)
        except AgentError as error:
            return self._misstep(error)
        if isinstance(command, Submit):
            return self._submit(command)
        return self._explore(command)

    def _submit(self, command: Submit) -> StepOutcome:
        evidence, error = self._evidence(command.sql)
        report = grade_rewrite(self.task, command.review, evidence, self._profile)
        self.step_count += 1
        
        for match in report.matched:
            self._found.setdefault(match.expected, match)
        reward = report.score if self._reward_mode == "absolute" else telescoping_reward(report.score, self.best_score)
        self.best_score = max(self.best_score, report.score)
        self.cumulative_reward = round(self.cumulative_reward + reward, SCORE_DIGITS)
        self.done = report.score >= SUCCESS_SCORE or self._submissions >= self.task.max_steps
        return self._outcome(reward, score=report.score, **_submission_fields(report, evidence), error=_wire_error(error))

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

    def _explore(self, command: Query | Explain) -> StepOutcome:
        if self._explorations >= self.task.max_explorations:
            return self._misstep(AgentError(ErrorCode.NO_EXPLORATIONS_LEFT, "all explorations are used up; submit an answer."))
        try:
            if not command.sql.strip():
                raise AgentError(ErrorCode.EMPTY_SQL, f"kind {command.kind!r} needs a statement in the field sql.")
            fields = (
                _query_fields(self._runner.query(self.task, command.sql))
                if isinstance(command, Query)
                else _explain_fields(self._runner.explain(self.task, command.sql))
            )
        except AgentError as error:
            return self._explored(error)
        return self._explored(None, **fields)

    def _explored(self, error: AgentError | None, **fields: Any) -> StepOutcome:
        self.step_count += 1
        self._explorations += 1
        return self._outcome(0.0, score=None, error=_wire_error(error), **fields)

    def _misstep(self, error: AgentError) -> StepOutcome:
        self.step_count += 1
        self._missteps += 1
        self.done = self._missteps >= MAX_MISSTEPS
        return self._outcome(0.0, score=None, error=_wire_error(error))

    def _outcome(self, reward: float, *, score: float | None, **fields: Any) -> StepOutcome:
        observation = self._observation(reward=reward, score=score, **fields)
        return StepOutcome(observation, reward, self.done, score)

    def _observation(self, **fields: Any) -> SQLOptimObservation:
        task = self.task
        observation = SQLOptimObservation(
            task_id=task.id,
            task_name=task.name,
            task_description=task.description,
            family=task.family,
            sql_query=task.sql,
            schema_info=self._schema_info,
            dialect=task.dialect,
            difficulty=task.difficulty,
            instructions=self._instructions,
            allowed_kinds=list(ALLOWED_KINDS),
            step_count=self.step_count,
            max_steps=task.max_steps,
            submissions_left=max(0, task.max_steps - self._submissions),
            explorations_left=max(0, task.max_explorations - self._explorations),
            issues_found_so_far=_issues(self._found.values()),
            best_score=self.best_score,
            done=self.done,
            **fields,
        )
        execution = observation.last_execution
        observation.metadata = {
            "reward_breakdown": dict(observation.reward_breakdown),
            "feedback": observation.feedback,
            "execution": execution.model_dump() if execution is not None else None,
        }
        return observation


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
        submitted_ms=execution.cpu_ms,
        wall_ms=execution.wall_ms,
        row_count=execution.row_count,
    )


def _wire_error(error: AgentError | None) -> ObservationError | None:
    return ObservationError(code=error.code.value, message=clip(error.message, 2_000)) if error is not None else None
