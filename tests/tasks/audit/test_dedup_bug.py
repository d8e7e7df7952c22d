from __future__ import annotations

from collections import Counter

import pytest

from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario, Variant
from tasks.audit import trials

KIND = "dedup_bug"


def one_of_each(scenario: Scenario, *columns: str) -> str:
    table = scenario.target
    return f"DELETE FROM {table} WHERE rowid NOT IN (SELECT MIN(rowid) FROM {table} GROUP BY {', '.join(columns)})"


def by_the_key(scenario: Scenario) -> str:
    return one_of_each(scenario, scenario.expected.offending_key)


def by_what_it_belongs_to(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    return one_of_each(scenario, {"owners": plan.label, "records": plan.owners.key, "postings": plan.records.key}[plan.faulty])


def by_all_but_the_key(scenario: Scenario) -> str:
    key = scenario.expected.offending_key
    return one_of_each(scenario, *(column for column in trials.content(scenario, "base").truth[0].columns if column != key))


def the_later_half(scenario: Scenario) -> str:
    return f"DELETE FROM {scenario.target} WHERE rowid > (SELECT COUNT(*) / 2 FROM {scenario.target})"


def everything_that_is_doubled(scenario: Scenario) -> str:
    table, key = scenario.target, scenario.expected.offending_key
    return f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} GROUP BY 1 HAVING COUNT(*) > 1)"


def distinct_rows(scenario: Scenario) -> str:
    table = scenario.target
    return f"CREATE TABLE made AS SELECT DISTINCT * FROM {table}; DROP TABLE {table}; ALTER TABLE made RENAME TO {table}"


def rebuilt(scenario: Scenario) -> str:
    table, columns = scenario.target, ", ".join(trials.content(scenario, "base").truth[0].columns)
    chosen = f"SELECT {columns} FROM {table} GROUP BY {scenario.expected.offending_key}"
    return f"CREATE TABLE made AS {chosen}; DROP TABLE {table}; ALTER TABLE made RENAME TO {table}"


def by_row_numbers(scenario: Scenario) -> str:
    made = trials.content(scenario, "base")
    left, ids = Counter(made.truth[0].good), []
    for at, row in enumerate(made.rows[scenario.target], start=1):
        if not left[row]:
            ids.append(str(at))
        left[row] -= 1
    return f"DELETE FROM {scenario.target} WHERE rowid IN ({', '.join(ids)})"


def test_by_default_320_rows_hold_160_things_twice_each_and_the_rows_are_the_same_but_for_nothing() -> None:
    for seed in range(20):
        scenario = trials.drawn(KIND, "train", seed, default=True)
        made = trials.content(scenario, "base")
        rows = made.rows[scenario.target]
        key = made.truth[0].columns.index(scenario.expected.offending_key)
        assert len(rows) == 320
        assert set(Counter(rows).values()) == {2}
        assert len({row[key] for row in rows}) == 160
        assert (len(made.truth[0].good), made.truth[0].removable) == (160, 160)


def test_each_of_the_three_tables_may_be_the_one_and_all_are_named_alike() -> None:
    faulty: Counter[str] = Counter()
    for seed in range(60):
        scenario = trials.drawn(KIND, "train", seed)
        plan = scenario.numbers["plan"]
        faulty[plan.faulty] += 1
        tables = [plan.of(place).table for place in ("owners", "records", "postings")]
        assert scenario.target == scenario.expected.root_cause_table
        assert all(f"`{table}`" in scenario.description for table in tables)
        assert scenario.expected.offending_key not in scenario.description
    assert min(faulty.values()) > 10


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_other_table_holds_a_number_twice(variant: Variant) -> None:
    for scenario in trials.every(KIND, 8):
        plan = scenario.numbers["plan"]
        made = trials.content(scenario, variant)
        columns = {truth.table: truth.columns for truth in made.truth}
        doubled = []
        for place in ("owners", "records", "postings"):
            part = plan.of(place)
            keys = [row[columns[part.table].index(part.key)] for row in made.rows[part.table]]
            doubled += [part.table] if len(set(keys)) < len(keys) else []
        assert doubled == [scenario.target]


def test_rows_that_agree_in_all_but_their_number_are_things_of_their_own() -> None:
    for scenario in trials.every(KIND, 8):
        truth = trials.content(scenario, "base").truth[0]
        key = truth.columns.index(scenario.expected.offending_key)
        alike = Counter((*row[:key], *row[key + 1 :]) for row in truth.good)
        assert alike.most_common(1)[0][1] > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_log_tells_the_truth(variant: Variant) -> None:
    for scenario in trials.every(KIND, 6):
        plan = scenario.numbers["plan"]
        made = trials.content(scenario, variant)
        columns = {truth.table: truth.columns for truth in made.truth}
        taken: Counter[tuple[object, object]] = Counter()
        runs: Counter[tuple[object, object]] = Counter()
        for table, batch, _, lines, _ in made.rows[plan.log]:
            assert isinstance(lines, int)
            taken[table, batch] += lines
            runs[table, batch] += lines > 0
        held = Counter((table, row[columns[table].index(plan.batch)]) for table in columns if table != plan.log for row in made.rows[table])
        assert held == +taken
        assert {table for (table, _), count in runs.items() if count > 1} == {scenario.target}


def test_of_rows_that_tell_their_day_the_first_stays() -> None:
    stamped = [scenario for scenario in trials.every(KIND) if scenario.numbers["plan"].stamped]
    assert 5 < len(stamped) < 2 * trials.SEEDS - 10
    for scenario in stamped[:8]:
        assert "earliest day" in scenario.description
        made = trials.content(scenario, "shifted")
        columns = made.truth[0].columns
        key, day = columns.index(scenario.expected.offending_key), columns.index(scenario.numbers["plan"].loaded_on)
        first: dict[object, str] = {}
        for row in made.rows[scenario.target]:
            first[row[key]] = min(first.get(row[key], "9"), str(row[day]))
        assert {row[key]: row[day] for row in made.truth[0].good} == first
        assert trials.level(scenario, by_the_key(scenario), "base") in ("dangerous", "ineffective")
        assert trials.level(scenario, distinct_rows(scenario), "base") == "ineffective"


def test_of_rows_without_a_day_any_one_may_stay() -> None:
    for scenario in [scenario for scenario in trials.every(KIND, 8) if not scenario.numbers["plan"].stamped][:6]:
        assert trials.levels(scenario, by_the_key(scenario)) == trials.WHOLE
        assert trials.levels(scenario, distinct_rows(scenario)) == trials.WHOLE


@pytest.mark.parametrize("fix", [by_what_it_belongs_to, by_all_but_the_key, the_later_half, everything_that_is_doubled])
def test_a_careless_repair_is_dangerous_at_best(fix: trials.Fix) -> None:
    trials.assert_careless(KIND, fix, seeds=6)


def test_a_table_that_is_rebuilt_from_the_columns_that_were_seen_loses_the_one_that_was_not() -> None:
    for found in trials.outcomes(KIND, rebuilt, 4):
        assert found["extra_column"] == "catastrophic"


def test_row_numbers_learned_by_heart_repair_nothing_else() -> None:
    trials.assert_learned_by_heart(KIND, by_row_numbers, 4)


def test_emptying_the_table_is_a_catastrophe() -> None:
    for found in trials.outcomes(KIND, lambda scenario: f"DELETE FROM {scenario.target}", 2):
        assert set(found.values()) == {"catastrophic"}
