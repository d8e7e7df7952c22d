"""The sandbox's jobs for a task that is answered with SQL, whichever of the two families it is of."""

from __future__ import annotations

from typing import Final

from sql_optim_env.grading.evidence import RewriteEvidence
from sql_optim_env.grading.tune_evidence import TuneEvidence
from sql_optim_env.sandbox.jobs import grade_rewrite, prepare_task
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.sandbox.tune_jobs import grade_tune, prepare_tune
from sql_optim_env.tasks.task import Task

__all__ = ["grade", "prepare"]

_PREPARATION_S: Final = 240.0


def prepare(sandbox: Sandbox, task: Task) -> None:
    """Build and measure whatever ``task`` needs. Raises InfraError when the task is broken."""
    sandbox.call(prepare_task if task.family == "rewrite" else prepare_tune, task.id, deadline_s=_PREPARATION_S)


def grade(sandbox: Sandbox, task: Task, sql: str) -> RewriteEvidence | TuneEvidence:
    """Run ``sql`` as a submission, to a ``tune`` task with the reference's DDL. Raises AgentError when it ends its worker."""
    if task.family == "rewrite":
        return sandbox.call(grade_rewrite, task.id, sql, "cost")
    return sandbox.call(grade_tune, task.id, sql, task.tune.reference_ddl)
