from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from sql_optim_env.sandbox.timing import ENOUGH_PAIRS, MOST_PAIRS, paired_cpu_ms


class Runs:
    """Two scripted statements; remembers the order in which they ran."""

    def __init__(self, first: Iterator[float], second: Iterator[float], seconds: float = 0.0) -> None:
        self.order = ""
        self._readings = {"A": first, "B": second}
        self._seconds = seconds

    def run(self, name: str) -> Callable[[], float]:
        def once() -> float:
            self.order += name
            time.sleep(self._seconds)
            return next(self._readings[name])

        return once


def constant(value: float) -> Iterator[float]:
    while True:
        yield value


def test_the_two_take_turns_and_neither_always_goes_first() -> None:
    runs = Runs(constant(1.0), constant(2.0))
    assert paired_cpu_ms(runs.run("A"), runs.run("B"), budget_s=10.0) == (1.0, 2.0)
    assert runs.order == ("ABBA" * MOST_PAIRS)[: 2 * MOST_PAIRS]


def test_medians_are_reported_so_that_one_disturbance_does_not_count() -> None:
    runs = Runs(iter([5.0, 5.0, 900.0] + [5.0] * 20), iter([2.0] * 4 + [700.0] + [2.0] * 20))
    assert paired_cpu_ms(runs.run("A"), runs.run("B"), budget_s=10.0) == (5.0, 2.0)


def test_runs_that_are_not_short_get_five_pairs() -> None:
    runs = Runs(constant(1.0), constant(1.0), seconds=0.03)
    paired_cpu_ms(runs.run("A"), runs.run("B"), budget_s=10.0)
    assert len(runs.order) == 2 * ENOUGH_PAIRS


@pytest.mark.parametrize(("budget_s", "most_pairs"), [(0.0, 1), (0.25, 2)])
def test_no_pair_is_begun_that_would_probably_end_beyond_the_budget(budget_s: float, most_pairs: int) -> None:
    runs = Runs(constant(1.0), constant(1.0), seconds=0.05)
    paired_cpu_ms(runs.run("A"), runs.run("B"), budget_s=budget_s)
    assert 1 <= len(runs.order) // 2 <= most_pairs
