from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost import CostModel
from sql_optim_env.engines.duckdb.cost.calibration import coverage, micro
from sql_optim_env.engines.duckdb.cost.calibration.micro_suite import CREATE_MICRO, MICRO_ROWS
from sql_optim_env.engines.duckdb.cost.evaluation import Evaluator
from sql_optim_env.engines.duckdb.cost.prices import Prices


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    opened = duckdb.connect(":memory:", config={"threads": 1})
    opened.execute("SET disabled_optimizers = 'join_filter_pushdown'")
    opened.execute("PRAGMA enable_profiling = 'no_output'")
    opened.execute(CREATE_MICRO.replace(str(MICRO_ROWS), "60"))
    opened.execute("ALTER TABLE micro ADD COLUMN u BIGINT")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def prices() -> Prices:
    return CostModel.load().weights.prices


def test_every_admitted_function_is_benchmarked_under_one_of_its_names(con: duckdb.DuckDBPyConnection) -> None:
    assert coverage.uncovered_functions(con) == frozenset()


def test_a_function_without_a_benchmark_would_be_found(con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "ALLOWED_FUNCTIONS", frozenset({"md5", "brand_new_function"}))
    assert coverage.uncovered_functions(con) == {"brand_new_function"}


def test_every_benchmark_runs_on_some_column(con: duckdb.DuckDBPyConnection) -> None:
    failed = []
    for template in micro.SCALAR_TEMPLATES:
        for expression in micro.instances(template):
            try:
                con.execute(f"SELECT {expression} FROM micro").fetchall()
                break
            except duckdb.Error:
                continue
        else:
            failed.append(template)
    assert failed == []


def test_the_packaged_weights_have_a_price_for_every_function_that_a_benchmark_runs(con: duckdb.DuckDBPyConnection, prices: Prices) -> None:
    lengths = micro._column_values(con, "micro")
    unknown: dict[str, str] = {}
    for sample in micro._prepare_scalars(con, lengths):
        evaluator = Evaluator(sample.columns, prices)
        for expression in sample.expressions:
            evaluator.value(expression)
        unknown |= {charge.function: sample.sql for charge in evaluator.charges if not prices.knows(charge.function)}
    assert unknown == {}


def test_the_packaged_weights_have_a_price_for_every_aggregate_that_a_benchmark_runs(
    con: duckdb.DuckDBPyConnection, prices: Prices
) -> None:
    lengths = micro._column_values(con, "micro")
    names = {sample.aggregate for sample in micro._prepare_aggregates(con, lengths)}
    assert {name for name in names if name not in prices.dearest_aggregates} == set()
    assert len(names) > 60


def test_other_names_of_a_function_have_its_price(con: duckdb.DuckDBPyConnection, prices: Prices) -> None:
    groups = coverage.alias_groups(con)
    assert {"list_distinct", "array_distinct"} <= groups["array_distinct"]
    assert prices.function("array_distinct", "list", 9.0) == prices.function("list_distinct", "list", 9.0) > 9.0


def test_calls_are_found_wherever_they_stand(con: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT lead(upper(a)) OVER (ORDER BY b >= 3) FROM t WHERE EXISTS (SELECT [x -> 1, md5(c)] FROM u)"
    assert coverage.called_functions(con, sql) >= {"lead", "upper", ">=", "md5", "list_value"}


def test_no_name_of_a_function_saves_work_by_a_dictionary_that_another_does_not(con: duckdb.DuckDBPyConnection, prices: Prices) -> None:
    groups = coverage.alias_groups(con)
    others = frozenset().union(*(groups.get(name, frozenset()) for name in prices.no_dictionary))
    assert others - prices.no_dictionary == set()
    assert {"string_split_regex", "str_split_regex"} <= prices.no_dictionary
