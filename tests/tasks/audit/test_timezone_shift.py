from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "timezone_shift"


def joined(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return (
        f"{n.records} r JOIN {n.confirmations} c ON c.{n.record} = r.{n.record} JOIN {n.loads} l ON l.{n.load} = r.{n.load} "
        f"JOIN {n.feeds} f ON f.{n.feed} = l.{n.feed}"
    )


def lag(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return f"(strftime('%s', c.{n.confirmed}) - strftime('%s', r.{n.stamp}))"


def whole_feed(scenario: Scenario) -> str:
    n, seconds = scenario.numbers["names"], lag(scenario)
    return (
        f"UPDATE {n.records} SET {n.stamp} = datetime({n.stamp}, o.s || ' seconds') FROM (SELECT f.{n.feed} AS id, "
        f"(SELECT max(900 * CAST(round({seconds} / 900.0) AS INTEGER)) + min(900 * CAST(round({seconds} / 900.0) AS INTEGER)) "
        f"FROM {joined(scenario).replace(f'{n.feeds} f', f'{n.feeds} g').replace('f.', 'g.')} WHERE c.{n.attempt} = 1 "
        f"AND g.{n.feed} = f.{n.feed}) AS s FROM {n.feeds} f WHERE f.{n.delivery} = '{n.direct}') o "
        f"WHERE {n.records}.{n.load} IN (SELECT {n.load} FROM {n.loads} WHERE {n.feed} = o.id)"
    )


def confirmed_rows_only(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return (
        f"UPDATE {n.records} SET {n.stamp} = datetime({n.stamp}, o.s || ' seconds') FROM (SELECT r.{n.record} AS id, "
        f"900 * CAST(round({lag(scenario)} / 900.0) AS INTEGER) AS s FROM {joined(scenario)} "
        f"WHERE c.{n.attempt} = 1 AND f.{n.delivery} = '{n.direct}') o WHERE o.id = {n.records}.{n.record}"
    )


def per_load(scenario: Scenario, where: str) -> str:
    n = scenario.numbers["names"]
    return (
        f"UPDATE {n.records} SET {n.stamp} = datetime({n.stamp}, o.s || ' seconds') FROM (SELECT r.{n.load} AS id, "
        f"900 * CAST(round(avg({lag(scenario)}) / 900.0) AS INTEGER) AS s FROM {joined(scenario)} WHERE {where} GROUP BY 1) o "
        f"WHERE o.id = {n.records}.{n.load}"
    )


def all_feeds(scenario: Scenario) -> str:
    return per_load(scenario, f"c.{scenario.numbers['names'].attempt} = 1")


def all_attempts(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return per_load(scenario, f"f.{n.delivery} = '{n.direct}'")


def time_of_confirmation(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return (
        f"UPDATE {n.records} SET {n.stamp} = c.{n.confirmed} FROM {n.confirmations} c WHERE c.{n.record} = {n.records}.{n.record} "
        f"AND c.{n.attempt} = 1"
    )


def by_heart(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    found = trials.shown(
        scenario,
        f"SELECT r.{n.load}, CAST(round(avg({lag(scenario)}) / 900.0) AS INTEGER) FROM {joined(scenario)} WHERE c.{n.attempt} = 1 "
        f"AND f.{n.delivery} = '{n.direct}' GROUP BY 1 HAVING abs(avg({lag(scenario)})) > 450",
    )
    ids = ", ".join(str(row[0]) for row in found.rows)
    assert len({row[1] for row in found.rows}) == 1
    return f"UPDATE {n.records} SET {n.stamp} = datetime({n.stamp}, '{15 * int(found.rows[0][1] or 0)} minutes') WHERE {n.load} IN ({ids})"


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert (len(made.rows[n.records]), len(made.rows[n.loads]), len(made.rows[n.feeds])) == (720, 60, 6)
    assert (len(made.truth[0].repaired), len(made.truth[0].good), made.truth[0].removable) == (60, 660, 0)
    assert len(trials.content(scenario, "shifted").rows[n.feeds]) == 8


@pytest.mark.parametrize("fix", [whole_feed, confirmed_rows_only, all_feeds, all_attempts, time_of_confirmation])
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_offset_and_loads_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_loads_that_are_off_are_neither_the_first_nor_the_last_of_their_feed() -> None:
    for scenario in trials.every(KIND):
        n = scenario.numbers["names"]
        made = trials.content(scenario, "base")
        records = {slot[0][0] for slot in made.truth[0].repaired}
        off = {row[2] for row in made.rows[n.records] if row[0] in records}
        feed_of = {row[0]: row[1] for row in made.rows[n.loads]}
        (feed,) = {feed_of[load] for load in off}
        own = [load for load, of in feed_of.items() if of == feed]
        assert off == set(own[own.index(min(off)) : own.index(max(off)) + 1])
        assert not off & {own[0], own[-1]}
