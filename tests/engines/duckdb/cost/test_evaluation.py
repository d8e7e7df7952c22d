from __future__ import annotations

import pytest

from sql_optim_env.engines.duckdb.cost.evaluation import Evaluator
from sql_optim_env.engines.duckdb.cost.expressions import Expr, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import Column, Value
from sql_optim_env.engines.duckdb.cost.prices import UNKNOWN_FUNCTION, Prices

COLUMNS = (
    Column("name", Value("string", 20.0)),
    Column("status", Value("string", 6.0, 0.001)),
    Column("n", Value("integer")),
    Column("items", Value("list", 4.0)),
)
PRICES = Prices.of(
    {
        "md5|string": (80.0, 2.0),
        "lower|string": (5.0, 0.5),
        "left|string": (12.0, 0.0),
        "+|integer": (1.0, 0.0),
        "compare|integer": (1.0, 0.0),
        "compare|string": (2.0, 0.0),
        "list_transform|list": (0.0, 3.0),
        "case|integer": (1.0, 0.0),
        "in|integer": (1.0, 0.5),
        "dictionary_gather|integer": (0.25, 0.0),
    },
    {"md5|string": ("string", 32.0, 0.0), "lower|string": ("string", 0.0, 1.0)},
    frozenset({"left"}),
    {},
)


def nanoseconds(printed: str) -> float:
    evaluator = Evaluator(COLUMNS, PRICES)
    evaluator.value(parse_expression(printed))
    return evaluator.nanoseconds()


def test_a_function_costs_its_row_price_and_its_bytes() -> None:
    assert nanoseconds("md5(name)") == 80.0 + 2.0 * 20.0


def test_a_nested_function_is_paid_on_the_length_of_what_it_gets() -> None:
    assert nanoseconds("md5(md5(name))") == (80.0 + 2.0 * 20.0) + (80.0 + 2.0 * 32.0)


def test_a_function_of_a_dictionary_column_is_paid_once_an_entry() -> None:
    assert nanoseconds("lower(status)") == pytest.approx((5.0 + 0.5 * 6.0) * 0.001 + 0.25 * 0.999)


def test_a_function_that_ignores_dictionaries_is_paid_for_every_row() -> None:
    assert nanoseconds("left(status, 2)") == 12.0


def test_two_columns_in_one_expression_share_no_dictionary() -> None:
    assert nanoseconds("(lower(status) = name)") == pytest.approx((5.0 + 0.5 * 6.0) * 0.001 + 0.25 * 0.999 + 2.0)


def test_constants_cost_nothing_because_planning_folds_them() -> None:
    assert nanoseconds("md5('abc')") == 0.0


def test_a_lambda_is_paid_for_every_element() -> None:
    assert nanoseconds("list_transform(items, lambda x: (x + 1))") == 4 * 3.0 + 4 * 1.0


def test_the_constant_of_a_repeat_decides_how_long_its_result_is() -> None:
    repeated = nanoseconds("md5(repeat(name, 30))") - nanoseconds("repeat(name, 30)")
    assert repeated == 80.0 + 2.0 * 20.0 * 30
    assert nanoseconds("repeat(name, 300)") > 5 * nanoseconds("repeat(name, 30)")


def test_in_lists_cost_more_with_every_member() -> None:
    assert nanoseconds("(n IN (1, 2, 3, 4))") == 1.0 + 0.5 * 4


def test_an_unknown_function_is_priced_above_the_measured_ones() -> None:
    assert nanoseconds("brand_new(name)") == UNKNOWN_FUNCTION[0] + UNKNOWN_FUNCTION[1] * 20.0
    assert nanoseconds("brand_new(name)") > nanoseconds("md5(name)")


def test_a_known_function_on_an_unmeasured_kind_takes_its_dearest_price() -> None:
    evaluator = Evaluator((Column("d", Value("float")),), PRICES)
    evaluator.value(Expr("call", "md5", (Expr("column", "d"),)))
    assert evaluator.nanoseconds() == 80.0


def test_a_reference_of_known_type_keeps_it_even_when_the_column_is_missing() -> None:
    evaluator = Evaluator((), PRICES)
    assert evaluator.value(Expr("slot", kind="string", index=9)) == Value("string", 12.0)


def test_the_result_of_a_function_carries_its_length() -> None:
    evaluator = Evaluator(COLUMNS, PRICES)
    assert evaluator.value(parse_expression("md5(name)")) == Value("string", 32.0)
