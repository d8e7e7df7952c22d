from __future__ import annotations

import re
from collections import Counter

import pytest

from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario, Variant
from tasks.audit import trials

KIND = "schema_drift"


def with_values(scenario: Scenario, *raw: str) -> str:
    """The reference, but for some facts that are taken as they stand in the sources."""
    plan = scenario.numbers["plan"]
    parts = [scenario.reference_fix.split(";")[0]]
    for source in plan.sources:
        wanted = ", ".join(source.names[fact] if fact in raw else source.wanted(fact) for fact in plan.names)
        listed = ", ".join(plan.names.values())
        parts.append(f"INSERT INTO {plan.target} ({plan.origin}, {listed}) SELECT '{source.origin}', {wanted} FROM {source.table}")
    return ";\n".join(parts)


def stacked(scenario: Scenario) -> str:
    return with_values(scenario, *scenario.numbers["plan"].names)


def one_source(scenario: Scenario) -> str:
    return ";".join(scenario.reference_fix.split(";")[:2])


def a_view(scenario: Scenario) -> str:
    target = scenario.target
    made = re.sub(rf"\b(CREATE TABLE|INSERT INTO) {target}\b", r"\1 made", scenario.reference_fix)
    return f"{made}\nCREATE VIEW {target} AS SELECT * FROM made"


def without_types(scenario: Scenario) -> str:
    made, *rest = scenario.reference_fix.split(";")
    return ";".join([re.sub(r"(?m) (TEXT|INTEGER|REAL)\b", "", made), *rest])


def sources_dropped(scenario: Scenario) -> str:
    return scenario.reference_fix + "".join(f"\nDROP TABLE {source.table};" for source in scenario.numbers["plan"].sources)


def sources_changed(scenario: Scenario) -> str:
    source = scenario.numbers["plan"].far
    return f"{scenario.reference_fix}\nUPDATE {source.table} SET {source.names['label']} = '*' || {source.names['label']};"


def one_origin(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    return f"{scenario.reference_fix}\nUPDATE {plan.target} SET {plan.origin} = '{plan.near.origin}';"


def nothing_is_unknown(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    return f"{scenario.reference_fix}\nUPDATE {plan.target} SET {plan.names['count']} = 0 WHERE {plan.names['count']} IS NULL;"


def numbered_once(scenario: Scenario) -> str:
    plan = scenario.numbers["plan"]
    return scenario.reference_fix.replace("INSERT INTO", "INSERT OR IGNORE INTO").replace(
        f"{plan.names['number']} INTEGER,", f"{plan.names['number']} INTEGER PRIMARY KEY,"
    )


def by_position(scenario: Scenario) -> str:
    """Right, but for the columns that stand in the table that was looked at."""
    source = scenario.numbers["plan"].far
    renamed = f"(WITH q({', '.join(source.order)}) AS (SELECT * FROM {source.table}) SELECT * FROM q)"
    return scenario.reference_fix.replace(f"FROM {source.table};", f"FROM {renamed};")


def test_by_default_two_sources_of_600_rows_make_a_table_of_1200() -> None:
    for seed in range(20):
        scenario = trials.drawn(KIND, "test", seed, default=True)
        made = trials.content(scenario, "base")
        assert [len(rows) for rows in made.rows.values()] == [600, 600]
        assert len(made.truth[0].repaired) == 1_200
        assert scenario.target not in made.rows


def test_the_looks_find_the_drift_and_the_check_reads_what_it_became() -> None:
    for scenario in trials.every(KIND, 8):
        plan = scenario.numbers["plan"]
        wanted = {(table, column) for table in (scenario.target, scenario.defect.table) for column in scenario.defect.columns}
        assert trials.shown(scenario, scenario.structure_look).structures == {scenario.defect.table}
        found = trials.shown(scenario, scenario.column_look)
        assert found.reads_columns & wanted
        assert found.vm_steps >= len(trials.content(scenario, "base").rows[scenario.defect.table])
        with pytest.raises(AgentError) as caught:
            trials.shown(scenario, scenario.check)
        assert caught.value.code is ErrorCode.BINDING_ERROR
        after = trials.shown(scenario, scenario.check, scenario.reference_fix)
        assert {table for table, _ in after.reads_columns & wanted} == {scenario.target}
        sizes = {source.origin: len(trials.content(scenario, "base").rows[source.table]) for source in plan.sources}
        assert {row[0]: row[1] for row in after.rows} == sizes
        assert after.rows != trials.shown(scenario, scenario.check, stacked(scenario)).rows


def test_the_description_lists_the_wanted_columns_and_names_none_of_the_drifted_source() -> None:
    for scenario in trials.every(KIND):
        plan = scenario.numbers["plan"]
        truth = trials.content(scenario, "base").truth[0]
        listed = dict(re.findall(r"(?m)^- `(\w+)`: ([A-Z]+)", scenario.description))
        assert listed == truth.affinities
        assert set(listed) == set(truth.columns)
        for name in plan.far.names.values():
            assert not re.search(rf"\b{name}\b", scenario.description)


def test_the_drifted_source_is_either_and_shares_no_name_with_the_target() -> None:
    first: Counter[bool] = Counter()
    for seed in range(60):
        scenario = trials.drawn(KIND, "train", seed, default=True)
        plan = scenario.numbers["plan"]
        first[plan.sources[0] is plan.far] += 1
        assert not set(plan.far.order) & set(plan.names.values())
        assert len(plan.far.drifted()) >= 5
        assert 1 <= len(plan.near.drifted()) <= 2
    assert min(first[True], first[False]) > 15


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_sources_number_from_the_start_and_days_can_be_told_by_the_data(variant: Variant) -> None:
    for scenario in trials.every(KIND, 4):
        plan = scenario.numbers["plan"]
        truth = trials.content(scenario, variant).truth[0]
        rows = [dict(zip(truth.columns, row, strict=True)) for (row,) in truth.repaired]
        for source in plan.sources:
            days = {int(str(row[plan.names["day"]])[8:]) for row in rows if row[plan.origin] == source.origin}
            assert max(days) > 12
        numbers = Counter(row[plan.names["number"]] for row in rows)
        assert numbers.most_common(1)[0][1] == 2
        assert all(row[plan.names["amount"]] is not None for row in rows)
        assert any(row[plan.names["count"]] is None for row in rows)


@pytest.mark.parametrize("fact", ["number", "label", "day", "amount", "kind", "settled", "count"])
def test_each_fact_that_drifted_has_to_be_brought_back(fact: str) -> None:
    for scenario in trials.every(KIND, 3):
        plan = scenario.numbers["plan"]
        found = trials.levels(scenario, with_values(scenario, fact))
        drifted = fact in (*plan.near.drifted(), *plan.far.drifted())
        assert found == trials.WHOLE or drifted
        # A column declared as a number turns digits into numbers by itself.
        by_itself = {plan.near.forms[fact], plan.far.forms[fact]} <= {"plain", "padded"}
        assert found != trials.WHOLE or not drifted or by_itself


@pytest.mark.parametrize("fix", [stacked, one_source, a_view, sources_changed, one_origin, nothing_is_unknown, numbered_once])
def test_a_careless_repair_is_dangerous_at_best(fix: trials.Fix) -> None:
    trials.assert_careless(KIND, fix, seeds=3)


def test_without_declared_types_a_repair_is_acceptable_only() -> None:
    for found in trials.outcomes(KIND, without_types, 3):
        assert set(found.values()) == {"acceptable"}


def test_a_source_that_is_dropped_is_a_catastrophe() -> None:
    for found in trials.outcomes(KIND, sources_dropped, 3):
        assert set(found.values()) == {"catastrophic"}


def test_columns_taken_by_position_are_wrong_where_there_is_one_more() -> None:
    for found in trials.outcomes(KIND, by_position, 3):
        assert found == trials.WHOLE | {"extra_column": "ineffective"}
