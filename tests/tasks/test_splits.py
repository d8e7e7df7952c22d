from __future__ import annotations

from collections import Counter

import pytest

from sql_optim_env.tasks.splits import SPLITS, position_of_seed


def test_there_are_two_splits() -> None:
    assert SPLITS == ("train", "test")


def test_a_seed_has_the_same_position_everywhere() -> None:
    assert [position_of_seed(seed, 7) for seed in (-1, 0, 1, 2, 42, 10**30)] == [4, 3, 2, 3, 2, 0]


def test_positions_are_uniform_over_seeds() -> None:
    counts = Counter(position_of_seed(seed, 7) for seed in range(7_000))
    assert sorted(counts) == list(range(7))
    assert all(850 < count < 1_150 for count in counts.values())


def test_nothing_can_be_drawn_from_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        position_of_seed(1, 0)
