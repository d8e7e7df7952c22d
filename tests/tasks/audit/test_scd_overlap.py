from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "scd_overlap"


FAR = "9999-12-31"


def followed(scenario: Scenario, partition: str, order: str) -> str:
    n = scenario.numbers["names"]
    return f"SELECT {n.version} AS id, lead({n.begins}) OVER (PARTITION BY {partition} ORDER BY {order}) AS follower FROM {n.history}"


def closing(scenario: Scenario, *, partition: str = "", order: str = "", days: int | None = None, late: str = "") -> str:
    n, custom = scenario.numbers["names"], scenario.numbers["custom"]
    compare = ">=" if custom.inclusive else ">"
    late = late or f"ifnull({n.history}.{n.ends}, '{FAR}') {compare} f.follower"
    before = int(custom.inclusive) if days is None else days
    source = followed(scenario, partition or f"{n.owner}, {n.aspect}", order or n.begins)
    return (
        f"UPDATE {n.history} SET {n.ends} = date(f.follower, '-{before} day') FROM ({source}) f "
        f"WHERE f.id = {n.history}.{n.version} AND f.follower IS NOT NULL AND {late}"
    )


def open_ones_only(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return closing(scenario, late=f"ifnull({n.history}.{n.ends}, '{FAR}') = '{FAR}'")


def dated_ones_only(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return closing(scenario, late=f"{n.history}.{n.ends} >= f.follower AND {n.history}.{n.ends} < '{FAR}'")


def gaps_too(scenario: Scenario) -> str:
    return closing(scenario, late="1")


def one_history_an_owner(scenario: Scenario) -> str:
    return closing(scenario, partition=scenario.numbers["names"].owner)


def in_order_of_keys(scenario: Scenario) -> str:
    return closing(scenario, order=scenario.numbers["names"].version)


def a_day_off(scenario: Scenario) -> str:
    return closing(scenario, days=0 if scenario.numbers["custom"].inclusive else 1)


def overlapping_ones_away(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    source = followed(scenario, f"{n.owner}, {n.aspect}", n.begins)
    return (
        f"DELETE FROM {n.history} WHERE EXISTS (SELECT 1 FROM ({source}) f WHERE f.id = {n.history}.{n.version} "
        f"AND ifnull({n.history}.{n.ends}, '{FAR}') > f.follower)"
    )


def by_heart(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    truth = trials.content(scenario, "base").truth[0]
    key, ends = truth.columns.index(n.version), truth.columns.index(n.ends)
    cases = " ".join(f"WHEN {slot[0][key]} THEN '{slot[0][ends]}'" for slot in truth.repaired)
    ids = ", ".join(str(slot[0][key]) for slot in truth.repaired)
    return f"UPDATE {n.history} SET {n.ends} = CASE {n.version} {cases} END WHERE {n.version} IN ({ids})"


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert (len(made.rows[n.owners]), len(made.rows[n.history]), len(made.rows[n.records])) == (50, 400, 300)
    assert (len(made.truth[0].repaired), len(made.truth[0].good), made.truth[0].removable) == (60, 340, 0)


@pytest.mark.parametrize(
    "fix", [open_ones_only, dated_ones_only, gaps_too, one_history_an_owner, in_order_of_keys, a_day_off, overlapping_ones_away]
)
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_ends_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_every_custom_is_drawn() -> None:
    customs = {(scenario.numbers["custom"].inclusive, scenario.numbers["custom"].open_end) for scenario in trials.every(KIND)}
    assert customs == {(inclusive, end) for inclusive in (True, False) for end in (None, FAR)}


def test_some_ends_are_late_by_one_day_some_open_and_some_gaps_are_right() -> None:
    for scenario in trials.every(KIND, 8):
        n, custom = scenario.numbers["names"], scenario.numbers["custom"]
        source = followed(scenario, f"{n.owner}, {n.aspect}", n.begins)
        end = f"ifnull(h.{n.ends}, '{FAR}')"
        found = trials.shown(
            scenario,
            f"SELECT count(*) FILTER (WHERE {end} = date(f.follower, '{0 if custom.inclusive else 1} day')), "
            f"count(*) FILTER (WHERE {end} = '{FAR}'), count(*) FILTER (WHERE {end} < date(f.follower, '-1 day')) "
            f"FROM {n.history} h JOIN ({source}) f ON f.id = h.{n.version} WHERE f.follower IS NOT NULL",
        )
        assert all(int(count or 0) >= 3 for count in found.rows[0])
