"""How an audit episode is played by one who knows the problem, and the names that an observation gives away to everybody."""

from __future__ import annotations

from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.task import Task

__all__ = ["every_name", "first_table", "reference_step", "reference_steps"]


def reference_steps(task: Task, seed: int | None) -> tuple[SQLOptimAction, ...]:
    """The shortest way to the highest score: structure, column, repair, check, answer; without repair and check where none is wanted."""
    scenario = scenario_of(task, seed)
    looks = (SQLOptimAction(kind="query", sql=scenario.structure_look), SQLOptimAction(kind="query", sql=scenario.column_look))
    repair = (SQLOptimAction(kind="fix", sql=scenario.reference_fix), SQLOptimAction(kind="query", sql=scenario.check))
    answer = SQLOptimAction(
        answer=scenario.expected.answer,
        root_cause_table=scenario.expected.root_cause_table,
        offending_key=scenario.expected.offending_key,
    )
    return (*looks, *(repair if scenario.fixable else ()), answer)


def reference_step(task: Task, seed: int | None, step: int) -> SQLOptimAction:
    """The action after ``step`` others; the last one again beyond the end."""
    steps = reference_steps(task, seed)
    return steps[min(step, len(steps) - 1)]


def first_table(observation: SQLOptimObservation) -> str:
    """The first table that the observation shows rows of, an empty text where it shows none."""
    return next((sample.table for sample in observation.sample_rows), "")


def every_name(observation: SQLOptimObservation) -> str:
    """Every table and column that the observation shows, separated by commas."""
    names = [name for sample in observation.sample_rows for name in (sample.table, *sample.columns)]
    return ", ".join(dict.fromkeys(names))
