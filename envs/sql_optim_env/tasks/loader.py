"""Reads a task from its folder.

A folder's name is the task's id. A folder of the family ``rewrite`` holds::

    task.toml          name, description, limits, and under [grader] the expected issues and the oracle's summary
    original.sql       the query that the agent sees; the lines of the issues count in this file
    reference.sql      the best known rewrite; left out when the query is already optimal
    equivalents/*.sql  other right answers

What one of the family ``tune`` holds stands in :mod:`tune_loader`, of ``audit`` in :mod:`audit_loader`. Every fault is reported with the
file and the field it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, get_args

from sql_optim_env.tasks.audit_loader import read_audit_task
from sql_optim_env.tasks.folder import TaskFolder, TaskFormatError, squeezed
from sql_optim_env.tasks.task import Difficulty, ExpectedIssue, Family, RewriteGrader, Split, Task, TuneGrader
from sql_optim_env.tasks.tune_loader import read_tune_grader
from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = ["TaskFormatError", "load_task", "load_tasks"]

_TASK_FIELDS: Final = frozenset(
    "name family split difficulty dataset dialect description tables max_steps max_explorations tags grader".split()
)
_GRADER_FIELDS: Final = frozenset("optimal summary issues".split())
_ISSUE_FIELDS: Final = frozenset("type line severity also".split())


def load_tasks(root: Traversable | Path) -> tuple[Task, ...]:
    """All tasks in the sub-folders of ``root``, a family after the other, in the order of the numbers in their ids."""
    folders = [entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(("_", "."))]
    families = get_args(Family)
    return tuple(sorted(map(load_task, folders), key=lambda task: (families.index(task.family), _natural(task.id))))


def load_task(folder: Traversable | Path) -> Task:
    """The task in ``folder``. Raises TaskFormatError."""
    found = TaskFolder(folder)
    table = found.table()
    family = found.choice(table, "family", get_args(Family))
    if family == "audit":
        return read_audit_task(found, table)
    form = _FORMATS[family]
    found.only(table, _TASK_FIELDS | form.own_fields)
    sql = found.sql("original.sql")
    return Task(
        id=found.id,
        name=found.text(table, "name"),
        family=family,
        split=found.choice(table, "split", get_args(Split)),
        difficulty=found.choice(table, "difficulty", get_args(Difficulty)),
        dataset=found.text(table, "dataset"),
        dialect=found.text(table, "dialect"),
        description=found.text(table, "description"),
        sql=sql,
        tables=found.texts(table, "tables", least=1),
        max_steps=found.within(table, "max_steps", form.max_steps),
        max_explorations=found.within(table, "max_explorations", range(0, 101)),
        grader=form.read_grader(found, found.value(table, "grader", dict), sql),
        tags=found.texts(table, "tags", least=0) if "tags" in table else (),
        max_indexes=found.within(table, "max_indexes", range(0, 11)) if "max_indexes" in form.own_fields else 0,
    )


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key under which ``task_2`` comes before ``task_10``."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in name.split("_"))


def _read_rewrite_grader(folder: TaskFolder, grader: Mapping[str, Any], sql: str) -> RewriteGrader:
    folder.only(grader, _GRADER_FIELDS, "grader.")
    optimal = folder.value(grader, "optimal", bool, "grader.")
    issues = tuple(
        _issue(folder, issue, f"grader.issues[{position}].", len(sql.splitlines()))
        for position, issue in enumerate(folder.value(grader, "issues", list, "grader.", default=[]))
    )
    if optimal and issues:
        folder.fail("task.toml", "grader.issues", "an optimal query has no issues")
    if optimal and folder.has("reference.sql"):
        folder.fail("reference.sql", "", "the reference of an optimal query is the query itself; remove the file")
    if not optimal and not issues:
        folder.fail("task.toml", "grader.issues", "at least one issue is needed unless grader.optimal is true")
    reference = sql if optimal else folder.sql("reference.sql")
    if not optimal and squeezed(reference) == squeezed(sql):
        folder.fail("reference.sql", "", "is the original query")
    return RewriteGrader(
        reference_sql=reference,
        issues=issues,
        summary=folder.text(grader, "summary", "grader."),
        optimal=optimal,
        equivalents=_equivalents(folder, sql, reference),
    )


def _issue(folder: TaskFolder, issue: object, where: str, lines: int) -> ExpectedIssue:
    if not isinstance(issue, dict):
        folder.fail("task.toml", where.rstrip("."), "must be a table")
    folder.only(issue, _ISSUE_FIELDS, where)
    line = folder.value(issue, "line", int, where)
    if not 1 <= line <= lines:
        folder.fail("task.toml", f"{where}line", f"{line} is outside the query, which has {lines} lines")
    issue_type = folder.enum(IssueType, folder.value(issue, "type", str, where), f"{where}type")
    words = folder.texts(issue, "also", where, least=0) if "also" in issue else ()
    also = tuple(folder.enum(IssueType, word, f"{where}also") for word in words)
    if len({issue_type, *also}) != 1 + len(also):
        folder.fail("task.toml", f"{where}also", "repeats a type")
    severity = folder.enum(Severity, folder.value(issue, "severity", str, where), f"{where}severity")
    return ExpectedIssue(issue_type, line, severity, also)


def _equivalents(folder: TaskFolder, sql: str, reference: str) -> tuple[str, ...]:
    texts = {name: folder.sql("equivalents", name) for name in folder.sql_files("equivalents")}
    seen = {squeezed(sql), squeezed(reference)}
    for name, text in texts.items():
        if squeezed(text) in seen:
            folder.fail(f"equivalents/{name}", "", "repeats another statement of this task")
        seen.add(squeezed(text))
    return tuple(texts.values())


@dataclass(frozen=True, slots=True)
class _Format:
    """What differs between the folders of the families."""

    read_grader: Callable[[TaskFolder, Mapping[str, Any], str], RewriteGrader | TuneGrader]
    """Reads ``[grader]`` and the files it speaks of; the last argument is the original query."""
    max_steps: range
    own_fields: frozenset[str] = frozenset()


_FORMATS: Final[Mapping[Family, _Format]] = {
    "rewrite": _Format(_read_rewrite_grader, range(3, 6)),
    # A tune episode ends with its submission, so that pages cannot be bought by trying: experiments have the scratch copy.
    "tune": _Format(read_tune_grader, range(1, 2), frozenset({"max_indexes"})),
}
