"""Reads a task from its folder.

A folder's name is the task's id. It holds::

    task.toml          name, description, limits, and under [grader] the expected issues and the oracle's summary
    original.sql       the query that the agent sees; the lines of the issues count in this file
    reference.sql      the best known rewrite; left out when the query is already optimal
    equivalents/*.sql  other right answers

Every fault is reported with the file and the field it stands in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, get_args

from sql_optim_env.errors import InfraError
from sql_optim_env.tasks.task import Difficulty, ExpectedIssue, Family, RewriteGrader, Split, Task
from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = ["TaskFormatError", "load_task", "load_tasks"]

_T = TypeVar("_T")

_TASK_FIELDS: Final = frozenset(
    "name family split difficulty dataset dialect description tables max_steps max_explorations tags grader".split()
)
_GRADER_FIELDS: Final = frozenset("optimal summary issues".split())
_ISSUE_FIELDS: Final = frozenset("type line severity also".split())
_STEPS: Final = range(3, 6)


class TaskFormatError(InfraError):
    """A task folder that cannot be read; the message names the file and the field."""


def load_tasks(root: Traversable | Path) -> tuple[Task, ...]:
    """All tasks in the sub-folders of ``root``, in the order of the numbers in their ids."""
    folders = [entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(("_", "."))]
    return tuple(load_task(folder) for folder in sorted(folders, key=lambda folder: _natural(folder.name)))


def load_task(folder: Traversable | Path) -> Task:
    """The task in ``folder``. Raises TaskFormatError."""
    return _Folder(folder).task()


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key under which ``task_2`` comes before ``task_10``."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in name.split("_"))


class _Folder:
    """One folder while it is read; keeps the file name for error messages."""

    def __init__(self, folder: Traversable | Path) -> None:
        self._folder = folder
        self._id = folder.name

    def task(self) -> Task:
        table = self._toml()
        self._only(table, _TASK_FIELDS, "")
        sql = self._sql("original.sql")
        return Task(
            id=self._id,
            name=self._text(table, "name"),
            family=self._choice(table, "family", get_args(Family)),
            split=self._choice(table, "split", get_args(Split)),
            difficulty=self._choice(table, "difficulty", get_args(Difficulty)),
            dataset=self._text(table, "dataset"),
            dialect=self._text(table, "dialect"),
            description=self._text(table, "description"),
            sql=sql,
            tables=self._texts(table, "tables", least=1),
            max_steps=self._within(table, "max_steps", _STEPS),
            max_explorations=self._within(table, "max_explorations", range(0, 101)),
            grader=self._grader(table, sql),
            tags=self._texts(table, "tags", least=0) if "tags" in table else (),
        )

    def _grader(self, table: Mapping[str, Any], sql: str) -> RewriteGrader:
        grader = self._value(table, "grader", dict)
        self._only(grader, _GRADER_FIELDS, "grader.")
        optimal = self._value(grader, "optimal", bool, "grader.")
        issues = tuple(
            self._issue(issue, f"grader.issues[{position}].", len(sql.splitlines()))
            for position, issue in enumerate(self._value(grader, "issues", list, "grader.", default=[]))
        )
        has_reference = self._folder.joinpath("reference.sql").is_file()
        if optimal and issues:
            self._fail("task.toml", "grader.issues", "an optimal query has no issues")
        if optimal and has_reference:
            self._fail("reference.sql", "", "the reference of an optimal query is the query itself; remove the file")
        if not optimal and not issues:
            self._fail("task.toml", "grader.issues", "at least one issue is needed unless grader.optimal is true")
        reference = sql if optimal else self._sql("reference.sql")
        if not optimal and _squeezed(reference) == _squeezed(sql):
            self._fail("reference.sql", "", "is the original query")
        return RewriteGrader(
            reference_sql=reference,
            issues=issues,
            summary=self._text(grader, "summary", "grader."),
            optimal=optimal,
            equivalents=self._equivalents(sql, reference),
        )

    def _issue(self, issue: object, where: str, lines: int) -> ExpectedIssue:
        if not isinstance(issue, dict):
            self._fail("task.toml", where.rstrip("."), "must be a table")
        self._only(issue, _ISSUE_FIELDS, where)
        line = self._value(issue, "line", int, where)
        if not 1 <= line <= lines:
            self._fail("task.toml", f"{where}line", f"{line} is outside the query, which has {lines} lines")
        issue_type = self._enum(IssueType, self._value(issue, "type", str, where), f"{where}type")
        also = tuple(
            self._enum(IssueType, word, f"{where}also") for word in (self._texts(issue, "also", where, least=0) if "also" in issue else ())
        )
        if len({issue_type, *also}) != 1 + len(also):
            self._fail("task.toml", f"{where}also", "repeats a type")
        return ExpectedIssue(issue_type, line, self._enum(Severity, self._value(issue, "severity", str, where), f"{where}severity"), also)

    def _equivalents(self, sql: str, reference: str) -> tuple[str, ...]:
        folder = self._folder.joinpath("equivalents")
        if not folder.is_dir():
            return ()
        names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
        texts = [self._sql("equivalents", name) for name in names]
        seen = {_squeezed(sql), _squeezed(reference)}
        for name, text in zip(names, texts, strict=True):
            if _squeezed(text) in seen:
                self._fail(f"equivalents/{name}", "", "repeats another statement of this task")
            seen.add(_squeezed(text))
        return tuple(texts)

    def _toml(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._read("task.toml"))
        except tomllib.TOMLDecodeError as error:
            self._fail("task.toml", "", f"is not TOML: {error}")

    def _sql(self, *path: str) -> str:
        text = self._read(*path).rstrip()
        if not text:
            self._fail("/".join(path), "", "is empty")
        if text.endswith(";"):
            self._fail("/".join(path), "", "must be one statement without a closing semicolon")
        if text != text.lstrip() or "\r" in text or "\t" in text:
            self._fail("/".join(path), "", "must begin with the statement and use spaces and line feeds only")
        return text

    def _read(self, *path: str) -> str:
        file = self._folder.joinpath(*path)
        try:
            return file.read_bytes().decode("utf-8")
        except FileNotFoundError:
            self._fail("/".join(path), "", "is missing")
        except UnicodeDecodeError:
            self._fail("/".join(path), "", "is not UTF-8")

    def _text(self, table: Mapping[str, Any], field: str, where: str = "") -> str:
        text = " ".join(str(self._value(table, field, str, where)).split())
        if not text:
            self._fail("task.toml", where + field, "is empty")
        return text

    def _texts(self, table: Mapping[str, Any], field: str, where: str = "", *, least: int) -> tuple[str, ...]:
        values = self._value(table, field, list, where)
        if len(values) < least or not all(isinstance(value, str) and value for value in values):
            self._fail("task.toml", where + field, f"must be a list of at least {least} text(s)")
        return tuple(values)

    def _within(self, table: Mapping[str, Any], field: str, allowed: range) -> int:
        value = self._value(table, field, int)
        if value not in allowed:
            self._fail("task.toml", field, f"must be {allowed.start} to {allowed.stop - 1}, not {value}")
        return value

    def _choice(self, table: Mapping[str, Any], field: str, allowed: tuple[_T, ...]) -> _T:
        value = self._value(table, field, str)
        for choice in allowed:
            if choice == value:
                return choice
        self._fail("task.toml", field, f"must be one of {_listed(allowed)}, not {value!r}")

    def _enum(self, kind: type[_T], word: str, where: str) -> _T:
        try:
            return kind(word)  # type: ignore[call-arg]
        except ValueError:
            self._fail("task.toml", where, f"must be one of {_listed(kind)}, not {word!r}")  # type: ignore[arg-type]

    def _value(self, table: Mapping[str, Any], field: str, kind: type[_T], where: str = "", default: _T | None = None) -> _T:
        if field not in table:
            if default is not None:
                return default
            self._fail("task.toml", where + field, "is missing")
        value = table[field]
        # bool is a subclass of int, and no field wants true for a number.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self._fail("task.toml", where + field, f"must be {_NAMES[kind]}")
        return value

    def _only(self, table: Mapping[str, Any], allowed: frozenset[str], where: str) -> None:
        for field in table:
            if field not in allowed:
                self._fail("task.toml", where + field, f"is not a field; there are {_listed(sorted(allowed))}")

    def _fail(self, file: str, field: str, message: str) -> NoReturn:
        raise TaskFormatError(f"{self._id}/{file}: {field + ' ' if field else ''}{message}")


_NAMES: Final[dict[type, str]] = {str: "a text", int: "an integer", bool: "true or false", list: "a list", dict: "a table"}


def _listed(words: Iterable[object]) -> str:
    return ", ".join(str(word) for word in words)


def _squeezed(sql: str) -> str:
    return " ".join(sql.lower().split())
