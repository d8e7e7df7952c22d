"""The databases of a task on which a mutant meets its reference: the small instances that grade, and those of a longer search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from sql_optim_env.cli.mutation.constants import PublicResult
from sql_optim_env.engines.base import Column
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["DEADLINE_S", "OUT_OF_RESOURCES", "Databases", "Verdict", "recast"]

DEADLINE_S = 4.0
"""Seconds that a statement may take on one database: a mutant that loses the condition of a join makes a product."""

OUT_OF_RESOURCES = frozenset({ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY, ErrorCode.RESULT_TOO_LARGE, ErrorCode.ENGINE_CRASH})
"""What ends a statement for the work that it does, which says nothing of its rows."""

Key = TypeVar("Key")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one database says of a mutant."""

    differs: bool
    undecided: bool = False
    """The mutant ran out of time or memory, which says nothing of its rows."""


class Databases(ABC, Generic[Key, Result]):
    """Runs statements on databases named by keys, and remembers what the original gives on each."""

    def __init__(self, original: str, reference: str) -> None:
        self._original, self._reference = original, reference
        self._right: dict[Key, Result | None] = {}
        self.disputed: set[Key] = set()
        """Databases on which the original and the reference differ: outside of what the task promises, so they decide nothing."""

    @abstractmethod
    def grading(self) -> Iterable[Key]:
        """The small instances that grade."""

    @abstractmethod
    def searched(self) -> Iterator[Key]:
        """Those of the longer search, whatever the mutant."""

    @abstractmethod
    def searched_for(self, sql: str) -> Iterator[Key]:
        """Those around the literals of a mutant; none when it holds no others than the reference."""

    @abstractmethod
    def public(self) -> PublicResult:
        """The right result on the visible data."""

    @abstractmethod
    def fitted(self, sql: str) -> str | None:
        """``sql`` with the result's names and types of the reference, so that only its rows can tell; None when it does not run at all."""

    @abstractmethod
    def _run(self, sql: str, key: Key) -> Result:
        """The result of ``sql``. Raises AgentError."""

    @abstractmethod
    def _equal(self, right: Result, found: Result) -> bool:
        """As grading compares."""

    def verdict(self, sql: str, key: Key) -> Verdict:
        """Whether ``sql`` gives another result than the task's query; a failure while it runs is one."""
        right = self._right_result(key)
        if right is None:
            return Verdict(False)
        try:
            return Verdict(not self._equal(right, self._run(sql, key)))
        except AgentError as error:
            undecided = error.code in OUT_OF_RESOURCES
            return Verdict(not undecided, undecided)

    def _right_result(self, key: Key) -> Result | None:
        if key not in self._right:
            self._right[key] = self._agreed(key)
        return self._right[key]

    def _agreed(self, key: Key) -> Result | None:
        try:
            right, reference = self._run(self._original, key), self._run(self._reference, key)
        except AgentError:
            return None
        if self._equal(right, reference):
            return right
        self.disputed.add(key)
        return None


def recast(sql: str, found: Iterable[Column], right: Iterable[Column]) -> str:
    """``sql`` with the names and types of ``right`` for those that it has."""
    casts = (f'CAST("{have.name}" AS {want.type}) AS "{want.name}"' for have, want in zip(found, right, strict=True))
    return f"SELECT {', '.join(casts)} FROM (\n{sql}\n) AS m"
