"""Players of known worth: the null player, the echo, the ritual, the stuffer and the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sql_optim_env.agents.audit import every_name, first_table, reference_step
from sql_optim_env.agents.tune import reference_action
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, Suggestion
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import ISSUE_TYPES, IssueType, Severity

__all__ = ["EchoPlayer", "NullPlayer", "OraclePlayer", "RitualPlayer", "StuffingPlayer"]

_MAX_SUGGESTIONS = 64
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class NullPlayer:
    """Hands in nothing. It earns exactly 0.0 everywhere, or the least that a score can be where that is more (``audit``)."""

    name: str = "null"

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The action without any field set."""
        return SQLOptimAction()


@dataclass(frozen=True, slots=True)
class EchoPlayer:
    """Returns what it was given: the query, rejected; without a query (``audit``) it asks for the rows that it was shown, and submits."""

    name: str = "echo"

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The original query, rejected, or a look at the known rows and then nothing."""
        if observation.family == "audit" and not observation.step_count:
            return SQLOptimAction(kind="query", sql=f'SELECT * FROM "{first_table(observation)}" LIMIT 5')
        return SQLOptimAction(optimized_query=observation.sql_query, approved=False)


@dataclass(frozen=True, slots=True)
class RitualPlayer:
    """Makes a show of work: one look that every episode could begin with, then nothing is handed in."""

    name: str = "ritual"

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """A look at the structure where there is one to be seen, else at nothing; then the action without any field set."""
        if observation.step_count:
            return SQLOptimAction()
        return SQLOptimAction(kind="query", sql="SELECT sql FROM sqlite_schema" if observation.family == "audit" else "SELECT 1 AS one")


@dataclass(frozen=True, slots=True)
class StuffingPlayer:
    """The echo, with every word of the vocabulary in the summary and as a suggestion.

    All suggestions stand on ``line``, or, when it is None, are spread over the lines of the query until the list is full.
    """

    line: int | None = None
    severity: Severity = Severity.HIGH
    name: str = "stuffing"

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """Everything that could be said, said: in ``audit`` every name in every field."""
        if observation.family == "audit":
            names = every_name(observation)
            return SQLOptimAction(answer=names, root_cause_table=names[:_MAX_NAME], offending_key=names[:_MAX_NAME])
        lines = range(1, observation.sql_query.count("\n") + 2) if self.line is None else (self.line,)
        # Every third line reaches all lines, since a claim may be one line off.
        places = [(kind, line) for line in (lines[1::3] or lines) for kind in IssueType]
        suggestions = [Suggestion(issue_type=kind.value, line=line, severity=self.severity.value) for kind, line in places]
        return SQLOptimAction(
            optimized_query=observation.sql_query,
            suggestions=suggestions[:_MAX_SUGGESTIONS],
            summary=" ".join(f"{kind.value}: {meaning}." for kind, meaning in ISSUE_TYPES.items()),
            approved=False,
        )


@dataclass(frozen=True, slots=True)
class OraclePlayer:
    """Hands in the grader's own answer. It needs the task itself, so it plays only where the catalogue is at hand.

    ``lookup`` gives the task of an id, e.g. ``catalogue().get``. ``seed`` is that of the reset: problems of the family ``audit`` are drawn
    from it.
    """

    lookup: Callable[[str], Task]
    name: str = "oracle"
    seed: int | None = None

    def seeded(self, seed: int | None) -> OraclePlayer:
        """The oracle of an episode that is reset with ``seed``."""
        return replace(self, seed=seed)

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The reference, where there is a review with the expected one: exactly 1.0. In ``audit`` one step of the way there: 0.999."""
        task = self.lookup(observation.task_id)
        if task.family == "audit":
            return reference_step(task, self.seed, observation.step_count)
        if task.family == "tune":
            return reference_action(task)
        grader = task.rewrite
        return SQLOptimAction(
            optimized_query=grader.reference_sql,
            suggestions=[
                Suggestion(issue_type=issue.issue_type.value, line=issue.line, severity=issue.severity.value) for issue in grader.issues
            ],
            summary=grader.summary,
            approved=grader.optimal,
        )
