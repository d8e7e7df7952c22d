"""The tune family: fewer pages for a query, by rewriting it and by supporting DDL, after experiments on a scratch copy."""

from __future__ import annotations

from typing import Any

from sql_optim_env.engines.sqlite import engine_version
from sql_optim_env.errors import AgentError
from sql_optim_env.families.base import Explain, Query, StepOutcome, Submit
from sql_optim_env.families.episode import TaskEpisode
from sql_optim_env.families.showing import clip, fit_rows
from sql_optim_env.families.tune_instructions import tune_instructions
from sql_optim_env.grading.report import GradeReport
from sql_optim_env.grading.tune import grade_tune
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence
from sql_optim_env.grading.tune_feedback import failure
from sql_optim_env.models import ActionKind, ColumnInfo, ExecutionInfo

__all__ = ["ALLOWED_KINDS", "TuneEpisode"]

ALLOWED_KINDS: tuple[ActionKind, ...] = ("submit", "query", "explain")


class TuneEpisode(TaskEpisode):
    """One tune task being worked on: experiments on a copy of the episode's own, then one submission, which ends it.

    The copy is removed when the episode ends or is closed, whichever comes first.
    """

    allowed_kinds = ALLOWED_KINDS

    def _begin(self) -> str:
        self._scratch = self._runner.open_scratch(self.task)
        return tune_instructions(self.task, self._profile, self._reward_mode)

    def close(self) -> None:
        """End the episode and remove its copy."""
        super().close()
        self._scratch.close()

    def _submit(self, command: Submit) -> StepOutcome:
        evidence = self._evidence(command)
        report = grade_tune(self.task, evidence, self._profile)
        error = failure(evidence) if evidence is not None else None
        return self._graded(report.score, error, enough=1.0, **_submission_fields(report, evidence))

    def _evidence(self, command: Submit) -> TuneEvidence | None:
        """What running the submission showed; None when there is nothing to run."""
        if not command.sql and not command.ddl:
            return None
        try:
            return self._runner.grade_tune(self.task, command.sql or self.task.sql, command.ddl)
        except AgentError as error:
            # The worker was stopped or ended; where in the submission that was, nobody can say.
            return TuneEvidence(engine_version(), (), error_code=error.code, error_message=error.message)

    def _look(self, command: Query | Explain) -> dict[str, Any]:
        if isinstance(command, Query):
            return _query_fields(self._scratch.query(command.sql))
        return {"plan": clip(self._scratch.explain(command.sql).plan)}


def _submission_fields(report: GradeReport, evidence: TuneEvidence | None) -> dict[str, Any]:
    return {
        "logical_reads": report.execution.submitted_cost if report.execution is not None else None,
        "plan": clip(evidence.plan) if evidence is not None else "",
        "reward_breakdown": report.breakdown,
        "feedback": clip(report.feedback),
        "last_execution": report.execution,
    }


def _query_fields(result: ScratchResult) -> dict[str, Any]:
    rows, left_out = fit_rows(result.rows)
    changed = " Your copy was changed." if result.changed else ""
    return {
        "columns": [ColumnInfo(name=column.name, type=column.type) for column in result.columns],
        "rows": rows,
        "row_count": result.row_count,
        "truncated": result.truncated or left_out,
        "logical_reads": result.logical_reads,
        "last_execution": ExecutionInfo(
            cost_version=engine_version(),
            submitted_cost=result.logical_reads,
            wall_ms=round(result.wall_ms, 3),
            row_count=result.row_count,
        ),
        "feedback": f"{result.row_count:,} rows, {len(rows):,} shown; {result.logical_reads:,} pages, {result.vm_steps:,} steps of the"
        f" virtual machine.{changed}",
    }
