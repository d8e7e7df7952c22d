"""Reads the files of a task folder, one value at a time; every fault is reported with the file and the field it stands in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from sql_optim_env.errors import InfraError

__all__ = ["TaskFolder", "TaskFormatError", "squeezed"]

_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)

_NAMES: Final[dict[type, str]] = {str: "a text", int: "an integer", bool: "true or false", list: "a list", dict: "a table"}


class TaskFormatError(InfraError):
    """A task folder that cannot be read; the message names the file and the field."""


class TaskFolder:
    """One folder while it is read. Fields are named with ``where`` before them: ``grader.`` or ``grader.issues[0].``."""

    def __init__(self, folder: Traversable | Path) -> None:
        self._path = folder
        self.id = folder.name

    def table(self) -> dict[str, Any]:
        """The content of ``task.toml``."""
        try:
            return tomllib.loads(self._read("task.toml"))
        except tomllib.TOMLDecodeError as error:
            self.fail("task.toml", "", f"is not TOML: {error}")

    def sql(self, *path: str) -> str:
        """The statement in a file, without the line feed at its end."""
        text = self._read(*path).rstrip()
        if not text:
            self.fail("/".join(path), "", "is empty")
        if text.endswith(";"):
            self.fail("/".join(path), "", "must be one statement without a closing semicolon")
        if text != text.lstrip() or "\r" in text or "\t" in text:
            self.fail("/".join(path), "", "must begin with the statement and use spaces and line feeds only")
        return text

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return self._path.joinpath(name).is_file()

    def sql_files(self, name: str) -> tuple[str, ...]:
        """The names of the ``.sql`` files in the sub-folder ``name``, sorted; none where there is no such folder."""
        folder = self._path.joinpath(name)
        return tuple(sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))) if folder.is_dir() else ()

    def text(self, table: Mapping[str, Any], field: str, where: str = "") -> str:
        """A text that is not empty, its white space squeezed."""
        text = " ".join(str(self.value(table, field, str, where)).split())
        if not text:
            self.fail("task.toml", where + field, "is empty")
        return text

    def texts(self, table: Mapping[str, Any], field: str, where: str = "", *, least: int) -> tuple[str, ...]:
        """A list of at least ``least`` texts, none of them empty."""
        values = self.value(table, field, list, where)
        if len(values) < least or not all(isinstance(value, str) and value for value in values):
            self.fail("task.toml", where + field, f"must be a list of at least {least} text(s)")
        return tuple(values)

    def within(self, table: Mapping[str, Any], field: str, allowed: range, where: str = "") -> int:
        """An integer of a range."""
        value = self.value(table, field, int, where)
        if value not in allowed:
            bounds = f"{allowed.start} to {allowed.stop - 1}" if len(allowed) > 1 else f"{allowed.start}"
            self.fail("task.toml", where + field, f"must be {bounds}, not {value}")
        return value

    def choice(self, table: Mapping[str, Any], field: str, allowed: tuple[_T, ...]) -> _T:
        """One of the ``allowed`` words."""
        value = self.value(table, field, str)
        for choice in allowed:
            if choice == value:
                return choice
        self.fail("task.toml", field, f"must be one of {_listed(allowed)}, not {value!r}")

    def enum(self, kind: type[_E], word: str, where: str) -> _E:
        """The member of the enumeration ``kind`` that ``word`` stands for."""
        try:
            return kind(word)
        except ValueError:
            self.fail("task.toml", where, f"must be one of {_listed(kind)}, not {word!r}")

    def value(self, table: Mapping[str, Any], field: str, kind: type[_T], where: str = "", default: _T | None = None) -> _T:
        """The value of a field, which must be of the type ``kind``; a field without a ``default`` must be there."""
        if field not in table:
            if default is not None:
                return default
            self.fail("task.toml", where + field, "is missing")
        value = table[field]
        # bool is a subclass of int, and no field wants true for a number.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail("task.toml", where + field, f"must be {_NAMES[kind]}")
        return value

    def only(self, table: Mapping[str, Any], allowed: frozenset[str], where: str = "") -> None:
        """Refuse every field that is not in ``allowed``."""
        for field in table:
            if field not in allowed:
                self.fail("task.toml", where + field, f"is not a field; there are {_listed(sorted(allowed))}")

    def fail(self, file: str, field: str, message: str) -> NoReturn:
        """Raise TaskFormatError."""
        raise TaskFormatError(f"{self.id}/{file}: {field + ' ' if field else ''}{message}")

    def _read(self, *path: str) -> str:
        file = self._path.joinpath(*path)
        try:
            return file.read_bytes().decode("utf-8")
        except FileNotFoundError:
            self.fail("/".join(path), "", "is missing")
        except UnicodeDecodeError:
            self.fail("/".join(path), "", "is not UTF-8")


def squeezed(sql: str) -> str:
    """``sql`` in lower case with its white space squeezed: equal for texts that differ in layout only."""
    return " ".join(sql.lower().split())


def _listed(words: Iterable[object]) -> str:
    return ", ".join(str(word) for word in words)
