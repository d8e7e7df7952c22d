"""CPU times of two statements that can be compared: taken in turns, so that whatever the machine does meets both alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

__all__ = ["ENOUGH_PAIRS", "MOST_PAIRS", "paired_cpu_ms"]

ENOUGH_PAIRS = 5
"""Pairs that are taken unless the budget ends before."""

MOST_PAIRS = 15
"""Pairs that are taken while they are short: the shorter a run, the more a single disturbance weighs."""

_SHORT_S = 0.25


def paired_cpu_ms(first: Callable[[], float], second: Callable[[], float], *, budget_s: float) -> tuple[float, float]:
    """Return the medians of what ``first`` and ``second`` return (CPU milliseconds of one run), run in the order A B B A A B ….

    At least one pair is taken, and none that would probably end beyond ``budget_s`` (wall seconds).
    """
    began = time.monotonic()
    firsts: list[float] = []
    seconds: list[float] = []
    while True:
        if len(firsts) % 2 == 0:
            firsts.append(first())
            seconds.append(second())
        else:
            seconds.append(second())
            firsts.append(first())
        pairs, elapsed = len(firsts), time.monotonic() - began
        if pairs >= MOST_PAIRS or elapsed * (pairs + 1) / pairs > budget_s or (pairs >= ENOUGH_PAIRS and elapsed > _SHORT_S):
            return median(firsts), median(seconds)
