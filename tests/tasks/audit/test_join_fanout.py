from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "join_fanout"


def keeping(scenario: Scenario, order: str, *, partition: str = "") -> str:
    n = scenario.numbers["names"]
    each = n.repeated
    return (
        f"DELETE FROM {each.table} WHERE {each.key} NOT IN (SELECT {each.key} FROM (SELECT {each.key}, row_number() OVER "
        f"(PARTITION BY {partition or each.code} ORDER BY {order}) AS place FROM {each.table}) WHERE place = 1)"
    )


def first_key(scenario: Scenario) -> str:
    return keeping(scenario, scenario.numbers["names"].repeated.key)


def last_key(scenario: Scenario) -> str:
    return keeping(scenario, f"{scenario.numbers['names'].repeated.key} DESC")


def by_another_rule(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return keeping(scenario, f"{n.entered} DESC" if scenario.numbers["rule"] != "latest" else f"{n.edition} DESC")


def by_code_and_term(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return keeping(scenario, n.entered, partition=f"{n.repeated.code}, {n.term}")


def all_that_repeat(scenario: Scenario) -> str:
    each = scenario.numbers["names"].repeated
    return f"DELETE FROM {each.table} WHERE {each.code} IN (SELECT {each.code} FROM {each.table} GROUP BY 1 HAVING count(*) > 1)"


def unsigned(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return f"DELETE FROM {n.repeated.table} WHERE {n.signed} IS NULL"


def the_other_list(scenario: Scenario) -> str:
    each = scenario.numbers["names"].by_term
    return f"DELETE FROM {each.table} WHERE {each.key} NOT IN (SELECT min({each.key}) FROM {each.table} GROUP BY {each.code})"


def by_heart(scenario: Scenario) -> str:
    each = scenario.numbers["names"].repeated
    made = trials.content(scenario, "base")
    stays = {row[0] for row in made.truth[0].good}
    gone = ", ".join(str(row[0]) for row in made.rows[each.table] if row[0] not in stays)
    return f"DELETE FROM {each.table} WHERE {each.key} IN ({gone})"


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert [len(made.rows[each.table]) for each in (n.repeated, n.single, n.by_term)] == [100, 100, 100]
    assert len(made.rows[n.records]) == 500
    assert (len(made.truth[0].repaired), len(made.truth[0].good), made.truth[0].removable) == (0, 75, 25)
    assert trials.content(scenario, "shifted").truth[0].removable == 37


@pytest.mark.parametrize("fix", [first_key, last_key, by_another_rule, by_code_and_term, all_that_repeat, unsigned, the_other_list])
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_entries_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_the_answer_names_a_table_and_a_column_of_it() -> None:
    for scenario in trials.every(KIND):
        expected = scenario.expected.asked()
        assert expected == {"root_cause_table": scenario.target, "offending_key": scenario.defect.columns[0]}
        truth = trials.content(scenario, "base").truth[0]
        assert (truth.table, expected["offending_key"] in truth.columns) == (expected["root_cause_table"], True)


def test_every_rule_is_drawn_and_the_list_stands_at_every_place() -> None:
    scenarios = list(trials.every(KIND))
    assert {scenario.numbers["rule"] for scenario in scenarios} == {"latest", "earliest", "edition", "signed"}
    assert {list(trials.content(scenario, "base").rows).index(scenario.target) for scenario in scenarios} == {1, 2, 3}


def test_the_report_is_too_high_before_and_right_after() -> None:
    for scenario in trials.every(KIND, 8):
        n = scenario.numbers["names"]
        joins = "".join(
            f" LEFT JOIN {each.table} x{at} ON x{at}.{each.code} = r.{each.code}" + (f" AND x{at}.{n.term} = r.{n.term}" if at == 1 else "")
            for at, each in enumerate((n.repeated, n.by_term, n.single))
        )
        report, truth = f"SELECT count(*) FROM {n.records} r{joins}", f"SELECT count(*) FROM {n.records}"
        ((records,),) = trials.shown(scenario, truth).rows
        (before,), (after,) = trials.shown(scenario, report).rows[0], trials.shown(scenario, report, scenario.reference_fix).rows[0]
        assert int(before or 0) > int(records or 0) == after
