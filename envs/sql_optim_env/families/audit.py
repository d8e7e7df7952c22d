"""The audit family: investigate a broken database, repair it by a script, verify, and submit."""

from __future__ import annotations

from typing import Any

from sql_optim_env.engines.sqlite import engine_version
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.families.audit_instructions import audit_instructions
from sql_optim_env.families.audit_showing import fix_fields, history_entry, look_fields, profile_fields, samples
from sql_optim_env.families.base import Command, Explain, Fix, Profile, Query, StepOutcome, Submit
from sql_optim_env.families.episode import TaskEpisode
from sql_optim_env.families.showing import clip
from sql_optim_env.grading.audit import grade_audit
from sql_optim_env.grading.audit_evidence import AuditEvidence, Look
from sql_optim_env.grading.audit_record import AuditRecord, RecordedLook
from sql_optim_env.models import ActionKind, HistoryEntry, SQLOptimAction
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.scenario import AnswerField

__all__ = ["ALLOWED_KINDS", "AuditEpisode"]

ALLOWED_KINDS: tuple[ActionKind, ...] = ("submit", "query", "profile", "fix")
"""A task that is answered without a fix allows all but ``fix``."""


class AuditEpisode(TaskEpisode):
    """One audit task being worked on: looks at the broken database, fixes on fresh copies of it, then one submission, which ends it.

    The scenario is drawn from the task and ``seed``. A fix uses up one of ``task.max_fixes``, whether it runs or not; the last one that
    ran stands, and is graded with the submission. Every other reward is 0.0.
    """

    allowed_kinds = ALLOWED_KINDS

    def _begin(self) -> str:
        self._scenario = scenario_of(self.task, self._seed)
        brief = self._runner.audit_open(self.task, self._seed)
        self._schema_info = brief.schema_info
        self._samples = samples(brief)
        self._schema = {sample.table: sample.columns for sample in brief.samples}
        self._row_counts = {sample.table.lower(): sample.row_count for sample in brief.samples}
        self._looks: list[RecordedLook] = []
        self._history: list[HistoryEntry] = []
        self._fixes = 0
        self._fix = ""
        self._fixed_after = 0
        self._action = SQLOptimAction()
        return audit_instructions(self.task, self._scenario, self._profile)

    def handle(self, action: SQLOptimAction) -> StepOutcome:
        """Play one action; see the class for what it uses up."""
        self._action = action
        return super().handle(action)

    def _play(self, command: Command) -> StepOutcome:
        if isinstance(command, Profile):
            return self._explore(lambda: self._profile_of(command))
        if isinstance(command, Fix):
            return self._mend(command)
        return super()._play(command)

    def _look(self, command: Query | Explain) -> dict[str, Any]:
        look = self._runner.audit_query(self.task, self._seed, command.sql, self._fix)
        self._note(look)
        return look_fields(look)

    def _profile_of(self, command: Profile) -> dict[str, Any]:
        if not command.table.strip() or not command.column.strip():
            raise AgentError(ErrorCode.EMPTY_SQL, "kind 'profile' needs a table in the field table and its column in the field column.")
        facts, look = self._runner.audit_profile(self.task, self._seed, command.table, command.column, self._fix)
        self._note(look)
        return profile_fields(facts, look)

    def _note(self, look: Look) -> None:
        # The action that takes the look is counted after this.
        self._looks.append(RecordedLook(self._explorations + 1, look.reads, look.sql, bool(look.broken_error)))

    def _mend(self, command: Fix) -> StepOutcome:
        if self._fixes >= self.task.max_fixes:
            return self._misstep(AgentError(ErrorCode.NO_FIXES_LEFT, "all fixes are used up; the last one that ran stands. Submit."))
        fields: dict[str, Any] = {}
        trouble: AgentError | None = None
        try:
            if not command.sql.strip():
                raise AgentError(ErrorCode.EMPTY_SQL, "kind 'fix' needs a script of one or more statements in the field sql.")
            fields = fix_fields(self._runner.audit_fix(self.task, self._seed, command.sql))
            self._fix, self._fixed_after = command.sql, self._explorations
        except AgentError as error:
            trouble = error
        self.step_count += 1
        self._fixes += 1
        return self._outcome(0.0, trouble, **fields)

    def _submit(self, command: Submit) -> StepOutcome:
        record = AuditRecord(self._schema, tuple(self._looks), self._fix, self._fixed_after)
        answers: dict[AnswerField, str] = {
            "answer": command.answer,
            "root_cause_table": command.root_cause_table,
            "offending_key": command.offending_key,
        }
        trouble: AgentError | None = None
        try:
            evidence = self._runner.audit_grade(self.task, self._seed, self._fix, record.checks)
        except AgentError as error:
            # The worker was stopped or ended, so the fix repaired nothing that could be measured.
            rows = self._row_counts.get(self._scenario.defect.table.lower(), 0)
            trouble, evidence = error, AuditEvidence((), (), rows, engine_version())
        report = grade_audit(self._scenario, record, evidence, answers, self._profile)
        return self._graded(report.score, trouble, enough=1.0, reward_breakdown=report.breakdown, feedback=clip(report.feedback))

    def _outcome(self, reward: float, error: AgentError | None, *, score: float | None = None, **fields: Any) -> StepOutcome:
        self._history.append(history_entry(self.step_count, self._action, error, fields, score))
        return super()._outcome(reward, error, score=score, **fields)

    def _kinds(self) -> tuple[ActionKind, ...]:
        return self.allowed_kinds if self._scenario.fixable else tuple(kind for kind in self.allowed_kinds if kind != "fix")

    def _standing(self) -> dict[str, Any]:
        return {
            "task_description": self._scenario.description,
            "sample_rows": self._samples,
            "history": list(self._history),
            "fixes_left": max(0, self.task.max_fixes - self._fixes) if self._scenario.fixable else 0,
        }
