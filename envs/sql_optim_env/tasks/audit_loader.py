"""Reads a task of the ``audit`` family.

Its folder holds one file, since its database is drawn when it is played::

    task.toml        name, description, limits (max_fixes among them: 0 where the kind is answered without a repair), and under [grader]:
                       kind   a name of the kinds of defects
                       seed   a whole number that sets this task apart from others of its kind
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from sql_optim_env.tasks.audit.facts import KIND_FACTS
from sql_optim_env.tasks.folder import TaskFolder
from sql_optim_env.tasks.task import AuditGrader, Difficulty, Split, Task

__all__ = ["read_audit_task"]

_TASK_FIELDS: Final = frozenset("name family split difficulty description max_explorations max_fixes tags grader".split())
_GRADER_FIELDS: Final = frozenset("kind seed".split())


def read_audit_task(folder: TaskFolder, table: Mapping[str, Any]) -> Task:
    """The task in ``folder``, whose ``task.toml`` is ``table``. Raises TaskFormatError."""
    folder.only(table, _TASK_FIELDS)
    grader = folder.value(table, "grader", dict)
    folder.only(grader, _GRADER_FIELDS, "grader.")
    return Task(
        id=folder.id,
        name=folder.text(table, "name"),
        family="audit",
        split=folder.choice(table, "split", get_args(Split)),
        difficulty=folder.choice(table, "difficulty", get_args(Difficulty)),
        dataset="",
        dialect="sqlite",
        description=folder.text(table, "description"),
        sql="",
        tables=(),
        # An episode ends with its one answer; what may be tried before is fixes.
        max_steps=1,
        max_explorations=folder.within(table, "max_explorations", range(1, 101)),
        grader=AuditGrader(_kind(folder, grader), folder.within(grader, "seed", range(1_000_000), "grader.")),
        tags=folder.texts(table, "tags", least=0) if "tags" in table else (),
        max_fixes=folder.within(table, "max_fixes", range(11)),
    )


def _kind(folder: TaskFolder, grader: Mapping[str, Any]) -> str:
    name = folder.text(grader, "kind", "grader.")
    if name not in KIND_FACTS:
        folder.fail("task.toml", "grader.kind", f"must be one of {', '.join(KIND_FACTS)}, not {name!r}")
    return name
