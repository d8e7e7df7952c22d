from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sql_optim_env.tasks.audit.draws import create_table
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario, Variant
from tasks.audit import trials

KIND = "type_repair"


def amounts(scenario: Scenario, variant: Variant = "base") -> list[tuple[str, float | None]]:
    """Each amount as it stands in the broken table, and as it was meant."""
    made = trials.content(scenario, variant)
    truth = made.truth[0]
    at = truth.columns.index(scenario.defect.columns[0])
    return [(row[at], right[at]) for row, (right,) in zip(made.rows[scenario.target], truth.repaired, strict=True)]


def edited(old: str, new: str) -> Callable[[Scenario], str]:
    """The reference with one thought left out; ``{amount}``, ``{thousands}`` and ``{code}`` stand for the scenario's own."""

    def fix(scenario: Scenario) -> str:
        plan = scenario.numbers["plan"]
        words = {"amount": plan.amount, "thousands": plan.thousands.replace("'", "''"), "sign": plan.currency[0], "code": plan.currency[1]}
        script = scenario.reference_fix.replace(old.format(**words), new.format(**words))
        assert script != scenario.reference_fix
        return script

    return fix


def cast_alone(scenario: Scenario) -> str:
    return re.sub(r"SET (\w+) = .*;", rf"SET \1 = CAST({scenario.defect.columns[0]} AS REAL);", scenario.reference_fix)


def in_place(scenario: Scenario) -> str:
    value = re.search(r"SET \w+ = (.*);", scenario.reference_fix)
    assert value is not None
    return f"UPDATE {scenario.target} SET {scenario.defect.columns[0]} = {value[1]}"


def without_what_is_hard(scenario: Scenario) -> str:
    return f"DELETE FROM {scenario.target} WHERE {scenario.defect.columns[0]} GLOB '*[^0-9.]*'; {cast_alone(scenario)}"


def rebuilt(scenario: Scenario) -> str:
    """Right, but for the columns that stand in the table that was looked at."""
    amount, table, columns = scenario.defect.columns[0], scenario.target, trials.content(scenario, "base").truth[0].columns
    value = re.search(r"SET \w+ = (.*);", scenario.reference_fix)
    assert value is not None
    made = create_table("made", [(column, "REAL" if column == amount else "") for column in columns])
    chosen = ", ".join(value[1] if column == amount else column for column in columns)
    return f"{made}; INSERT INTO made SELECT {chosen} FROM {table}; DROP TABLE {table}; ALTER TABLE made RENAME TO {table}"


def test_by_default_there_are_a_thousand_amounts_and_all_of_them_are_text() -> None:
    for seed in range(20):
        scenario = trials.drawn(KIND, "test", seed, default=True)
        pairs = amounts(scenario)
        assert len(pairs) == 1_000
        assert all(isinstance(text, str) and isinstance(meant, float) for text, meant in pairs)
        assert scenario.perfect_share == 0.995


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rule_in_the_description_gives_each_text_one_meaning(variant: Variant) -> None:
    for scenario in trials.every(KIND, 6):
        plan = scenario.numbers["plan"]
        for text, meant in amounts(scenario, variant):
            digits = re.sub(r"[^0-9]", "", text.replace(plan.thousands, "").replace(plan.point, "."))
            if meant is None:
                assert digits == ""
                continue
            cents = re.search(re.escape(plan.point) + r"(\d\d)(?!\d)", text)
            value = int(digits) / 100 if cents else float(digits)
            negative = "-" in text or text.strip().startswith("(")
            assert meant == (-value if negative else value)


def test_every_way_of_writing_is_frequent_enough_to_matter() -> None:
    for scenario in trials.every(KIND, 6):
        plan = scenario.numbers["plan"]
        texts = [text for text, _ in amounts(scenario)]
        slack = len(texts) * (1 - scenario.perfect_share)
        for mark in (plan.thousands, plan.point, "(", *plan.currency, "  "):
            assert sum(mark in text for text in texts) > slack
        assert sum(text.endswith("-") for text in texts) > slack
        assert sum(text.startswith("-") for text in texts) > slack


def test_shifted_amounts_are_larger_more_often_negative_and_more_often_unknown() -> None:
    for scenario in trials.every(KIND, 4):
        base, shifted = amounts(scenario), amounts(scenario, "shifted")
        for share in (lambda meant: meant is None, lambda meant: meant is not None and meant < 0, lambda meant: abs(meant or 0) > 10_000):
            assert sum(share(meant) for _, meant in shifted) / len(shifted) > 1.5 * sum(share(meant) for _, meant in base) / len(base)


@pytest.mark.parametrize(
    "fix",
    [
        cast_alone,
        in_place,
        without_what_is_hard,
        rebuilt,
        edited("CASE WHEN {amount} LIKE '%-%' OR {amount} LIKE '%(%' THEN -1 ELSE 1 END * ", ""),
        edited(" OR {amount} LIKE '%(%'", ""),
        edited("LIKE '%-%'", "LIKE '-%'"),
        edited("AS REAL) END", "AS REAL) ELSE 0 END"),
        edited(", '{thousands}', '')", ", '~', '')"),
        edited(", '{sign}', '')", ", '~', '')"),
        edited(", '{code}', '')", ", '~', '')"),
    ],
)
def test_a_careless_repair_is_not_perfect_everywhere(fix: Callable[[Scenario], str]) -> None:
    assert trials.WHOLE not in trials.outcomes(KIND, fix, 3)


def test_a_table_that_is_rebuilt_from_the_columns_that_were_seen_loses_the_one_that_was_not() -> None:
    for found in trials.outcomes(KIND, rebuilt, 3):
        assert found == trials.WHOLE | {"extra_column": found["extra_column"]}
        assert found["extra_column"] not in ("perfect", "acceptable")


def test_an_amount_that_was_made_zero_where_none_is_known_is_wrong_on_data_that_has_such() -> None:
    zero = edited("AS REAL) END", "AS REAL) ELSE 0 END")
    for found in trials.outcomes(KIND, zero, 3):
        assert found["shifted"] == "dangerous"
