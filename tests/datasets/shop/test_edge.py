from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sql_optim_env.datasets import Dataset, Instance
from sql_optim_env.datasets.shop import edge
from sql_optim_env.datasets.shop.small import Rows

Filled = Callable[[Instance], duckdb.DuckDBPyConnection]
TICK = timedelta(microseconds=1)


def rows_for(sql: str, profile: str = "dense", seed: int = 1) -> Rows:
    return edge.rows(profile, seed, edge.payload([sql]))


def test_a_query_finds_rows_in_its_edge_instances(edge_query: dict[str, Any], shop: Dataset, filled: Filled) -> None:
    for instance in shop.edge_instances([edge_query["sql"]]):
        assert filled(instance).sql(f"SELECT count(*) FROM ({edge_query['sql']})").fetchall()[0][0] > 0, instance.name


def test_rows_lie_on_and_beside_every_bound_of_a_query(edge_query: dict[str, Any], shop: Dataset, filled: Filled) -> None:
    table, column = edge_query["table"], edge_query["column"]
    units = {"TIMESTAMP": "INTERVAL 1 MICROSECOND", "DECIMAL(10,2)": "0.01", "INTEGER": "1"}
    for instance in shop.edge_instances([edge_query["sql"]])[:2]:
        con = filled(instance)
        kind = str(con.sql(f"SELECT {column} FROM {table} LIMIT 0").types[0])
        for bound in edge_query["bounds"]:
            value = f"'{bound}'::{kind}"
            three = f"{value}, {value} - {units[kind]}, {value} + {units[kind]}"
            beside = f"SELECT count(DISTINCT {column}) FROM {table} WHERE {column} IN ({three})"
            assert con.sql(beside).fetchall()[0][0] == 3, (instance.name, bound)


def test_intervals_move_the_bounds(filled: Filled, shop: Dataset) -> None:
    sql = "SELECT id FROM events WHERE occurred_at >= TIMESTAMP '2024-05-10' - INTERVAL 36 HOUR"
    times = {event[4] for event in rows_for(sql).events}
    for bound in (datetime(2024, 5, 8, 12), datetime(2024, 5, 10)):
        assert {bound - TICK, bound, bound + TICK} <= times


def test_rows_of_one_owner_lie_an_interval_apart_and_a_microsecond_less_and_more() -> None:
    sql = "SELECT a.id FROM events a JOIN events b ON a.user_id = b.user_id AND b.occurred_at > a.occurred_at - INTERVAL 45 MINUTE"
    times: dict[int, list[datetime]] = {}
    for event in rows_for(sql).events:
        times.setdefault(event[1], []).append(event[4])
    apart = {later - earlier for owned in times.values() for later in owned for earlier in owned}
    span = timedelta(minutes=45)
    assert {span, span - TICK, span + TICK} <= apart


@pytest.mark.parametrize("size", [4, 7, 23])
def test_groups_have_exactly_one_row_less_and_more_than_a_threshold(size: int) -> None:
    orders = rows_for(f"SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) >= {size}").orders
    counts = {sum(order[1] == customer for order in orders) for customer in {order[1] for order in orders}}
    assert {size - 1, size, size + 1} <= counts


def test_ids_that_are_asked_for_exist_and_have_neighbours_and_children() -> None:
    rows = rows_for("SELECT id FROM events WHERE user_id = 714 UNION ALL SELECT id FROM orders WHERE product_id = 91")
    assert {713, 714, 715} <= {user[0] for user in rows.users}
    assert {90, 91, 92} <= {product[0] for product in rows.products}
    assert sum(event[1] == 714 for event in rows.events) > 5
    assert sum(order[2] == 91 for order in rows.orders) > 2


def test_sparse_instances_have_gaps_between_the_ids_asked_for_and_dense_ones_have_runs() -> None:
    sql = "SELECT a.id FROM orders a JOIN orders b ON b.id = a.id + 1 WHERE a.id BETWEEN 7000 AND 7100"
    assert {7000, 7001, 7002, 7003} <= {order[0] for order in rows_for(sql).orders}
    sparse = {order[0] for order in rows_for(sql, "sparse").orders}
    assert {6999, 7000, 7001, 7099, 7100, 7101} <= sparse
    assert not {7002, 7003, 7097, 7098} & sparse


def test_free_text_comes_in_several_spellings() -> None:
    query = "SELECT id FROM users WHERE region = 'sa-east'"
    regions = {user[3] for profile in edge.PROFILES for user in rows_for(query, profile).users}
    assert {"sa-east", "SA-EAST", " sa-east", "sa-east ", "sa-eastx", "xsa-east", "sa-eas"} <= regions


def test_addresses_match_and_nearly_match_a_pattern() -> None:
    emails = {user[1] for user in rows_for("SELECT id FROM users WHERE email LIKE 'vip_%@corp.example'", "sparse").users}
    assert {"vip1@corp.example", "vip_%@corp.example"} <= emails


def test_a_third_of_the_rows_has_all_texts_that_are_asked_for_at_once() -> None:
    sql = "SELECT id FROM users WHERE tier = 'platinum' AND plan = 'trial' AND region = 'sa-east'"
    users = rows_for(sql, "sparse").users
    assert sum(user[2:5] == ("platinum", "sa-east", "trial") for user in users) >= len(users) // 10


def test_a_query_without_literals_gets_the_general_hazards() -> None:
    rows = rows_for("SELECT customer_id, sum(total) FROM orders GROUP BY customer_id")
    assert {Decimal("0.00"), Decimal("-5.00")} <= {order[4] for order in rows.orders}
    assert len({order[5] for order in rows.orders}) > 50


def test_different_queries_get_different_fillers() -> None:
    assert rows_for("SELECT id FROM orders WHERE total > 1").users != rows_for("SELECT id FROM orders WHERE total > 2").users


@settings(max_examples=25, deadline=None)
@given(st.datetimes(min_value=datetime(2023, 1, 1), max_value=datetime(2024, 12, 31)), st.sampled_from(edge.PROFILES))
def test_every_instant_has_rows_on_it_and_a_microsecond_beside_it(moment: datetime, profile: str) -> None:
    rows = rows_for(f"SELECT id FROM events WHERE occurred_at >= TIMESTAMP '{moment}'", profile)
    for times in ({order[5] for order in rows.orders}, {event[4] for event in rows.events}):
        assert {moment - TICK, moment, moment + TICK} <= times


@settings(max_examples=25, deadline=None)
@given(st.decimals(min_value=-10_000, max_value=1_000_000, places=2), st.sampled_from(edge.PROFILES))
def test_every_threshold_has_totals_on_it_and_a_cent_beside_it(threshold: Decimal, profile: str) -> None:
    totals = {order[4] for order in rows_for(f"SELECT id FROM orders WHERE total >= {threshold:f}", profile).orders}
    cent = Decimal("0.01")
    assert {threshold - cent, threshold, threshold + cent} <= totals


@settings(max_examples=25, deadline=None)
@given(
    st.integers(-(2**40), 2**40),
    st.text(max_size=8).filter(lambda text: "\0" not in text),
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9998, 1, 1)),
    st.sampled_from(edge.PROFILES),
)
def test_whatever_the_literals_the_rows_obey_the_schema(number: int, text: str, moment: datetime, profile: str) -> None:
    quoted = text.replace("'", "''")
    condition = f"id = {number} OR total < {number} OR region = '{quoted}' OR email LIKE '%{quoted}_' OR created_at < '{moment}'"
    rows = edge.rows(profile, 1, edge.payload([f"SELECT * FROM users u WHERE {condition} LIMIT {abs(number)}"]))
    users, products = {user[0] for user in rows.users}, {product[0] for product in rows.products}
    assert len(users) == len(rows.users) and len({user[1] for user in rows.users}) == len(users)
    assert all(user[1] == user[1].lower() for user in rows.users)
    assert all(order[1] in users and order[2] in products | {None} for order in rows.orders)
    assert all(event[1] in users for event in rows.events)
    assert all(abs(order[4]) < 10**8 for order in rows.orders) and all(0 <= product[3] < 10**8 for product in rows.products)
    assert all(0 < row[0] < 2**31 for table in (rows.users, rows.products, rows.orders, rows.events) for row in table)
    assert all(-(2**31) <= (event[2] or 0) < 2**31 for event in rows.events)
