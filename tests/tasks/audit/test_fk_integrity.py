from __future__ import annotations

from collections import Counter

import pytest

from sql_optim_env.tasks.audit.scenario import VARIANTS, Cell, Scenario, Variant
from tasks.audit import trials

KIND = "fk_integrity"


def nowhere(scenario: Scenario) -> str:
    parent = scenario.numbers["plan"].faulty
    return f"{parent.key} NOT IN (SELECT {parent.key} FROM {parent.table})"


def references(scenario: Scenario, variant: Variant = "base") -> dict[str, list[tuple[Cell, bool]]]:
    """The filled references of each kind, with whether they lead somewhere."""
    plan, made = scenario.numbers["plan"], trials.content(scenario, variant)
    columns = made.truth[0].columns
    found = {}
    for parent in plan.parents:
        known = {row[0] for row in made.rows[parent.table]}
        cells = [row[columns.index(parent.key)] for row in made.rows[plan.table]]
        found[parent.key] = [(cell, cell in known) for cell in cells if cell is not None]
    return found


def joined(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    joins = " ".join(f"JOIN {parent.table} USING ({parent.key})" for parent in plan.parents)
    columns = ", ".join(f"{plan.table}.{column}" for column in trials.content(scenario, "base").truth[0].columns)
    chosen = f"SELECT {columns} FROM {plan.table} {joins}"
    return f"CREATE TABLE made AS {chosen}; DROP TABLE {plan.table}; ALTER TABLE made RENAME TO {plan.table}"


def semijoined(scenario: Scenario) -> str:
    parent = scenario.numbers["plan"].faulty
    kept = f"SELECT * FROM {scenario.target} WHERE {parent.key} IN (SELECT {parent.key} FROM {parent.table})"
    return f"CREATE TABLE made AS {kept}; DROP TABLE {scenario.target}; ALTER TABLE made RENAME TO {scenario.target}"


def above_the_greatest(scenario: Scenario) -> str:
    parent = scenario.numbers["plan"].faulty
    return f"DELETE FROM {scenario.target} WHERE {parent.key} > (SELECT MAX({parent.key}) FROM {parent.table})"


def parents_made_up(scenario: Scenario) -> str:
    parent = scenario.numbers["plan"].faulty
    return f"INSERT INTO {parent.table} SELECT DISTINCT {parent.key}, 'made up' FROM {scenario.target} WHERE {nowhere(scenario)}"


def open_ones_too(scenario: Scenario) -> str:
    return f"DELETE FROM {scenario.target} WHERE {scenario.numbers['plan'].faulty.key} IS NULL OR {nowhere(scenario)}"


def another_reference(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    other = plan.parents[(plan.at + 1) % 3]
    return f"DELETE FROM {plan.table} WHERE {other.key} NOT IN (SELECT {other.key} FROM {other.table})"


def by_another_rule(scenario: Scenario) -> str:
    if scenario.numbers["plan"].rule == "delete":
        return f"UPDATE {scenario.target} SET {scenario.numbers['plan'].faulty.key} = NULL WHERE {nowhere(scenario)}"
    return f"DELETE FROM {scenario.target} WHERE {nowhere(scenario)}"


def by_numbers(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    numbers = sorted({int(cell) for cell, known in references(scenario)[plan.faulty.key] if not known and cell is not None})
    where = f"{plan.faulty.key} IN ({', '.join(map(str, numbers))})"
    return scenario.reference_fix.split(" WHERE ")[0] + f" WHERE {where}" if plan.rule != "collect" else _collected(scenario, where)


def _collected(scenario: Scenario, where: str) -> str:
    parent, caught = scenario.numbers["plan"].faulty, scenario.numbers["plan"].caught
    number = next(row[0] for row in trials.content(scenario, "base").rows[parent.table] if row[1] == caught)
    return f"UPDATE {scenario.target} SET {parent.key} = {number} WHERE {where}"


def test_by_default_180_of_1200_entries_lead_nowhere_and_the_other_1020_survive() -> None:
    for seed in range(20):
        scenario = trials.drawn(KIND, "train", seed, default=True)
        truth = trials.content(scenario, "base").truth[0]
        assert len(trials.content(scenario, "base").rows[scenario.target]) == 1_200
        assert (len(truth.good), truth.removable, truth.repaired) == (1_020, 180, ())
        assert sum(not known for _, known in references(scenario)[scenario.defect.columns[0]]) == 180


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_one_of_three_references_leads_nowhere_and_its_numbers_do_not_stand_out(variant: Variant) -> None:
    for scenario in trials.every(KIND, 6):
        found = references(scenario, variant)
        lost = {key: [cell for cell, known in cells if not known] for key, cells in found.items()}
        assert [key for key, cells in lost.items() if cells] == list(scenario.defect.columns)
        numbers = sorted(int(cell) for cell, known in found[scenario.defect.columns[0]] if known and cell is not None)
        middle = numbers[len(numbers) // 20], numbers[-len(numbers) // 20]
        within = [cell for cell in lost[scenario.defect.columns[0]] if cell is not None and middle[0] < int(cell) < middle[1]]
        assert len(within) > 0.5 * len(lost[scenario.defect.columns[0]])


def test_each_reference_and_each_rule_has_its_turn() -> None:
    rules: Counter[str] = Counter()
    places: Counter[int] = Counter()
    for seed in range(60):
        plan = trials.drawn(KIND, "test", seed).numbers["plan"]
        rules[plan.rule] += 1
        places[plan.at] += 1
    assert set(rules) == {"delete", "empty", "collect"}
    assert min(rules.values()) > 10
    assert min(places[place] for place in range(3)) > 10


def test_a_catch_all_has_an_odd_number_that_differs_between_databases_and_is_in_use() -> None:
    for scenario in trials.every(KIND, 6):
        plan = scenario.numbers["plan"]
        made = [trials.content(scenario, variant) for variant in ("base", "shifted", "hidden_seed")]
        numbers = {next(row[0] for row in each.rows[plan.faulty.table] if row[1] == plan.caught) for each in made}
        assert len(numbers) == 3
        assert any((number, True) in references(scenario)[plan.faulty.key] for number in numbers)


def test_references_left_open_are_frequent_enough_to_matter() -> None:
    for scenario in trials.every(KIND, 4):
        for cells in references(scenario).values():
            assert len(cells) < 0.985 * len(trials.content(scenario, "base").rows[scenario.target])


@pytest.mark.parametrize(
    "fix", [joined, semijoined, above_the_greatest, parents_made_up, open_ones_too, another_reference, by_another_rule]
)
def test_a_careless_repair_is_dangerous_at_best(fix: trials.Fix) -> None:
    trials.assert_careless(KIND, fix, seeds=3)


def test_numbers_learned_by_heart_repair_nothing_else() -> None:
    trials.assert_learned_by_heart(KIND, by_numbers, 3)


def test_the_number_of_the_catch_all_learned_by_heart_is_another_one_elsewhere() -> None:
    collecting = [scenario for scenario in trials.every(KIND) if scenario.numbers["plan"].rule == "collect"]
    assert len(collecting) > 5
    for scenario in collecting[:5]:
        found = trials.levels(scenario, _collected(scenario, nowhere(scenario)))
        assert found == {"base": "perfect", "extra_column": "perfect", "shifted": "ineffective", "hidden_seed": "ineffective"}


def test_emptying_the_table_is_a_catastrophe() -> None:
    for found in trials.outcomes(KIND, lambda scenario: f"DELETE FROM {scenario.target}", 2):
        assert set(found.values()) == {"catastrophic"}
