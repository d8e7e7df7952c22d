from __future__ import annotations

import apsw

from sql_optim_env.engines.sqlite.functions import ALLOWED_FUNCTIONS, DATE_FUNCTIONS, REFUSED_FUNCTIONS, refusal_reason


def test_every_function_of_the_engine_stands_on_exactly_one_side() -> None:
    names = {str(row[0]) for row in apsw.Connection(":memory:").execute("SELECT name FROM pragma_function_list")}
    assert len(names) > 150
    assert names == ALLOWED_FUNCTIONS | REFUSED_FUNCTIONS
    assert not ALLOWED_FUNCTIONS & REFUSED_FUNCTIONS
    assert DATE_FUNCTIONS < ALLOWED_FUNCTIONS


def test_functions_that_the_engine_calls_unpredictable_are_refused_or_watched_by_the_clock() -> None:
    deterministic = 0x800
    rows = apsw.Connection(":memory:").execute("SELECT name, flags FROM pragma_function_list WHERE builtin AND type = 's'")
    changing = {str(name) for name, flags in rows if not int(flags) & deterministic}
    assert {"random", "changes"} <= changing
    assert not changing & ALLOWED_FUNCTIONS - DATE_FUNCTIONS


def test_each_reason_is_a_clause() -> None:
    reasons = {refusal_reason(name) for name in REFUSED_FUNCTIONS}
    assert len(reasons) == 3
    assert refusal_reason("nosuch") not in reasons
