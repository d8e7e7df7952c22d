from __future__ import annotations

import json

from sql_optim_env.families.showing import MAX_ROWS_BYTES, MAX_VALUE, clip, fit_rows


def test_a_short_text_is_shown_as_it_is() -> None:
    assert clip("plan", 4) == "plan"


def test_a_long_text_is_cut_and_says_how_much_is_left_out() -> None:
    assert clip("x" * 1_010, 10) == "x" * 10 + "… [1,000 characters left out]"


def test_rows_that_fit_are_all_shown() -> None:
    assert fit_rows([(1, "a", None), (2.5, "b", True)]) == ([[1, "a", None], [2.5, "b", True]], False)


def test_wide_rows_are_left_out_once_the_room_is_used_up() -> None:
    shown, left_out = fit_rows([tuple("v" * 900 for _ in range(20)) for _ in range(50)])
    assert left_out
    assert 0 < len(shown) < 50
    assert len(json.dumps(shown)) <= MAX_ROWS_BYTES


def test_long_values_are_clipped() -> None:
    (row,), left_out = fit_rows([("v" * 5_000,)])
    assert row[0] == clip("v" * 5_000, MAX_VALUE)
    assert not left_out
