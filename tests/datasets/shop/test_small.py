from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.datasets.shop.small import Dice


def test_draws_are_the_same_on_every_machine() -> None:
    dice = Dice("profile", 7)
    assert [dice.below(100) for _ in range(10)] == [80, 56, 95, 8, 35, 93, 40, 63, 54, 45]


def test_another_key_draws_otherwise() -> None:
    assert [Dice("a", 1).below(10**9)] != [Dice("a", 2).below(10**9)] != [Dice("b", 2).below(10**9)]


@given(st.integers(1, 10**6), st.integers())
def test_a_draw_is_below_its_bound(bound: int, seed: int) -> None:
    dice = Dice(seed)
    assert all(0 <= dice.below(bound) < bound for _ in range(20))


def test_draws_are_spread_evenly() -> None:
    dice = Dice("even")
    counts = Counter(dice.below(10) for _ in range(10_000))
    assert all(850 < counts[value] < 1_150 for value in range(10))


def test_chances_are_percents() -> None:
    dice = Dice("chance")
    assert not any(dice.chance(0) for _ in range(100))
    assert all(dice.chance(100) for _ in range(100))
    assert 2_700 < sum(dice.chance(30) for _ in range(10_000)) < 3_300


@given(st.lists(st.integers()), st.integers())
def test_shuffling_keeps_every_value(values: list[int], seed: int) -> None:
    before = list(values)
    assert Counter(Dice(seed).shuffled(values)) == Counter(values)
    assert values == before


def test_shuffling_moves_values() -> None:
    assert Dice("s").shuffled(range(50)) != list(range(50))


def test_a_pick_is_one_of_the_values() -> None:
    dice = Dice("pick")
    assert {dice.pick("abc") for _ in range(100)} == {"a", "b", "c"}
