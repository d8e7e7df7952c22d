from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "unit_mixup"


def ratios(scenario: Scenario, by: str) -> str:
    n = scenario.numbers["names"]
    return (
        f"SELECT p.{by} AS held, sum(t.summed) / sum(p.{n.total}) AS ratio FROM {n.sheets} p JOIN (SELECT {n.sheet}, sum({n.measure}) "
        f"AS summed FROM {n.items} GROUP BY 1) t ON t.{n.sheet} = p.{n.sheet} WHERE p.{n.total} IS NOT NULL GROUP BY p.{by}"
    )


def small_unit_only(scenario: Scenario) -> str:
    n, worth = scenario.numbers["names"], scenario.numbers["quantity"].small_worth
    return (
        f"UPDATE {n.items} SET {n.measure} = round({n.measure} * {worth}, 3) WHERE {n.sheet} IN (SELECT {n.sheet} FROM {n.sheets} "
        f"WHERE {n.device} IN (SELECT held FROM ({ratios(scenario, n.device)}) WHERE ratio > 20))"
    )


def summed_sheets_only(scenario: Scenario) -> str:
    n, q = scenario.numbers["names"], scenario.numbers["quantity"]
    return (
        f"UPDATE {n.items} SET {n.measure} = round({n.measure} * "
        f"CASE WHEN o.ratio > 20 THEN {q.small_worth} ELSE {q.foreign_worth} END, 3) "
        f"FROM ({ratios(scenario, n.sheet)}) o WHERE o.held = {n.items}.{n.sheet} AND o.ratio NOT BETWEEN 0.9 AND 1.1"
    )


def scaled_to_the_sums(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return (
        f"UPDATE {n.items} SET {n.measure} = round({n.measure} / o.ratio, 3) FROM ({ratios(scenario, n.device)}) o "
        f"JOIN {n.sheets} p ON p.{n.device} = o.held WHERE p.{n.sheet} = {n.items}.{n.sheet} AND o.ratio NOT BETWEEN 0.9 AND 1.1"
    )


def large_values(scenario: Scenario) -> str:
    n, worth = scenario.numbers["names"], scenario.numbers["quantity"].small_worth
    return f"UPDATE {n.items} SET {n.measure} = {n.measure} * {worth} WHERE {n.measure} > 300"


def large_devices(scenario: Scenario) -> str:
    n, worth = scenario.numbers["names"], scenario.numbers["quantity"].small_worth
    return (
        f"UPDATE {n.items} SET {n.measure} = {n.measure} * {worth} WHERE {n.sheet} IN (SELECT {n.sheet} FROM {n.sheets} WHERE {n.device} = "
        f"(SELECT p.{n.device} FROM {n.items} i JOIN {n.sheets} p ON p.{n.sheet} = i.{n.sheet} GROUP BY 1 "
        f"ORDER BY avg(i.{n.measure}) DESC LIMIT 1))"
    )


def by_heart(scenario: Scenario) -> str:
    n, q = scenario.numbers["names"], scenario.numbers["quantity"]
    found = trials.shown(scenario, f"SELECT * FROM ({ratios(scenario, n.device)}) WHERE ratio NOT BETWEEN 0.9 AND 1.1")
    assert found.row_count == 2
    return ";".join(
        f"UPDATE {n.items} SET {n.measure} = round({n.measure} * {q.small_worth if float(ratio or 0) > 20 else q.foreign_worth}, 3) "
        f"WHERE {n.sheet} IN (SELECT {n.sheet} FROM {n.sheets} WHERE {n.device} = {device})"
        for device, ratio in found.rows
    )


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert (len(made.rows[n.devices]), len(made.rows[n.sheets]), len(made.rows[n.items])) == (12, 96, 768)
    assert (len(made.truth[0].repaired), len(made.truth[0].good), made.truth[0].removable) == (128, 640, 0)
    assert len(trials.content(scenario, "shifted").rows[n.devices]) == 14


@pytest.mark.parametrize("fix", [small_unit_only, summed_sheets_only, scaled_to_the_sums, large_values, large_devices])
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_devices_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_every_device_has_sheets_with_a_sum_and_some_have_sheets_without() -> None:
    for scenario in trials.every(KIND):
        sheets = trials.content(scenario, "base").rows[scenario.numbers["names"].sheets]
        devices = {row[1] for row in sheets}
        assert {row[1] for row in sheets if row[3] is not None} == devices
        assert len({row[1] for row in sheets if row[3] is None}) > len(devices) // 2
