"""Small instances: rows made in Python from repeatable draws, put together from pools of awkward values."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

import duckdb

from sql_optim_env.datasets.shop.schema import TABLES

__all__ = ["Dice", "Event", "Order", "Product", "Rows", "User", "insert"]

T = TypeVar("T")

User = tuple[int, str, str, str | None, str, datetime]
Product = tuple[int, str, str, Decimal]
Order = tuple[int, int, int | None, str, Decimal, datetime]
Event = tuple[int, int, int | None, str, datetime]


class Dice:
    """Repeatable draws: a hash of a key and a counter, the same on every version of Python."""

    def __init__(self, *key: object) -> None:
        self._key = hashlib.blake2b(repr(key).encode()).digest()
        self._count = 0
        self._numbers: list[int] = []

    def below(self, bound: int) -> int:
        """An integer in [0, bound)."""
        if not self._numbers:
            self._count += 1
            self._numbers = list(struct.unpack("<8Q", hashlib.blake2b(self._count.to_bytes(8, "big"), key=self._key).digest()))
        return self._numbers.pop() % bound

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred."""
        return self.below(100) < percent

    def pick(self, values: Sequence[T]) -> T:
        """One of ``values``."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """``values`` in another order."""
        result = list(values)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result


@dataclass(slots=True)
class Rows:
    """The rows of a small instance, in the order in which they will be stored."""

    users: list[User] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def insert(con: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    """Insert ``rows`` into the empty tables, parents first; the engine checks every constraint."""
    for table in TABLES:
        values = getattr(rows, table)
        if values:
            # Money travels as text: a list of decimals would take the width of one of them.
            columns = [[str(value) if isinstance(value, Decimal) else value for value in column] for column in zip(*values, strict=True)]
            con.execute(f"INSERT INTO {table} SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)
