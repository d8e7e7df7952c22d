from __future__ import annotations

from sql_optim_env.engines.duckdb.cost.guard import GUARD_FACTOR, GUARD_SLACK_MS, guard


def test_the_line_is_five_times_the_cost_plus_ten_milliseconds() -> None:
    assert (GUARD_FACTOR, GUARD_SLACK_MS) == (5.0, 10.0)
    assert not guard(60.0, 10_000_000)
    assert guard(60.001, 10_000_000)


def test_a_cheap_statement_still_has_its_slack() -> None:
    assert not guard(9.9, 30_000)
    assert guard(10.2, 30_000)
