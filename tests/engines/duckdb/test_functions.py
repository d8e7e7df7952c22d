from __future__ import annotations

import duckdb
import pytest

from sql_optim_env.engines.duckdb.arguments import GENERATORS
from sql_optim_env.engines.duckdb.functions import (
    ALLOWED_AGGREGATES,
    ALLOWED_FUNCTIONS,
    REFUSED_FUNCTIONS,
    RefusalReason,
    refusal_reason,
)


@pytest.fixture(scope="module")
def engine_functions() -> dict[str, set[str]]:
    with duckdb.connect() as con:
        kinds: dict[str, set[str]] = {}
        for name, kind in con.execute("SELECT DISTINCT function_name, function_type FROM duckdb_functions()").fetchall():
            kinds.setdefault(name.lower(), set()).add(kind)
        return kinds


def test_the_lists_were_reviewed_for_this_engine() -> None:
    assert duckdb.__version__ == "2.0.1"


def test_every_function_of_the_engine_is_either_allowed_or_refused_for_a_reason(engine_functions: dict[str, set[str]]) -> None:
    allowed = {name.lower() for name in ALLOWED_FUNCTIONS}
    undecided = {name for name in engine_functions if refusal_reason(name) is RefusalReason.UNKNOWN}
    assert undecided == set()
    assert allowed & set(REFUSED_FUNCTIONS) == set()
    for name in engine_functions:
        assert (name in allowed) is (refusal_reason(name) is None)


def test_no_list_names_a_function_that_the_engine_does_not_have(engine_functions: dict[str, set[str]]) -> None:
    assert {name.lower() for name in ALLOWED_FUNCTIONS} - set(engine_functions) == set()
    assert set(REFUSED_FUNCTIONS) - set(engine_functions) == set()
    assert set(GENERATORS) <= {name.lower() for name in ALLOWED_FUNCTIONS}


def test_everything_that_the_engine_itself_calls_volatile_is_refused(engine_functions: dict[str, set[str]]) -> None:
    with duckdb.connect() as con:
        volatile = [
            row[0] for row in con.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'").fetchall()
        ]
    assert "random" in volatile
    assert [name for name in volatile if refusal_reason(name) is None] == []


def test_every_pragma_and_table_function_but_three_is_refused_or_also_a_scalar(engine_functions: dict[str, set[str]]) -> None:
    reachable = {
        name for name, kinds in engine_functions.items() if kinds <= {"table", "table_macro", "pragma"} and refusal_reason(name) is None
    }
    assert reachable == {"unnest"}


def test_named_aggregates_are_aggregates_of_the_engine(engine_functions: dict[str, set[str]]) -> None:
    macros = {"geomean", "geometric_mean", "wavg", "weighted_avg"}
    for name in ALLOWED_AGGREGATES - macros:
        assert "aggregate" in engine_functions[name] or "window" in engine_functions[name]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("random", RefusalReason.VOLATILE),
        ("NOW", RefusalReason.VOLATILE),
        ("current_setting", RefusalReason.SESSION),
        ("duckdb_settings", RefusalReason.CATALOGUE),
        ("read_csv", RefusalReason.FILES),
        ("sleep_ms", RefusalReason.CONTROL),
        ("json_extract", RefusalReason.SEMI_STRUCTURED),
        ("__internal_decompress_string", RefusalReason.INTERNAL),
        ("read_something_new", RefusalReason.FILES),
        ("no_such_thing", RefusalReason.UNKNOWN),
        ("Sum", None),
        ("formatreadablesize", None),
        ("||", None),
    ],
)
def test_a_reason_does_not_depend_on_case(name: str, reason: RefusalReason | None) -> None:
    assert refusal_reason(name) is reason
