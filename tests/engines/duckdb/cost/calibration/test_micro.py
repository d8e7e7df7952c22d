from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.calibration import micro
from sql_optim_env.engines.duckdb.cost.evaluation import Charge
from sql_optim_env.engines.duckdb.cost.expressions import Expr
from sql_optim_env.engines.duckdb.cost.kinds import Value


def sample(nanoseconds: float, *charges: tuple[str, float], result: Value | None = None) -> micro._Sample:
    found = micro._Sample("SELECT 1", nanoseconds=nanoseconds, result=result, expressions=(Expr("call", "f"),))
    found.charges = [Charge(name, "string", length, 1.0) for name, length in charges]
    return found


def test_prices_are_told_apart_by_length_and_by_combination() -> None:
    solved = micro._solve_functions(
        [
            sample(80 + 2 * 8, ("md5", 8)),
            sample(80 + 2 * 60, ("md5", 60)),
            sample(5 + 0.5 * 8, ("lower", 8)),
            sample(5 + 0.5 * 60, ("lower", 60)),
            sample(85 + 2.5 * 20, ("md5", 20), ("lower", 20)),
        ]
    )
    assert solved["md5|string"] == pytest.approx((80, 2), rel=0.02)
    assert solved["lower|string"] == pytest.approx((5, 0.5), rel=0.05)


def test_no_function_is_free() -> None:
    assert micro._solve_functions([sample(0.0, ("id", 8)), sample(0.0, ("id", 60))])["id|string"][0] >= micro.LEAST_NS


def test_the_length_of_a_result_is_a_constant_or_a_multiple() -> None:
    solved = micro._solve_returns(
        [
            sample(1.0, ("md5", 8), result=Value("string", 32)),
            sample(1.0, ("md5", 60), result=Value("string", 32)),
            sample(1.0, ("hex", 8), result=Value("string", 16)),
            sample(1.0, ("hex", 60), result=Value("string", 120)),
        ]
    )
    assert solved["md5|string"] == ("string", 32.0, 0.0)
    assert solved["hex|string"] == ("string", 0.0, 2.0)


def test_a_few_templates_go_all_the_way_from_queries_to_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(micro, "SCALAR_TEMPLATES", ("md5({s})", "{n} + 1", "left({s}, 4)", "no_such_function({s})", "[{n}, {n}]"))
    monkeypatch.setattr(micro, "AGGREGATE_TEMPLATES", ("sum({x})", "median({x})", "arg_max({x}, ts)", "list({x} ORDER BY d)"))
    monkeypatch.setattr(micro, "AGGREGATE_COLUMNS", ("i", "s20"))
    # Short enough to run between two interruptions of a busy machine.
    monkeypatch.setattr(micro, "CREATE_MICRO", micro.CREATE_MICRO.replace(str(micro.MICRO_ROWS), "20000"))
    monkeypatch.setattr(micro, "MICRO_ROWS", 20_000)
    synthetic = tmp_path / "synthetic.duckdb"
    con = duckdb.connect(str(synthetic))
    con.execute("CREATE TABLE facts AS SELECT 'k' || (i % 20) AS low FROM range(20000) t(i)")
    con.execute("CHECKPOINT")
    con.close()
    prices = micro.benchmark_prices(synthetic, passes=5)
    assert prices.function("md5", "string", 20.0) > 10 * prices.function("+", "integer", 0.0)
    assert prices.returns["md5|string"] == ("string", 32.0, 0.0)
    assert prices.aggregate("median", Value("integer")).grouped > prices.aggregate("sum", Value("integer")).grouped
    assert {"arg_max(time)|integer", "list!ordered|string", "count_star|unknown"} <= set(prices.aggregates)
    assert "left" in prices.no_dictionary
    assert "no_such_function" not in prices.dearest


def test_one_price_an_element_lies_between_short_and_long_lists() -> None:
    functions = {"list_distinct|list": (40.0, 50.0), "list_sum|list": (5.0, 2.0)}
    found = micro._Sample(f"SELECT list_distinct({micro.LONG_LISTS}) AS x FROM micro", nanoseconds=1540.0)
    found.charges = [Charge("list_distinct", "list", 10.0, 1.0)]
    cheap = micro._Sample(f"SELECT list_sum({micro.LONG_LISTS}) AS x FROM micro", nanoseconds=6.0)
    cheap.charges = [Charge("list_sum", "list", 10.0, 1.0)]
    micro._heed_long_lists(functions, [found, cheap])
    assert functions == {"list_distinct|list": (40.0, micro.LONG_LIST_SHARE * 150.0), "list_sum|list": (5.0, 2.0)}
