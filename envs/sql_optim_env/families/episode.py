"""What episodes of every family do alike: count, refuse, pay, end, and fill in the observation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from sql_optim_env.errors import AgentError, EpisodeStateError, ErrorCode
from sql_optim_env.families.base import Command, Explain, Query, RewardMode, Runner, StepOutcome, Submit, parse
from sql_optim_env.families.showing import clip
from sql_optim_env.grading.report import RewardProfile
from sql_optim_env.grading.score import SCORE_DIGITS, telescoping_reward
from sql_optim_env.models import ActionKind, ObservationError, SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.task import Task

__all__ = ["MAX_MISSTEPS", "TaskEpisode"]

MAX_MISSTEPS = 8
"""Actions that no budget covers (a kind that is not allowed, exploring beyond the budget). This many end the episode: none is endless."""


class TaskEpisode(ABC):
    """One task being worked on.

    A submission uses up one of ``task.max_steps``, an exploration one of ``task.max_explorations``, whether it is refused or not; what no
    budget covers is a misstep. All of them count in ``step_count``. Nothing is counted until the runner has answered, so a step that
    fails with an ``InfraError`` can be played again.
    """

    allowed_kinds: ClassVar[tuple[ActionKind, ...]]

    def __init__(
        self,
        task: Task,
        runner: Runner,
        *,
        schema_info: str = "",
        profile: RewardProfile = "composite",
        reward_mode: RewardMode = "telescoping",
        seed: int | None = None,
    ) -> None:
        """As :class:`EpisodeBuilder` says."""
        self.task = task
        self.step_count = 0
        self.best_score = 0.0
        self.cumulative_reward = 0.0
        self.done = False
        self._runner = runner
        self._schema_info = schema_info
        self._profile: RewardProfile = profile
        self._reward_mode: RewardMode = reward_mode
        self._seed = seed
        self._submissions = 0
        self._explorations = 0
        self._missteps = 0
        self._instructions = self._begin()

    def opening(self) -> SQLOptimObservation:
        """The observation that ``reset`` returns: the whole task, and no reward yet."""
        return self._observation()

    def handle(self, action: SQLOptimAction) -> StepOutcome:
        """Play one action; see the class for what it uses up."""
        if self.done:
            raise EpisodeStateError("the episode has ended; call reset")
        try:
            command = parse(action, self._kinds())
        except AgentError as error:
            return self._misstep(error)
        return self._play(command)

    def close(self) -> None:
        """End the episode and give back what it holds outside of itself. Idempotent."""
        self.done = True

    def _play(self, command: Command) -> StepOutcome:
        """What a command of an allowed kind leads to. A family with kinds of its own handles those before it asks here."""
        if isinstance(command, Submit):
            return self._submit(command)
        if isinstance(command, Query | Explain):
            return self._explore(lambda: self._look_with(command))
        raise AssertionError(f"{type(self).__name__} allows the kind {command.kind!r} and does not handle it")

    @abstractmethod
    def _begin(self) -> str:
        """Set up what this family keeps beside the common things, and return the instructions."""

    @abstractmethod
    def _submit(self, command: Submit) -> StepOutcome:
        """Grade a submission; ends with :meth:`_graded`."""

    @abstractmethod
    def _look(self, command: Query | Explain) -> dict[str, Any]:
        """The observation's fields that an exploration fills. Raises :class:`AgentError`."""

    def _kinds(self) -> tuple[ActionKind, ...]:
        """The kinds that this episode's task allows: all of the family's, unless a task has fewer."""
        return self.allowed_kinds

    def _standing(self) -> dict[str, Any]:
        """Fields that every observation of this family has beside the common ones, or instead of them."""
        return {}

    def _graded(self, score: float, error: AgentError | None, *, enough: float, **fields: Any) -> StepOutcome:
        """Count a submission and pay for it; a score of ``enough``, or the last submission, ends the episode."""
        self.step_count += 1
        self._submissions += 1
        reward = score if self._reward_mode == "absolute" else telescoping_reward(score, self.best_score)
        self.best_score = max(self.best_score, score)
        self.cumulative_reward = round(self.cumulative_reward + reward, SCORE_DIGITS)
        self.done = score >= enough or self._submissions >= self.task.max_steps
        return self._outcome(reward, error, score=score, **fields)

    def _look_with(self, command: Query | Explain) -> dict[str, Any]:
        if not command.sql.strip():
            raise AgentError(ErrorCode.EMPTY_SQL, f"kind {command.kind!r} needs a statement in the field sql.")
        return self._look(command)

    def _explore(self, look: Callable[[], dict[str, Any]]) -> StepOutcome:
        """Take one look, which fills the observation's fields or raises :class:`AgentError`; it uses up an exploration either way."""
        if self._explorations >= self.task.max_explorations:
            return self._misstep(AgentError(ErrorCode.NO_EXPLORATIONS_LEFT, "all explorations are used up; submit an answer."))
        fields: dict[str, Any] = {}
        trouble: AgentError | None = None
        try:
            fields = look()
        except AgentError as error:
            trouble = error
        self.step_count += 1
        self._explorations += 1
        return self._outcome(0.0, trouble, **fields)

    def _misstep(self, error: AgentError) -> StepOutcome:
        self.step_count += 1
        self._missteps += 1
        self.done = self._missteps >= MAX_MISSTEPS
        return self._outcome(0.0, error)

    def _outcome(self, reward: float, error: AgentError | None, *, score: float | None = None, **fields: Any) -> StepOutcome:
        shown = ObservationError(code=error.code.value, message=clip(error.message, 2_000)) if error is not None else None
        observation = self._observation(reward=reward, score=score, error=shown, **fields)
        if self.done:
            self.close()
        return StepOutcome(observation, reward, self.done, score)

    def _observation(self, **fields: Any) -> SQLOptimObservation:
        task = self.task
        common: dict[str, Any] = {
            "task_id": task.id,
            "task_name": task.name,
            "task_description": task.description,
            "family": task.family,
            "sql_query": task.sql,
            "schema_info": self._schema_info,
            "dialect": task.dialect,
            "difficulty": task.difficulty,
            "instructions": self._instructions,
            "allowed_kinds": list(self._kinds()),
            "step_count": self.step_count,
            "max_steps": task.max_steps,
            "submissions_left": max(0, task.max_steps - self._submissions),
            "explorations_left": max(0, task.max_explorations - self._explorations),
            "best_score": self.best_score,
            "done": self.done,
        }
        observation = SQLOptimObservation(**common | self._standing() | fields)
        execution = observation.last_execution
        observation.metadata = {
            "reward_breakdown": dict(observation.reward_breakdown),
            "feedback": observation.feedback,
            "execution": execution.model_dump() if execution is not None else None,
        }
        return observation
