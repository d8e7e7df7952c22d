from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.engines.sqlite import Capture, compare
from sql_optim_env.engines.sqlite.equality import MAX_VALUE_LENGTH

CORPUS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "equality.yaml").read_text(encoding="utf-8"))

VALUES = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.sampled_from([-1.0, -0.0, 0.0, 1.0, 2.5, float("inf")]),
    st.sampled_from(["", "0", "1", "a"]),
    st.sampled_from([b"", b"0", b"1", b"a"]),
)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=8)


def sql_of(text: str) -> str:
    """``VALUES_ 1 | 2`` is a one-column result of two rows."""
    if text.startswith("VALUES_"):
        return " UNION ALL ".join(f"SELECT {value} AS a" for value in text.removeprefix("VALUES_").split("|"))
    return text


def key(value: Any) -> tuple[str, str]:
    """A spelling that two values share exactly when they are equal."""
    return (type(value).__name__, repr(value + 0.0 if isinstance(value, float) else value))


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["name"])
def test_verdicts(capture_of: Callable[[str], Capture], case: dict[str, Any]) -> None:
    difference = compare(capture_of(sql_of(case["expected"])), capture_of(sql_of(case["submitted"])))
    assert difference.kind == case["verdict"]
    assert difference.equal is (case["verdict"] == "equal")
    assert case.get("says", "") in difference.message
    if "differing" in case:
        assert [difference.missing_count, difference.extra_count] == case["differing"]
    assert bool(difference.message) is not difference.equal


@given(ROWS, ROWS)
def test_the_verdict_is_that_of_sorted_spellings(expected: list[tuple[Any, Any]], submitted: list[tuple[Any, Any]]) -> None:
    difference = compare(Capture(("a", "b"), tuple(expected)), Capture(("a", "b"), tuple(submitted)))
    right = sorted(tuple(map(key, row)) for row in expected)
    found = sorted(tuple(map(key, row)) for row in submitted)
    assert difference.equal is (right == found)
    assert difference.missing_count - difference.extra_count == len(expected) - len(submitted)


@given(ROWS, st.randoms(use_true_random=False))
def test_order_never_counts(rows: list[tuple[Any, Any]], rng: Any) -> None:
    shuffled = rows.copy()
    rng.shuffle(shuffled)
    assert compare(Capture(("a", "b"), tuple(rows)), Capture(("A", "B"), tuple(shuffled))).equal


@given(ROWS.filter(bool), VALUES)
def test_a_row_more_is_never_equal(rows: list[tuple[Any, Any]], value: Any) -> None:
    difference = compare(Capture(("a", "b"), tuple(rows)), Capture(("a", "b"), (*rows, (value, rows[0][1]))))
    assert (difference.missing_count, difference.extra_count) == (0, 1)


@given(ROWS, ROWS)
def test_counts_agree_from_both_sides(left: list[tuple[Any, Any]], right: list[tuple[Any, Any]]) -> None:
    forth = compare(Capture(("a", "b"), tuple(left)), Capture(("a", "b"), tuple(right)))
    back = compare(Capture(("a", "b"), tuple(right)), Capture(("a", "b"), tuple(left)))
    assert (forth.missing_count, forth.extra_count) == (back.extra_count, back.missing_count)
    assert forth.kind == back.kind


def test_examples_are_few_and_short_and_typed() -> None:
    expected = Capture(("a", "b"), tuple((n, None) for n in range(10)))
    submitted = Capture(("a", "b"), (("x" * 500, b"\x00\xff"), (2.0, "NULL")))
    difference = compare(expected, submitted, examples=3)
    assert difference.missing == (("0", "NULL"), ("1", "NULL"), ("2", "NULL"))
    assert difference.extra[1] == ("x" * (MAX_VALUE_LENGTH - 1) + "…", "x'00ff'")
    assert difference.extra[0] == ("2.0", "NULL")


def test_without_examples_only_counts_are_told() -> None:
    difference = compare(Capture(("a",), ((1,), (2,))), Capture(("a",), ((1,), (3,))), examples=0)
    assert (difference.missing, difference.extra) == ((), ())
    assert difference.message == "1 row is missing and 1 row is extra."
