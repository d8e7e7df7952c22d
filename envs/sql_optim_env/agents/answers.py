"""Answers to a task, good and bad, each as the actions that hand it in: the best one, the query as it is, a slow one, a wrong one."""

from __future__ import annotations

from sql_optim_env.agents.audit import reference_steps
from sql_optim_env.agents.fixed import OraclePlayer
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["Actions", "answers"]

Actions = tuple[SQLOptimAction, ...]
"""From the first after the reset to the one that is graded."""


def answers(task: Task) -> dict[str, Actions]:
    """Return what may be handed in for ``task`` without a seed: ``oracle``, ``echo``, ``slow``, ``wrong`` and, of SQL, ``failing``."""
    if task.family == "audit":
        return _repairs(task)
    best = (OraclePlayer(catalogue().get).act(SQLOptimObservation(task_id=task.id)),)
    echo = (SQLOptimAction(optimized_query=task.sql, approved=False),)
    failing = (SQLOptimAction(optimized_query="SELECT no_such_column FROM nowhere"),)
    if task.family == "tune":
        plausible = next(variant for variant in task.tune.variants if variant.name == "plausible")
        wrong = task.tune.wrong[0]
        return {
            "oracle": best,
            "echo": echo,
            "slow": (SQLOptimAction(optimized_query=plausible.sql, ddl=list(plausible.ddl)),),
            "wrong": (SQLOptimAction(optimized_query=wrong.sql, ddl=list(wrong.ddl)),),
            "failing": failing,
        }
    said = task.rewrite.issues[:1]
    partial = {
        "optimized_query": task.rewrite.equivalents[0],
        "suggestions": [{"issue_type": issue.issue_type.value, "line": issue.line, "severity": "low"} for issue in said],
        "approved": False,
    }
    return {
        "oracle": best,
        "echo": echo,
        "slow": (SQLOptimAction.model_validate(partial),),
        "wrong": (SQLOptimAction(optimized_query=f"SELECT * FROM ({task.rewrite.reference_sql}) AS t LIMIT 1"),),
        "failing": failing,
    }


def _repairs(task: Task) -> dict[str, Actions]:
    scenario = scenario_of(task, None)
    best = reference_steps(task, None)
    looks, answer = best[:2], best[-1]
    echo = (_look("SELECT sql FROM sqlite_schema"), SQLOptimAction())
    work = "SELECT max(i) AS i FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000) SELECT i FROM n)"
    if not scenario.fixable:
        wrong = answer.model_copy(update={field: "nothing" for field in scenario.expected.asked()})
        return {"oracle": best, "echo": echo, "slow": (_look(work), *looks, answer), "wrong": (*looks, wrong)}
    check = _look(scenario.check)
    heavy = _look(f"{scenario.reference_fix.rstrip().rstrip(';')};\n{work};", "fix")
    thrown_away = _look(f'DELETE FROM "{scenario.defect.table}" WHERE rowid % 3 = 0', "fix")
    return {"oracle": best, "echo": echo, "slow": (*looks, heavy, check, answer), "wrong": (*looks, thrown_away, check, answer)}


def _look(sql: str, kind: str = "query") -> SQLOptimAction:
    return SQLOptimAction.model_validate({"kind": kind, "sql": sql})
