from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.calibration.measure import connect
from sql_optim_env.engines.duckdb.cost.calibration.tpch import TPCH_QUERIES, build_tpch, tpch_statements


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    opened = connect(build_tpch(tmp_path_factory.mktemp("tpch") / "tpch.duckdb", orders=15_000))
    yield opened
    opened.close()


def test_the_tables_have_the_proportions_of_the_benchmark(con: duckdb.DuckDBPyConnection) -> None:
    rows = {name: con.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for (name,) in con.execute("SHOW TABLES").fetchall()}
    assert {name: rows[name] for name in rows if name != "lineitem"} == {
        "region": 5,
        "nation": 25,
        "supplier": 100,
        "part": 2000,
        "partsupp": 8000,
        "customer": 1500,
        "orders": 15_000,
    }
    assert rows["lineitem"] == pytest.approx(60_000, rel=0.02)


def test_line_items_belong_to_orders_and_to_suppliers_of_their_parts(con: duckdb.DuckDBPyConnection) -> None:
    lost = "SELECT count(*) FROM lineitem ANTI JOIN orders ON o_orderkey = l_orderkey"
    foreign = "SELECT count(*) FROM lineitem ANTI JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey"
    assert con.execute(lost).fetchall() == [(0,)]
    assert con.execute(foreign).fetchall() == [(0,)]


def test_a_third_of_the_customers_never_ordered(con: duckdb.DuckDBPyConnection) -> None:
    share = con.execute("SELECT count(DISTINCT o_custkey) / (SELECT count(*) FROM customer) FROM orders").fetchall()[0][0]
    assert share == pytest.approx(2 / 3, abs=0.02)


def test_there_are_twenty_two_queries_and_nearly_all_find_rows_even_here(con: duckdb.DuckDBPyConnection) -> None:
    assert [name for name, _ in TPCH_QUERIES] == [f"q{number:02}" for number in range(1, 23)]
    empty = [name for name, sql in TPCH_QUERIES if not con.execute(sql).fetchall()]
    assert set(empty) <= {"q02", "q18", "q20"}
    assert len({item.template for item in tpch_statements()}) == 22
