"""The grade as an OpenEnv rubric tree, for trainers that look at rewards term by term."""

from __future__ import annotations

from collections.abc import Callable

from openenv.core.rubrics import Rubric

from sql_optim_env.grading import audit
from sql_optim_env.grading.report import WEIGHTS
from sql_optim_env.grading.tune import TERM
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation

__all__ = ["TERMS", "GradeRubric", "TermRubric"]

TERMS = (*WEIGHTS, TERM, *audit.TERMS, "solved")
"""Every term a breakdown can hold, each a named child: the composite grade's six, the one of the tune family, those of the audit family,
and that of the binary profile."""


class _Node(Rubric):
    """A rubric that forgets its score on reset."""

    def __init__(self) -> None:
        # OpenEnv's base has no annotations; naming the call's type keeps this module strictly typed.
        initialise: Callable[[], None] = super().__init__
        initialise()

    def reset(self) -> None:
        """Forget the last episode, here and below."""
        self.last_score = None
        for child in self.children():
            child.reset()


class TermRubric(_Node):
    """One term's weighted share of the score of the last step; 0.0 for a step that was not graded."""

    def __init__(self, term: str) -> None:
        super().__init__()
        self.term = term

    def forward(self, action: SQLOptimAction, observation: SQLOptimObservation) -> float:
        """The term's share, read from the observation's breakdown."""
        return float(observation.reward_breakdown.get(self.term, 0.0))


class GradeRubric(_Node):
    """The whole grade. Its value is what the step pays; its children's values add up to the step's score."""

    def __init__(self) -> None:
        super().__init__()
        for term in TERMS:
            setattr(self, term, TermRubric(term))

    def forward(self, action: SQLOptimAction, observation: SQLOptimObservation) -> float:
        """The reward of the step; evaluates the children on the way."""
        for child in self.children():
            child(action, observation)
        return float(observation.reward or 0.0)
