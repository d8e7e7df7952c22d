from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.arguments import GENERATORS, MAX_GENERATED, MAX_WIDTH, fixed_argument_refusal, generator_refusal


@pytest.fixture(scope="module")
def call_of() -> Iterator[Callable[[str], tuple[str, list[Any]]]]:
    """Name and argument nodes of a call, from the engine's own parse tree."""
    with duckdb.connect() as con:

        def parse(expression: str) -> tuple[str, list[Any]]:
            tree = json.loads(con.execute("SELECT json_serialize_sql(?)", [f"SELECT {expression}"]).fetchall()[0][0])
            call = tree["statements"][0]["node"]["select_list"][0]
            return call["function_name"], [argument["expression"] for argument in call["arguments"]]

        yield parse


@pytest.mark.parametrize(
    "expression",
    [
        f"range({MAX_GENERATED - 1})",
        "range(-5)",
        "range(10, 0, -1)",
        "range(0, 1000000000, 1000000)",
        "generate_series(1, 9999)",
        "generate_series('2024-01-01'::DATE, CAST('2024-12-31' AS TIMESTAMP), INTERVAL 1 HOUR)",
        "generate_series(DATE '1900-01-01', DATE '2100-01-01', INTERVAL '1 month')",
        "generate_series(TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-02 00:00:00.5', INTERVAL (10) MINUTE)",
        "range(1, 2, 3)",
        f"repeat('ab', {MAX_WIDTH})",
        "lpad(x, 10, '0')",
        "printf('%05d of %s', a, b)",
        "printf('100%% of %s', a)",
        "format('{:>10.2f} {{}} {}', a, b)",
        "bar(x, 0, 10)",
        "upper(x)",
    ],
)
def test_small_constants_are_admitted(call_of: Callable[[str], tuple[str, list[Any]]], expression: str) -> None:
    name, arguments = call_of(expression)
    assert generator_refusal(name, arguments, plain=True) is None


@pytest.mark.parametrize(
    "expression",
    [
        f"range({MAX_GENERATED + 1})",
        "range(x)",
        "range(10 * 10)",
        "range((SELECT 1))",
        "range(-1000000000, 0)",
        "range(1, 10, 0)",
        "range()",
        "range(1e9)",
        "range(1, 2, 3, 4)",
        "generate_series(DATE '2024-01-01', d, INTERVAL 1 DAY)",
        "generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL (x) DAY)",
        "generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL '1 minute')",
        "generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL '0 days')",
        "generate_series(DATE '-infinity', DATE 'infinity', INTERVAL 1 DAY)",
        "generate_series(DATE '2024-01-01', DATE '2024-01-02', INTERVAL '1 day 1 hour')",
        f"repeat('ab', {MAX_WIDTH + 1})",
        "repeat('ab', 'x')",
        "repeat('ab', 1e9)",
        "repeat('ab', -x)",
        "repeat('ab')",
        "lpad(x, length(y), '0')",
        "printf('%5000d', a)",
        "printf('%.5000f', a)",
        "printf('%*d', 5000, a)",
        "printf('%' || '5000d', a)",
        "format('{:>5000}', a)",
        "format('{:{}}', a, 5000)",
        "format('{:.{}f}', a, 5000)",
        "bitstring_agg(x)",
        "bar(x, 0, 10, 1e9)",
    ],
)
def test_large_or_unknown_arguments_are_not(call_of: Callable[[str], tuple[str, list[Any]]], expression: str) -> None:
    name, arguments = call_of(expression)
    assert generator_refusal(name, arguments, plain=True)


def test_a_generator_in_a_form_without_known_positions_is_refused(call_of: Callable[[str], tuple[str, list[Any]]]) -> None:
    _, arguments = call_of("range(3)")
    for name in GENERATORS:
        refusal = generator_refusal(name, arguments, plain=False)
        assert refusal is not None
        assert "plain form" in refusal


def test_the_count_of_a_range_is_never_below_the_engines(call_of: Callable[[str], tuple[str, list[Any]]]) -> None:
    from sql_optim_env.engines.duckdb.arguments import _generated

    with duckdb.connect() as con:
        for expression in (
            "range(17)",
            "range(3, 100, 7)",
            "generate_series(3, 100, 7)",
            "generate_series(DATE '2023-01-31', DATE '2024-12-31', INTERVAL '1 month')",
            "generate_series(DATE '2020-01-01', DATE '2024-12-31', INTERVAL '1 year')",
            "generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL 1 WEEK)",
            "generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL '2 quarters')",
            "generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-03', INTERVAL '90' MINUTE)",
        ):
            made = con.execute(f"SELECT len({expression})").fetchall()[0][0]
            bound = _generated(call_of(expression)[1])
            assert bound is not None
            assert made <= bound <= made * 1.2 + 2


@pytest.mark.parametrize(
    ("expression", "admitted"),
    [
        ("age(a, b)", True),
        ("age(a)", False),
        ("list_aggregate(l, 'sum')", True),
        ("list_aggr(l, 'STRING_AGG', ',')", True),
        ("array_aggregate(l, 'random')", False),
        ("aggregate(l, 'approx_top_k', 100000)", False),
        ("list_aggregate(l, x)", False),
        ("list_aggregate(l, lower('SUM'))", False),
        ("list_sum(l)", True),
    ],
)
def test_clocks_and_functions_named_by_a_value_are_fixed_by_their_arguments(
    call_of: Callable[[str], tuple[str, list[Any]]], expression: str, admitted: bool
) -> None:
    name, arguments = call_of(expression)
    assert (fixed_argument_refusal(name, arguments, plain=True) is None) is admitted
