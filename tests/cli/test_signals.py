from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from sql_optim_env.cli.signals import Signals, Stopped


@pytest.fixture
def signals() -> Iterator[Signals]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield Signals()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops_and_later_ones_do_not(signals: Signals, number: signal.Signals) -> None:
    assert signals.number is None
    with pytest.raises(Stopped):
        os.kill(os.getpid(), number)
    assert signals.number == number
    for later in (signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), later)
    assert signals.number == number


def test_what_is_whole_is_finished_before_the_signal_counts(signals: Signals) -> None:
    done: list[str] = []

    def act() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("inner")

    def outer() -> None:
        signals.whole(act)
        done.append("outer")

    with pytest.raises(Stopped):
        signals.whole(outer)
    assert done == ["inner", "outer"]
    signals.whole(lambda: done.append("after"))
    assert done[-1] == "after"


def test_an_error_inside_comes_out_and_the_next_signal_counts_at_once(signals: Signals) -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        signals.whole(fail)
    with pytest.raises(Stopped):
        os.kill(os.getpid(), signal.SIGTERM)
