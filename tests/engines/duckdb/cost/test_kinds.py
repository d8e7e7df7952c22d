from __future__ import annotations

import pytest

from sql_optim_env.engines.duckdb.cost.kinds import Column, Value, kind_of, row_width


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("INTEGER", "integer"),
        ("BOOLEAN", "integer"),
        ("DOUBLE", "float"),
        ("DECIMAL(18,2)", "decimal"),
        ("DECIMAL(38,2)", "huge"),
        ("HUGEINT", "huge"),
        ("INTERVAL", "huge"),
        ("TIMESTAMP WITH TIME ZONE", "time"),
        ("DATE", "time"),
        ("VARCHAR", "string"),
        ("BLOB", "string"),
        ("INTEGER[]", "list"),
        ("STRUCT(a INTEGER)", "list"),
        ("MAP(VARCHAR, INTEGER)", "list"),
    ],
)
def test_every_engine_type_has_a_kind(type_name: str, kind: str) -> None:
    assert kind_of(type_name) == kind


def test_a_long_string_adds_its_body_to_the_width_and_a_short_one_does_not() -> None:
    short = row_width((Column("a", Value("string", 8.0)),))
    long = row_width((Column("a", Value("string", 40.0)),))
    assert (short, long) == (16.0, 56.0)


def test_list_elements_count_eight_bytes_each() -> None:
    assert row_width((Column("a", Value("list", 10.0)),)) == 96.0


def test_a_flat_value_loses_its_dictionary_and_nothing_else() -> None:
    assert Value("string", 7.0, 0.01).flat() == Value("string", 7.0, 1.0)
