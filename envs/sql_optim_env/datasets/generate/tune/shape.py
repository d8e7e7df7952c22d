"""What the data side of a shape must say, and draws that shapes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.tune.draws import dealt, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["STATES", "Layout", "Numbers", "Prose", "Shape", "labels", "with_gaps"]

Numbers = Mapping[str, int]
"""What is drawn once a task and known to its data and its query: sizes, literals, and choices among forms."""

STATES: Final = (
    ("held", "booked", "void"),
    ("open", "settled", "cancelled"),
    ("waiting", "done", "dropped"),
    ("disputed", "agreed", "lapsed"),
)
"""Values of a link's ``state``; the first is the rare one that a query asks for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The schema of one task, in the form in which ``TuneDataset`` wants it."""

    ddl: str
    tables: tuple[str, ...]
    sizes: Mapping[str, int]
    references: Mapping[str, str] = field(default_factory=dict)
    hot: Mapping[str, Sequence[Value]] = field(default_factory=dict)


class Shape(Protocol):
    """A shape of data: how large, with which columns, and how rows are drawn. All three are pure functions."""

    def numbers(self, dice: Random) -> Numbers:
        """What this task draws."""

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """The schema."""

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """The rows of an instance; ``sizes`` has the layout's keys, on edge instances with small numbers."""


class Prose:
    """Long texts, cut from one stock: a draw a text instead of a draw a word, since an instance has thousands."""

    _STOCK = 6_000

    def __init__(self, dice: Random, words: Sequence[str]) -> None:
        self._dice = dice
        self._stock = text(dice, words, self._STOCK)

    def cut(self, length: int) -> str:
        """A text of ``length`` characters, below 5,000."""
        start = self._dice.randrange(self._STOCK - length)
        return self._stock[start : start + length]


def labels(dice: Random, words: Sequence[str], count: int) -> list[str]:
    """``count`` different short texts of two of ``words`` and a number."""
    return [f"{dice.choice(words)} {dice.choice(words)} {number}" for number in range(1, count + 1)]


def with_gaps(dice: Random, values: Sequence[int], count: int, *, missing: int, dangling: int) -> list[int | None]:
    """``count`` ids of ``values``, each as often as any other, but for ``missing`` percent NULL and ``dangling`` percent of nobody."""
    nobody = max(values, default=0) + 1
    lost = count * missing // 100
    strays = count * dangling // 100
    deck: list[int | None] = [*dealt(dice, values, max(count - lost - strays, 0) if values else 0)]
    deck += [None] * lost
    deck += [nobody + dice.randrange(9) for _ in range(count - len(deck))]
    dice.shuffle(deck)
    return deck
