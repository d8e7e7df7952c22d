"""What every family shares: the runner it calls, the commands an action becomes, an episode, and the registry of families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from sql_optim_env.errors import AgentError, ErrorCode, InvalidArgumentError
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.audit_evidence import AuditBrief, AuditEvidence, ColumnFacts, FixResult, Look
from sql_optim_env.grading.evidence import ExplainResult, QueryResult, RewriteEvidence
from sql_optim_env.grading.report import RewardProfile
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence
from sql_optim_env.models import ActionKind, SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.task import Task

__all__ = [
    "REWARD_MODES",
    "Command",
    "Episode",
    "EpisodeBuilder",
    "Explain",
    "FamilyRegistry",
    "Fix",
    "Profile",
    "Query",
    "RewardMode",
    "Runner",
    "Scratch",
    "StepOutcome",
    "Submit",
    "parse",
]

RewardMode = Literal["telescoping", "absolute"]
REWARD_MODES: tuple[RewardMode, ...] = ("telescoping", "absolute")


class Scratch(Protocol):
    """An agent's own copy of the public instance, for as long as its episode lasts. Errors as for :class:`Runner`."""

    def query(self, sql: str) -> ScratchResult:
        """Run one statement of any kind; what it changes stays. A statement that fails leaves the copy as it was."""

    def explain(self, sql: str) -> ExplainResult:
        """Plan a statement without running it."""

    def close(self) -> None:
        """Remove the copy. Idempotent."""


class Runner(Protocol):
    """What an episode needs from the outside. Every call may raise :class:`AgentError` (the statement's fault) or ``InfraError`` (ours)."""

    def grade(self, task: Task, sql: str) -> RewriteEvidence:
        """Run ``sql`` on every instance of the task and compare it."""

    def query(self, task: Task, sql: str) -> QueryResult:
        """Run an exploring query on the public instance."""

    def explain(self, task: Task, sql: str) -> ExplainResult:
        """Plan (and measure) a statement on the public instance."""

    def grade_tune(self, task: Task, sql: str, ddl: tuple[str, ...]) -> TuneEvidence:
        """Run ``sql`` after ``ddl`` on pristine copies of every instance of the task, count its pages and compare its result."""

    def open_scratch(self, task: Task) -> Scratch:
        """A copy of the task's public instance for one episode."""

    def audit_open(self, task: Task, seed: int | None) -> AuditBrief:
        """The broken public database of the scenario that ``seed`` draws: its schema and first rows."""

    def audit_query(self, task: Task, seed: int | None, sql: str, fix: str) -> Look:
        """Run a reading statement on the broken database, and on a copy with ``fix`` applied unless that is empty."""

    def audit_profile(self, task: Task, seed: int | None, table: str, column: str, fix: str) -> tuple[ColumnFacts, Look]:
        """Describe a column of the broken database; the look is the query that this stands for."""

    def audit_fix(self, task: Task, seed: int | None, script: str) -> FixResult:
        """Run a repairing script on a fresh copy of the broken database."""

    def audit_grade(self, task: Task, seed: int | None, fix: str, checks: tuple[str, ...]) -> AuditEvidence:
        """Run ``fix`` (empty: none) on every database of the scenario, and hold ``checks`` against the rightly repaired one."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand in an answer. Without ``sql`` it is the review alone (rewrite), or ``ddl`` for the query as it stands (tune)."""

    sql: str
    review: SubmittedReview
    ddl: tuple[str, ...] = ()
    answer: str = ""
    root_cause_table: str = ""
    offending_key: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """Look at data."""

    sql: str
    kind: ClassVar[ActionKind] = "query"


@dataclass(frozen=True, slots=True)
class Explain:
    """Look at a plan."""

    sql: str
    kind: ClassVar[ActionKind] = "explain"


@dataclass(frozen=True, slots=True)
class Profile:
    """Describe a column."""

    table: str
    column: str
    kind: ClassVar[ActionKind] = "profile"


@dataclass(frozen=True, slots=True)
class Fix:
    """Try a repair on a fresh copy."""

    sql: str
    kind: ClassVar[ActionKind] = "fix"


Command = Submit | Query | Explain | Profile | Fix


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What one action led to. ``observation`` carries the same reward and done; ``score`` is None when nothing was graded."""

    observation: SQLOptimObservation
    reward: float
    done: bool
    score: float | None


class Episode(Protocol):
    """One task being worked on. Not thread-safe: a session handles one step after another."""

    @property
    def task(self) -> Task:
        """The task that is played."""

    @property
    def step_count(self) -> int:
        """Actions handled so far, of every kind."""

    @property
    def best_score(self) -> float:
        """The best score of any submission so far."""

    @property
    def cumulative_reward(self) -> float:
        """The sum of rewards paid so far."""

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""

    def opening(self) -> SQLOptimObservation:
        """The observation that ``reset`` returns."""

    def handle(self, action: SQLOptimAction) -> StepOutcome:
        """Play one action. Raises ``EpisodeStateError`` after the end; an ``InfraError`` leaves the episode as it was."""

    def close(self) -> None:
        """End the episode and give back what it holds outside of itself. Idempotent; whoever built the episode calls it."""


class EpisodeBuilder(Protocol):
    """Starts an episode of one family."""

    @property
    def allowed_kinds(self) -> tuple[ActionKind, ...]:
        """The kinds of action that its episodes may allow."""

    def __call__(
        self,
        task: Task,
        runner: Runner,
        *,
        schema_info: str,
        profile: RewardProfile = "composite",
        reward_mode: RewardMode = "telescoping",
        seed: int | None = None,
    ) -> Episode:
        """``schema_info`` is the DDL with row counts that the agent is shown; empty for a family whose database the seed draws."""


@dataclass(frozen=True, slots=True)
class FamilyRegistry:
    """Which families there are and how an episode of each is started."""

    builders: Mapping[str, EpisodeBuilder]

    def names(self) -> tuple[str, ...]:
        """The families' names, sorted."""
        return tuple(sorted(self.builders))

    def build(
        self,
        task: Task,
        runner: Runner,
        *,
        schema_info: str,
        profile: RewardProfile = "composite",
        reward_mode: RewardMode = "telescoping",
        seed: int | None = None,
    ) -> Episode:
        """Start an episode of ``task``. Raises :class:`InvalidArgumentError` for a family that is not registered."""
        builder = self.builders.get(task.family)
        if builder is None:
            raise InvalidArgumentError(f"unknown family {task.family!r}; there are: {', '.join(self.names())}")
        return builder(task, runner, schema_info=schema_info, profile=profile, reward_mode=reward_mode, seed=seed)


def parse(action: SQLOptimAction, allowed: tuple[ActionKind, ...]) -> Command:
    """The typed command an action stands for; fields of other kinds are not read.

    Raises :class:`AgentError` ``KIND_NOT_ALLOWED`` for a kind that is not in ``allowed``; the message lists those that are.
    """
    make = _PARSERS.get(action.kind) if action.kind in allowed else None
    if make is None:
        raise AgentError(ErrorCode.KIND_NOT_ALLOWED, f"kind {action.kind!r} is not allowed here; allowed kinds: {', '.join(allowed)}.")
    return make(action)


def _submit(action: SQLOptimAction) -> Submit:
    claims = tuple(ClaimedIssue(s.issue_type, s.line, s.severity) for s in action.suggestions)
    sql = action.optimized_query if action.optimized_query.strip() else ""
    return Submit(
        sql,
        SubmittedReview(claims, action.summary, action.approved),
        tuple(action.ddl),
        action.answer,
        action.root_cause_table,
        action.offending_key,
    )


_PARSERS: Mapping[str, Callable[[SQLOptimAction], Command]] = {
    "submit": _submit,
    "query": lambda action: Query(action.sql),
    "explain": lambda action: Explain(action.sql),
    "profile": lambda action: Profile(action.table, action.column),
    "fix": lambda action: Fix(action.sql),
}
