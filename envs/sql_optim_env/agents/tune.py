"""The known submissions of a tune task, each tried on a scratch copy and then handed in: what a halved or a plausible answer is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sql_optim_env.agents.player import Session
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.task import Task

__all__ = ["Experiment", "experiments", "reference_action"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One submission: what it asked for on the agent's own copy, and what it was found to ask for and to be worth."""

    name: str
    scratch_pages: int | None
    """Logical reads of the query on the scratch copy after its DDL; None when a statement was refused there."""
    pages: int | None
    """Logical reads that grading counted on the public data; None when it was refused."""
    score: float


def reference_action(task: Task) -> SQLOptimAction:
    """The submission that the grader itself knows: exactly 1.0."""
    return SQLOptimAction(optimized_query=task.tune.reference_sql, ddl=list(task.tune.reference_ddl))


def experiments(session: Session, task: Task) -> tuple[Experiment, ...]:
    """Play an episode for the original, either half of the reference, the reference, and the plausible answer, as far as they differ.

    In each episode the DDL and then the query are tried on the scratch copy first, so what grading counts can be held against it.
    """
    return tuple(_played(session, task, name, sql, ddl) for name, sql, ddl in _submissions(task))


def _submissions(task: Task) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    grader = task.tune
    reference, nothing = (grader.reference_sql, grader.reference_ddl), (task.sql, ())
    yield "original", *nothing
    for name, sql, ddl in (("rewrite only", grader.reference_sql, ()), ("indexes only", task.sql, grader.reference_ddl)):
        if (sql, ddl) not in (reference, nothing):
            yield name, sql, ddl
    yield "both", *reference
    for variant in grader.variants:
        if variant.name == "plausible":
            yield variant.name, variant.sql, variant.ddl


def _played(session: Session, task: Task, name: str, sql: str, ddl: tuple[str, ...]) -> Experiment:
    session.reset(task_id=task.id)
    seen: list[int | None] = []
    for statement in (*ddl, sql):
        observation = session.step(SQLOptimAction(kind="query", sql=statement)).observation
        seen.append(observation.logical_reads if observation.error is None else None)
    observation = session.step(SQLOptimAction(optimized_query=sql, ddl=list(ddl))).observation
    return Experiment(
        name=name,
        scratch_pages=None if None in seen else seen[-1],
        pages=observation.logical_reads,
        score=float(observation.score or 0.0),
    )
