"""Draws that the generators share. All of them are functions of the dice they are handed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["dealt", "gapped_ids", "text"]

_T = TypeVar("_T")


def gapped_ids(dice: Random, count: int, *, gap: int = 4) -> list[int]:
    """``count`` increasing ids, each 1 to ``gap`` above the one before, so that the greatest says nothing about how many there are."""
    ids, last = [], 0
    for _ in range(count):
        last += dice.randrange(1, gap + 1)
        ids.append(last)
    return ids


def dealt(dice: Random, values: Sequence[_T], count: int) -> list[_T]:
    """``count`` of ``values`` in mixed order, each as often as any other (give or take one): a draw that is even on every seed."""
    deck = [values[k % len(values)] for k in range(count)] if values else []
    dice.shuffle(deck)
    return deck


def text(dice: Random, words: Sequence[str], length: int) -> str:
    """Some of ``words`` in a row, ``length`` characters in all."""
    parts, size = [], -1
    while size < length:
        word = words[dice.randrange(len(words))]
        parts.append(word)
        size += len(word) + 1
    return " ".join(parts)[:length]
