from __future__ import annotations

from collections import Counter
from random import Random

from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text


def test_ids_increase_and_leave_gaps() -> None:
    ids = gapped_ids(Random(1), 200, gap=4)
    steps = Counter(b - a for a, b in zip([0, *ids], ids, strict=False))
    assert len(ids) == 200
    assert set(steps) == {1, 2, 3, 4}


def test_a_deal_is_even_and_mixed() -> None:
    values = dealt(Random(1), "abc", 32)
    assert Counter(values) == {"a": 11, "b": 11, "c": 10}
    assert values != sorted(values)
    assert values == dealt(Random(1), "abc", 32)


def test_nothing_can_be_dealt_from_nothing() -> None:
    assert dealt(Random(1), (), 0) == []


def test_a_text_has_the_length_that_was_asked_for() -> None:
    for length in (0, 1, 7, 300):
        assert len(text(Random(length), ("sift", "knead", "prove"), length)) == length
    assert set(text(Random(3), ("sift", "knead"), 200)[:150].split()[:-1]) == {"sift", "knead"}
