from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from sql_optim_env.datasets import Dataset, DatasetStore
from sql_optim_env.datasets.shop import bulk, schema

Scalar = Callable[[duckdb.DuckDBPyConnection, str], Any]
SMALL = bulk.BulkProfile(users=400, products=60, orders=4_000, events=9_000, id_step=3)


def made(profile: bulk.BulkProfile, seed: int) -> dict[str, list[Any]]:
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute(schema.DDL)
        bulk.fill(con, profile, seed)
        return {table: con.sql(f"FROM {table}").fetchall() for table in schema.TABLES}


@pytest.fixture(params=["public", "twin"])
def large(request: pytest.FixtureRequest) -> duckdb.DuckDBPyConnection:
    con: duckdb.DuckDBPyConnection = request.getfixturevalue(request.param)
    return con


def test_the_same_seed_gives_the_same_rows_in_the_same_order() -> None:
    assert made(SMALL, 5) == made(SMALL, 5)


def test_another_seed_gives_other_rows_of_the_same_number() -> None:
    one, other = made(SMALL, 5), made(SMALL, 6)
    assert {table: len(rows) for table, rows in one.items()} == {table: len(rows) for table, rows in other.items()}
    for table in schema.TABLES:
        assert one[table] != other[table]


def test_public_and_twin_have_their_numbers_of_rows(shop: Dataset, shared_store: DatasetStore) -> None:
    public, twin = shop.instances[:2]
    assert shared_store.row_counts(public) == {"users": 10_000, "products": 1_000, "orders": 500_000, "events": 1_000_000}
    assert shared_store.row_counts(twin) == {"users": 5_000, "products": 500, "orders": 250_000, "events": 500_000}


def test_ids_of_the_public_instance_are_dense_and_those_of_the_twin_have_gaps(
    public: duckdb.DuckDBPyConnection, twin: duckdb.DuckDBPyConnection, scalar: Scalar
) -> None:
    for table in schema.TABLES:
        count = scalar(public, f"SELECT count(*) FROM {table}")
        assert public.sql(f"SELECT min(id), max(id) FROM {table}").fetchall() == [(1, count)]
        low, high = twin.sql(f"SELECT min(id), max(id) FROM {table}").fetchall()[0]
        assert low <= 3 and count - 2 <= high <= count
        gaps = scalar(twin, f"SELECT count(*) FROM (SELECT id - lag(id) OVER (ORDER BY id) AS step FROM {table}) WHERE step > 1")
        assert gaps > count / 5


def test_both_cover_the_same_calendar_in_the_same_shares(public: duckdb.DuckDBPyConnection, twin: duckdb.DuckDBPyConnection) -> None:
    for table, column in schema.TIME_COLUMNS:
        share = f"count(*) / (SELECT count(*) FROM {table})"
        months = f"SELECT strftime({column}, '%Y-%m') AS m, {share} AS share FROM {table} GROUP BY 1 ORDER BY 1"
        ours, theirs = (dict(con.sql(months).fetchall()) for con in (public, twin))
        assert ours.keys() == theirs.keys()
        assert max(abs(ours[month] - theirs[month]) for month in ours) < 0.005


def test_orders_and_events_lie_within_2023_and_2024(large: duckdb.DuckDBPyConnection) -> None:
    for table, column in schema.TIME_COLUMNS[1:]:
        first, last = large.sql(f"SELECT min({column})::DATE::VARCHAR, max({column})::DATE::VARCHAR FROM {table}").fetchall()[0]
        assert (first, last) == ("2023-01-01", "2024-12-31")


def test_orders_and_events_are_stored_in_time_order(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    for table, column in schema.TIME_COLUMNS[1:]:
        late = (
            f"SELECT {column} AS t, id, lag({column}) OVER (ORDER BY rowid) AS before, lag(id) OVER (ORDER BY rowid) AS other FROM {table}"
        )
        assert scalar(large, f"SELECT count(*) FROM ({late}) WHERE t < before OR id < other") == 0


def test_nobody_acts_before_having_signed_up(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    assert scalar(large, "SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id WHERE o.created_at < u.created_at") == 0
    assert scalar(large, "SELECT count(*) FROM events e JOIN users u ON u.id = e.user_id WHERE e.occurred_at < u.created_at") == 0


def test_about_one_in_twenty_nullable_values_is_null(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    for table, column in (("users", "region"), ("orders", "product_id"), ("events", "session_id")):
        assert 0.04 < scalar(large, f"SELECT count(*) FILTER ({column} IS NULL) / count(*) FROM {table}") < 0.06


def test_the_busiest_have_a_power_laws_share(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    for table, column, low, high in (
        ("orders", "customer_id", 0.015, 0.045),
        ("events", "user_id", 0.008, 0.025),
        ("orders", "product_id", 0.02, 0.05),
    ):
        counts = f"SELECT count(*) AS n FROM {table} WHERE {column} IS NOT NULL GROUP BY {column}"
        assert low < scalar(large, f"SELECT max(n) / sum(n) FROM ({counts})") < high
        top = f"SELECT n, row_number() OVER (ORDER BY n DESC) AS r, count(*) OVER () AS k FROM ({counts})"
        assert 0.25 < scalar(large, f"SELECT sum(n) FILTER (r <= k / 10) / sum(n) FROM ({top})") < 0.55


def test_there_are_users_without_orders_users_without_events_and_products_never_ordered(
    large: duckdb.DuckDBPyConnection, scalar: Scalar
) -> None:
    users, products = (scalar(large, f"SELECT count(*) FROM {table}") for table in ("users", "products"))
    assert 0.005 < scalar(large, "SELECT count(*) FROM users WHERE id NOT IN (SELECT customer_id FROM orders)") / users < 0.1
    assert 0.005 < scalar(large, "SELECT count(*) FROM users WHERE id NOT IN (SELECT user_id FROM events)") / users < 0.1
    unsold = scalar(large, "SELECT count(*) FROM products WHERE id NOT IN (SELECT product_id FROM orders WHERE product_id IS NOT NULL)")
    assert 0.01 < unsold / products < 0.06


def test_every_value_of_every_domain_occurs(large: duckdb.DuckDBPyConnection) -> None:
    for table, column in (("users", "tier"), ("users", "plan"), ("orders", "status"), ("events", "event_type")):
        assert {value for (value,) in large.sql(f"SELECT DISTINCT {column} FROM {table}").fetchall()} == set(schema.DOMAINS[column])


def test_paid_plans_go_with_paid_tiers(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    paying = "SELECT count(*) FILTER (plan IN ('monthly', 'annual')) / count(*) FROM users WHERE tier {}"
    assert scalar(large, paying.format("= 'free'")) < 0.2 < 0.7 < scalar(large, paying.format("IN ('gold', 'platinum')"))


def test_the_status_of_an_order_depends_on_its_age_and_total(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    share = "SELECT count(*) FILTER (status = '{}') / count(*) FROM orders WHERE {}"
    recent, old = "created_at >= TIMESTAMP '2024-12-02'", "created_at < TIMESTAMP '2024-12-01'"
    assert scalar(large, share.format("pending", recent)) > 3 * scalar(large, share.format("pending", old))
    assert scalar(large, share.format("delivered", old)) > 2 * scalar(large, share.format("delivered", recent))
    assert scalar(large, share.format("returned", f"{old} AND total > 160")) > 1.5 * scalar(
        large, share.format("returned", f"{old} AND total < 100")
    )


def test_there_is_a_season_in_the_year_and_in_the_week(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    assert scalar(large, "SELECT count(*) FILTER (month(created_at) = 12) / count(*) FILTER (month(created_at) = 2) FROM orders") > 1.3
    assert (
        scalar(large, "SELECT count(*) FILTER (dayofweek(created_at) = 5) / count(*) FILTER (dayofweek(created_at) = 0) FROM orders") > 1.2
    )
    assert scalar(large, "SELECT count(*) FILTER (hour(occurred_at) = 14) / count(*) FILTER (hour(occurred_at) = 6) FROM events") > 2


def test_order_times_are_whole_minutes_with_ties(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    assert scalar(large, "SELECT count(*) FROM orders WHERE date_trunc('minute', created_at) <> created_at") == 0
    assert scalar(large, "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id, created_at HAVING count(*) > 1)") > 20


def test_some_events_of_a_user_share_their_time(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    tied = scalar(large, "SELECT sum(n) FROM (SELECT count(*) AS n FROM events GROUP BY user_id, occurred_at HAVING count(*) > 1)")
    assert 0.01 < tied / scalar(large, "SELECT count(*) FROM events") < 0.08


def test_a_session_is_one_visit_of_one_user(large: duckdb.DuckDBPyConnection) -> None:
    sessions = (
        "SELECT count(*) AS n, count(DISTINCT user_id) AS who, max(occurred_at) - min(occurred_at) AS span"
        " FROM events WHERE session_id IS NOT NULL GROUP BY session_id"
    )
    users, longest, mean = large.sql(f"SELECT max(who), max(span) < INTERVAL 1 HOUR, avg(n) FROM ({sessions})").fetchall()[0]
    assert (users, longest) == (1, True)
    assert 7 < mean < 10


def test_totals_follow_prices_and_include_free_orders_and_credits(large: duckdb.DuckDBPyConnection, scalar: Scalar) -> None:
    assert scalar(large, "SELECT corr(o.total, p.price) FROM orders o JOIN products p ON p.id = o.product_id") > 0.5
    for odd in ("total = 0", "total < 0"):
        assert 0 < scalar(large, f"SELECT count(*) FILTER ({odd}) / count(*) FROM orders") < 0.005


def test_a_date_range_reads_a_part_of_the_table_only(public: duckdb.DuckDBPyConnection) -> None:
    with public.cursor() as con:
        con.execute("PRAGMA enable_profiling = 'no_output'")
        con.sql("SELECT sum(user_id) FROM events WHERE occurred_at >= TIMESTAMP '2024-12-20'").fetchall()
        profile = con.get_profiling_information("json")
    assert json.loads(profile)["query"]["total_rows_scanned"] < 130_000
