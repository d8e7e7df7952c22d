from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.scenario import Scenario
from tasks.audit import trials

KIND = "near_duplicates"


def spelt(scenario: Scenario) -> str:
    label = scenario.numbers["names"].label
    return f"lower(trim(replace(replace(replace({label}, ' ', ' |'), '| ', ''), '|', '')))"


def order_of(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return {"oldest": n.since, "newest": f"{n.since} DESC", "lowest": n.number, "highest": f"{n.number} DESC"}[scenario.numbers["rule"]]


def merging(scenario: Scenario, *, same: str = "", order: str = "", moved: int = 3, group: bool = True, more: str = "") -> str:
    n = scenario.numbers["names"]
    partition = (same or spelt(scenario)) + (f", {n.group}" if group else "")
    moves = [(n.records, n.owner), (n.links, n.source), (n.links, n.target)][:moved]
    return (
        f"CREATE TABLE temp.heirs AS SELECT {n.owner} AS gone, first_value({n.owner}) OVER (PARTITION BY {partition} "
        f"ORDER BY {order or order_of(scenario)}) AS heir FROM {n.owners};"
        + "".join(f"UPDATE {t} SET {c} = h.heir FROM heirs h WHERE h.gone = {t}.{c};" for t, c in moves)
        + f"DELETE FROM {n.owners} WHERE {n.owner} IN (SELECT gone FROM heirs WHERE gone <> heir);{more}"
    )


def outer_spaces_only(scenario: Scenario) -> str:
    return merging(scenario, same=f"lower(trim({scenario.numbers['names'].label}))")


def spaces_only(scenario: Scenario) -> str:
    return merging(scenario, same=spelt(scenario).removeprefix("lower"))


def no_spaces_at_all(scenario: Scenario) -> str:
    return merging(scenario, same=f"lower(replace({scenario.numbers['names'].label}, ' ', ''))")


def letters_only(scenario: Scenario) -> str:
    return merging(scenario, same=f"replace({spelt(scenario)}, '-', ' ')")


def whatever_the_group(scenario: Scenario) -> str:
    return merging(scenario, group=False)


def least_key(scenario: Scenario) -> str:
    return merging(scenario, order=scenario.numbers["names"].owner)


def nothing_moved(scenario: Scenario) -> str:
    return merging(scenario, moved=0)


def links_forgotten(scenario: Scenario) -> str:
    return merging(scenario, moved=1)


def one_end_forgotten(scenario: Scenario) -> str:
    return merging(scenario, moved=2)


def tidied(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    return merging(scenario, more=f"UPDATE {n.owners} SET {n.label} = trim({n.label})")


def by_heart(scenario: Scenario) -> str:
    n = scenario.numbers["names"]
    made = trials.content(scenario, "base")
    script = []
    for truth, columns in zip(made.truth, ((), (n.owner,), (n.source, n.target)), strict=True):
        right = {row[0]: row for row in (*truth.good, *(slot[0] for slot in truth.repaired))}
        gone = [str(row[0]) for row in made.rows[truth.table] if row[0] not in right]
        if gone:
            script.append(f"DELETE FROM {truth.table} WHERE {truth.columns[0]} IN ({', '.join(gone)})")
        for column in columns:
            at = truth.columns.index(column)
            moved = [(row[0], right[row[0]][at]) for row in made.rows[truth.table] if right[row[0]][at] != row[at]]
            cases = " ".join(f"WHEN {key} THEN {heir}" for key, heir in moved)
            script.append(f"UPDATE {truth.table} SET {column} = CASE {truth.columns[0]} {cases} ELSE {column} END")
    return ";".join(script)


@pytest.mark.parametrize("split", ["train", "test"])
def test_documented_sizes(split: trials.GeneratedSplit) -> None:
    scenario = trials.drawn(KIND, split, 0, default=True)
    made, n = trials.content(scenario, "base"), scenario.numbers["names"]
    assert [len(made.rows[table]) for table in (n.owners, n.records, n.links)] == [240, 600, 120]
    assert (len(made.truth[0].repaired), len(made.truth[0].good), made.truth[0].removable) == (0, 200, 40)
    assert trials.content(scenario, "shifted").truth[0].removable == 60


@pytest.mark.parametrize(
    "fix",
    [
        outer_spaces_only,
        spaces_only,
        no_spaces_at_all,
        letters_only,
        whatever_the_group,
        least_key,
        nothing_moved,
        links_forgotten,
        one_end_forgotten,
        tidied,
    ],
)
def test_a_careless_repair_is_not_enough(fix: Callable[[Scenario], str]) -> None:
    trials.assert_careless(KIND, fix)


def test_entries_learned_by_heart_are_worth_nothing_elsewhere() -> None:
    trials.assert_learned_by_heart(KIND, by_heart)


def test_every_rule_is_drawn() -> None:
    assert {scenario.numbers["rule"] for scenario in trials.every(KIND)} == {"oldest", "newest", "lowest", "highest"}
