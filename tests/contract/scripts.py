"""What tests play more than once: an episode of each family with all its kinds of action, and one that does harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sql_optim_env.agents.answers import Actions, answers
from sql_optim_env.agents.audit import reference_steps
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

FAMILIES = ("rewrite", "tune", "audit")


@dataclass(frozen=True, slots=True)
class Script:
    """The arguments of a reset, and the actions after it; the last one ends the episode."""

    reset: dict[str, Any]
    actions: Actions

    @property
    def task(self) -> Task:
        return catalogue().get(self.reset["task_id"])


def look(sql: str, kind: str = "query") -> SQLOptimAction:
    return SQLOptimAction.model_validate({"kind": kind, "sql": sql})


def profile(table: str, column: str) -> SQLOptimAction:
    return SQLOptimAction(kind="profile", table=table, column=column)


def script(family: str) -> Script:
    """An episode with looks, refusals, failures and, as far as there is room for them, wrong and middling answers; it earns something."""
    if family == "rewrite":
        task = catalogue().get("task_1_basic_antipatterns")
        actions: Actions = (
            look("SELECT tier, COUNT(*) AS n FROM users GROUP BY tier ORDER BY tier"),
            look("SELECT tier, COUNT(*) AS n FROM users GROUP BY tier", "explain"),
            look("SELECT random()"),
            SQLOptimAction(optimized_query="SELECT nope FROM events"),
            *answers(task)["slow"],
            *answers(task)["oracle"],
        )
        return Script({"task_id": task.id, "seed": 7}, actions)
    if family == "tune":
        task = catalogue().get("tune_seed_bank")
        actions = (
            look("CREATE TABLE notes AS SELECT 7 AS n"),
            look("SELECT n, (SELECT COUNT(*) FROM accession) AS accessions FROM notes"),
            *(look(item) for item in task.tune.reference_ddl),
            look(task.tune.reference_sql, "explain"),
            look(task.tune.reference_sql),
            look("SELECT random(), datetime('now'), (SELECT MAX(id) FROM (SELECT id FROM accession ORDER BY random() LIMIT 5))"),
            look("ATTACH 'other.db' AS other"),
            look("SELECT nope FROM accession"),
            *answers(task)["oracle"],
        )
        return Script({"task_id": task.id, "seed": 7}, actions)
    task = catalogue().get("dedup_bug")
    scenario = scenario_of(task, 7)
    structure, column, repair, check, answer = reference_steps(task, 7)
    actions = (
        structure,
        look("SELECT nope FROM nowhere"),
        profile(scenario.defect.table, scenario.defect.columns[0]),
        column,
        look("DELETE FROM nowhere", "fix"),
        look(f'DELETE FROM "{scenario.defect.table}" WHERE rowid % 3 = 0', "fix"),
        check,
        repair,
        check,
        answer.model_copy(update={"offending_key": "nothing"}),
    )
    return Script({"task_id": task.id, "seed": 7}, actions)


def harm(family: str) -> Script:
    """An episode on the same data as :func:`script` that destroys what it can, and hands in something else."""
    played = script(family)
    if family == "rewrite":
        actions: Actions = (
            look("SELECT COUNT(*) AS n FROM orders"),
            look("DROP TABLE users"),
            look("SET threads = 2"),
            SQLOptimAction(optimized_query="SELECT 1 AS one", approved=True),
            SQLOptimAction(optimized_query=f"SELECT * FROM ({played.task.rewrite.reference_sql}) AS t LIMIT 1"),
            SQLOptimAction(optimized_query="SELECT CAST('x' AS INTEGER) AS tier"),
        )
    elif family == "tune":
        actions = (
            look("DROP TABLE accession"),
            look("CREATE TABLE accession (id, taxon, seeds)"),
            look("CREATE TABLE notes AS SELECT 8 AS n"),
            SQLOptimAction(optimized_query="SELECT 1 AS one"),
        )
    else:
        table = scenario_of(played.task, 7).defect.table
        actions = (
            look(f'DELETE FROM "{table}"', "fix"),
            look(f'SELECT COUNT(*) FROM "{table}"'),
            look(f'DROP TABLE "{table}"', "fix"),
            SQLOptimAction(answer="nothing"),
        )
    return Script(dict(played.reset), actions)
