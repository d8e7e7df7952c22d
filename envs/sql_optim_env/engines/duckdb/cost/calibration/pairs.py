"""Pairs of equivalent or near-equivalent queries, a dear and a cheap one each: what the cost model is for is to order and to size these.

They are grouped by name, and both queries of a pair are held out together when the model is judged. Whether two queries are exactly
equivalent does not matter here; how much work each takes does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections

__all__ = ["PAIRS", "Pair", "pair_statements"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A dear query and a cheap one for the same question."""

    name: str
    slow: str
    fast: str


def _read() -> Iterator[Pair]:
    for name, statements in read_sections("pairs"):
        slow, fast = statements
        yield Pair(name, slow, fast)


PAIRS: Final = tuple(_read())


def pair_statements(database: str) -> list[Statement]:
    """Both queries of every pair on one instance; the pair's name is the template."""
    found: list[Statement] = []
    for pair in PAIRS:
        found.append(Statement(database, "pair", f"pair_{pair.name}", pair.slow))
        found.append(Statement(database, "pair", f"pair_{pair.name}", pair.fast))
    return found
