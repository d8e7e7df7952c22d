"""What a named answer is worth: right, nearly right (a slip of the pen in a name that exists), or wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

__all__ = ["NEAR_MISS", "answer_credit", "edit_distance"]

NEAR_MISS: Final = 0.5
"""The credit of a misspelt name that can only mean the right one."""

_SLIPS: Final = 2
_SLIPS_IN_A_SHORT_NAME: Final = 1
_SHORT_NAME: Final = 4
_QUOTES: Final = str.maketrans("", "", "\"'`[]")
_WORD: Final = re.compile(r"\w+")


def answer_credit(given: str, expected: str, schema: Mapping[str, tuple[str, ...]], owners: Collection[str] = ()) -> float:
    """The credit of ``given`` where ``expected`` is right: 1.0, :data:`NEAR_MISS` or 0.0.

    ``schema`` holds the tables and columns that exist. ``owners`` are the tables that may stand beside the name: with ``orders`` among
    them, ``orders.email`` and "email of orders" mean ``email``. Case, quotes and brackets do not matter. A text with more words is right
    when no other existing name is in it, so a list of names is never right. What is no name (a number, a date) must be given exactly.
    """
    right = _normal(expected)
    text = _without_owner(_normal(given), owners)
    if text == right:
        return float(bool(right))
    existing = _names(schema)
    if right not in existing:
        return 0.0
    named = existing.intersection(_WORD.findall(text))
    if named:
        # Beside a column its table may be named; beside a table another one may not.
        beside = set() if right in {table.lower() for table in schema} else {owner.lower() for owner in owners}
        return float(right in named and named <= {right} | beside)
    return NEAR_MISS if _means(text, right, existing) else 0.0


def edit_distance(one: str, other: str) -> int:
    """Least number of letters to insert, delete or replace to get from one to the other."""
    row = list(range(len(other) + 1))
    for count, letter in enumerate(one, start=1):
        before, row[0] = row[0], count
        for place, second in enumerate(other, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != second))
    return row[-1]


def _means(text: str, right: str, existing: Iterable[str]) -> bool:
    slips = _SLIPS if len(right) > _SHORT_NAME else _SLIPS_IN_A_SHORT_NAME
    if abs(len(text) - len(right)) > slips:
        return False
    distance = edit_distance(text, right)
    return distance <= slips and all(distance < edit_distance(text, other) for other in existing if other != right)


def _names(schema: Mapping[str, tuple[str, ...]]) -> set[str]:
    return {name.lower() for table, columns in schema.items() for name in (table, *columns)}


def _normal(text: str) -> str:
    return " ".join(text.translate(_QUOTES).lower().split())


def _without_owner(text: str, owners: Collection[str]) -> str:
    allowed = "|".join(re.escape(owner.lower()) for owner in ("main", *owners))
    return re.sub(rf"\b(?:{allowed})\s?\.\s?(?=\w)", "", text)
