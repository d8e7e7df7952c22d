from __future__ import annotations

from datetime import datetime

import duckdb
import pytest

from sql_optim_env.datasets import Dataset
from sql_optim_env.datasets.shop import schema

COUNTS = {"users": 10_000, "products": 1_000, "orders": 500_000, "events": 1}
COLUMNS = {
    "users": ["id", "email", "tier", "region", "plan", "created_at"],
    "products": ["id", "name", "category", "price"],
    "orders": ["id", "customer_id", "product_id", "status", "total", "created_at"],
    "events": ["id", "user_id", "session_id", "event_type", "occurred_at"],
}


def described(ddl: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as con:
        con.execute(ddl)
        columns = con.sql("SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal").fetchall()
        rules = con.sql("SELECT table_name, constraint_text FROM duckdb_constraints()").fetchall()
    return sorted(columns) + sorted(rules)


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute(schema.DDL)
    con.execute("INSERT INTO users VALUES (1, 'a@mail.example', 'free', NULL, 'none', TIMESTAMP '2024-01-01')")
    con.execute("INSERT INTO products VALUES (1, 'Lamp', 'books', 5)")
    return con


def test_the_tables_have_the_published_columns(public: duckdb.DuckDBPyConnection, shop: Dataset) -> None:
    assert {table: public.table(table).columns for table in shop.tables} == COLUMNS


def test_the_ddl_that_is_shown_is_the_ddl_that_is_used(public: duckdb.DuckDBPyConnection, shop: Dataset) -> None:
    shown = described(shop.schema_info(COUNTS))
    assert shown == described(shop.ddl)
    columns = public.sql("SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal").fetchall()
    rules = public.sql("SELECT table_name, constraint_text FROM duckdb_constraints()").fetchall()
    assert shown == sorted(columns) + sorted(rules)


def test_row_counts_stand_above_the_tables(shop: Dataset) -> None:
    shown = shop.schema_info(COUNTS)
    assert "-- 500,000 rows\nCREATE TABLE orders" in shown
    assert "-- 1 row\nCREATE TABLE events" in shown
    assert shop.schema_info({}) == shop.ddl


def test_exactly_three_columns_may_be_null(public: duckdb.DuckDBPyConnection) -> None:
    nullable = public.sql("SELECT table_name, column_name FROM duckdb_columns() WHERE is_nullable AND NOT internal").fetchall()
    assert set(nullable) == {("users", "region"), ("orders", "product_id"), ("events", "session_id")}


@pytest.mark.parametrize(
    "row",
    [
        "users VALUES (1, 'b@mail.example', 'free', NULL, 'none', now())",
        "users VALUES (2, 'a@mail.example', 'free', NULL, 'none', now())",
        "users VALUES (2, 'B@mail.example', 'free', NULL, 'none', now())",
        "users VALUES (2, 'b@mail.example', 'Free', NULL, 'none', now())",
        "users VALUES (2, 'b@mail.example', 'free', NULL, 'weekly', now())",
        "users VALUES (2, 'b@mail.example', 'free', NULL, 'none', NULL)",
        "products VALUES (2, 'Mug', 'books', -0.01)",
        "products VALUES (2, NULL, 'books', 1)",
        "orders VALUES (1, 2, NULL, 'paid', 1, now())",
        "orders VALUES (1, NULL, NULL, 'paid', 1, now())",
        "orders VALUES (1, 1, 2, 'paid', 1, now())",
        "orders VALUES (1, 1, 1, 'lost', 1, now())",
        "events VALUES (1, 2, NULL, 'view', now())",
        "events VALUES (1, 1, NULL, 'click', now())",
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(con: duckdb.DuckDBPyConnection, row: str) -> None:
    with pytest.raises(duckdb.ConstraintException):
        con.execute(f"INSERT INTO {row.replace('now()', repr(str(datetime(2024, 1, 1))))}")


@pytest.mark.parametrize(
    "row",
    [
        "orders VALUES (1, 1, NULL, 'returned', -5, TIMESTAMP '2024-01-01')",
        "events VALUES (1, 1, NULL, 'view', TIMESTAMP '1999-01-01')",
        "users VALUES (2, '', 'free', '', 'none', TIMESTAMP '2024-01-01')",
    ],
)
def test_what_no_rule_forbids_is_accepted(con: duckdb.DuckDBPyConnection, row: str) -> None:
    con.execute(f"INSERT INTO {row}")
