from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "truncated_load"


def inserting(scenario: Scenario, *, leave_out: str = "", where: str = "", money: str = "", verb: str = "INSERT INTO") -> str:
    n = scenario.numbers["names"]
    rules = {
        "verdict": f"s.{n.verdict} = '{n.accepted}'",
        "state": f"l.{n.state} = '{n.posted}'",
        "taken_out": f"NOT EXISTS (SELECT 1 FROM {n.taken_out} x WHERE x.{n.load} = s.{n.load} AND x.{n.line} = s.{n.line})",
        "records": f"NOT EXISTS (SELECT 1 FROM {n.records} x WHERE x.{n.load} = s.{n.load} AND x.{n.line} = s.{n.line})",
    }
    wanted = [rule for name, rule in rules.items() if name not in leave_out] + ([where] if where else [])
    return (
        f"{verb} {n.records} ({n.load}, {n.line}, {n.owner}, {n.kind}, {n.amount}) SELECT s.{n.load}, s.{n.line}, o.{n.owner}, s.{n.kind}, "
        f"{money or f's.{n.cents} / 100.0'} FROM {n.inbox} s JOIN {n.loads} l ON l.{n.load} = s.{n.load} "
        f"JOIN {n.owners} o ON o.{n.label} = s.{n.called} WHERE {' AND '.join(wanted)}"
    )


def refused_ones_too(scenario: Scenario) -> str:
    return inserting(scenario, leave_out="verdict")


def held_ones_too(scenario: Scenario) -> str:
    return inserting(scenario, leave_out="state")


def taken_out_ones_too(scenario: Scenario) -> str:
    return inserting(scenario, leave_out="taken_out")


def in_cents(scenario: Scenario) -> str:
    return inserting(scenario, money=f"s.{scenario.numbers['names'].cents}")


def in_whole_units(scenario: Scenario) -> str:
    return inserting(scenario, money=f"s.{scenario.numbers['names'].cents} / 100")


def by_line_alone(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return inserting(scenario, leave_out="records", where=f"s.{n.line} NOT IN (SELECT {n.line} FROM {n.records})")


def all_again(scenario: Scenario) -> str:
    return f"DELETE FROM {scenario.numbers['names'].records}; {inserting(scenario, leave_out='records')}"


def over_what_is_there(scenario: Scenario) -> str:
    return inserting(scenario, leave_out="records", verb="INSERT OR REPLACE INTO")


def in_order_of_columns(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return (
        inserting(scenario).replace(f"({n.load}, {n.line}, {n.owner}, {n.kind}, {n.amount})", "", 1).replace(" / 100.0", " / 100.0, NULL")
    )


def by_heart(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    truth = trials.content(scenario, "base").truth[0]
    loads = {slot[0][0] for slot in truth.repaired}
    first = min(int(slot[0][1] or 0) for slot in truth.repaired)
    assert len(loads) == 1
    return inserting(scenario, leave_out="records", where=f"s.{n.load} = {loads.pop()} AND s.{n.line} >= {first}")


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert (len(made.rows[n.loads]), len(made.rows[n.inbox])) == (15, 900)
    truth = made.truth[0]
    assert len({slot[0][0] for slot in truth.repaired}) == 1
    assert {int(slot[0][1] or 0) > 24 for slot in truth.repaired} == {True}
    assert 20 <= len(truth.repaired) <= 36
    assert len({slot[0][0] for slot in trials.content(scenario, "shifted").truth[0].repaired}) == 3


@pytest.mark.parametrize(
    "fix",
    [refused_ones_too, held_ones_too, taken_out_ones_too, in_cents, in_whole_units, by_line_alone, all_again, over_what_is_there],
)
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_a_repair_by_the_order_of_columns_fails_where_there_is_one_more() -> None:
    for found in trials.outcomes(KIND, in_order_of_columns, 3):
        assert found == {"base": "perfect", "extra_column": "ineffective", "shifted": "perfect", "hidden_seed": "perfect"}


def test_a_load_and_a_line_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_loads_that_lack_nothing_may_look_as_if_they_did() -> None:
    for scenario in trials.every(KIND):
        made, n = trials.content(scenario, "base"), scenario.numbers["names"]
        arrived = {load: sum(row[0] == load for row in made.rows[n.records]) for load, *_ in made.rows[n.loads]}
        short = {slot[0][0] for slot in made.truth[0].repaired}
        assert min(arrived, key=lambda load: arrived[load]) not in short
