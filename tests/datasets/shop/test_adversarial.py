"""One test for each hazard the adversarial instances must hold. Each is a query that counts its cases over the instance named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from sql_optim_env.datasets import Instance
from sql_optim_env.datasets.shop import adversarial

TIED = "SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY {columns} HAVING count(*) > 1)"


def ties(table: str, columns: str) -> str:
    return TIED.format(table=table, columns=columns)


HAZARDS = {
    "null region": ("mixed", "SELECT count(*) FROM users WHERE region IS NULL"),
    "null product": ("mixed", "SELECT count(*) FROM orders WHERE product_id IS NULL"),
    "null session": ("mixed", "SELECT count(*) FROM events WHERE session_id IS NULL"),
    "a group with nulls only": ("single", "SELECT count(*) FROM (SELECT 1 FROM events GROUP BY user_id HAVING count(session_id) = 0)"),
    "a session of many users": (
        "mixed",
        "SELECT count(*) FROM (SELECT 1 FROM events GROUP BY session_id HAVING count(DISTINCT user_id) > 1)",
    ),
    "a session of one event": (
        "mixed",
        "SELECT count(*) FROM (SELECT 1 FROM events WHERE session_id > 0 GROUP BY session_id HAVING count(*) = 1)",
    ),
    "sessions numbered -1 and 0": (
        "mixed",
        "SELECT count(*) = 2 FROM (SELECT DISTINCT session_id FROM events WHERE session_id IN (-1, 0))",
    ),
    "orders that repeat but for the id": ("mixed", ties("orders", "customer_id, product_id, status, total, created_at")),
    "events that repeat but for the id": ("mixed", ties("events", "user_id, session_id, event_type, occurred_at")),
    "ties of order time": ("ties", ties("orders", "created_at")),
    "ties of order time in a customer": ("mixed", ties("orders", "customer_id, created_at")),
    "ties of order total": ("ties", ties("orders", "total")),
    "ties of order total in a customer": ("mixed", ties("orders", "customer_id, total")),
    "ties of event time in a user": ("mixed", ties("events", "user_id, occurred_at")),
    "ties of sign-up time": ("mixed", ties("users", "created_at")),
    "ties of price": ("mixed", ties("products", "price")),
    "products of one name": ("mixed", ties("products", "name")),
    "the latest orders of a customer tied": (
        "ties",
        "SELECT count(*) FROM (SELECT customer_id FROM orders QUALIFY rank() OVER (PARTITION BY customer_id ORDER BY created_at DESC) = 1)"
        " GROUP BY customer_id ORDER BY 1 DESC LIMIT 1",
    ),
    "the largest total tied": ("ties", "SELECT count(*) - 1 FROM orders WHERE total = (SELECT max(total) FROM orders)"),
    "order and event at one instant": (
        "ties",
        "SELECT count(*) FROM orders o JOIN events e ON e.user_id = o.customer_id AND e.occurred_at = o.created_at",
    ),
    "first instants of months": ("bounds", "SELECT count(*) > 20 FROM orders WHERE date_trunc('month', created_at) = created_at"),
    "last microseconds of months": (
        "bounds",
        "SELECT count(*) > 20 FROM events WHERE last_day(occurred_at) + INTERVAL 1 DAY - INTERVAL 1 MICROSECOND = occurred_at",
    ),
    "a microsecond into a month": (
        "bounds",
        "SELECT count(*) > 20 FROM events WHERE date_trunc('month', occurred_at) + INTERVAL 1 MICROSECOND = occurred_at",
    ),
    "the leap day": ("bounds", "SELECT count(*) FROM orders WHERE created_at::DATE = DATE '2024-02-29'"),
    "the last microsecond of the leap day": (
        "bounds",
        "SELECT count(*) FROM orders WHERE created_at = TIMESTAMP '2024-02-29 23:59:59.999999'",
    ),
    "before 2023": ("mixed", "SELECT count(*) FROM orders WHERE created_at < TIMESTAMP '2023-01-01'"),
    "after 2024": ("mixed", "SELECT count(*) FROM events WHERE occurred_at >= TIMESTAMP '2025-01-01'"),
    "sign-ups after all orders": ("mixed", "SELECT count(*) FROM users WHERE created_at >= TIMESTAMP '2025-06-30'"),
    "orders from before the sign-up": (
        "mixed",
        "SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id WHERE o.created_at < u.created_at",
    ),
    "zero totals": ("mixed", "SELECT count(*) FROM orders WHERE total = 0"),
    "negative totals": ("mixed", "SELECT count(*) FROM orders WHERE total < 0"),
    "totals around a hundred": ("mixed", "SELECT count(DISTINCT total) = 3 FROM orders WHERE total BETWEEN 99.99 AND 100.01"),
    "extreme totals": ("bounds", "SELECT count(DISTINCT total) = 2 FROM orders WHERE abs(total) = 999999.99"),
    "zero and huge prices": ("bounds", "SELECT count(DISTINCT price) = 2 FROM products WHERE price = 0 OR price > 99999"),
    "text beyond ascii": ("mixed", "SELECT count(*) FROM users WHERE email <> strip_accents(email)"),
    "text of several bytes a letter": ("mixed", "SELECT count(*) FROM users WHERE strlen(email) > length(email)"),
    "spellings that differ in case": (
        "mixed",
        "SELECT count(*) FROM products a JOIN products b ON a.name <> b.name AND lower(a.name) = lower(b.name)",
    ),
    "spellings that differ in spaces": (
        "mixed",
        "SELECT count(*) FROM users a JOIN users b ON a.region <> b.region AND trim(a.region) = trim(b.region)",
    ),
    "percent signs": ("mixed", "SELECT count(*) FROM users WHERE contains(email, '%')"),
    "underscores": ("mixed", "SELECT count(*) FROM products WHERE contains(name, '_')"),
    "backslashes": ("mixed", "SELECT count(*) FROM products WHERE contains(name, chr(92))"),
    "quotes": ("mixed", "SELECT count(*) FROM users WHERE contains(email, chr(39))"),
    "separators in text": ("mixed", "SELECT count(*) FROM products WHERE contains(name, ',') OR contains(name, '|')"),
    "the word null": ("mixed", "SELECT count(*) FROM users WHERE upper(region) = 'NULL' OR email = 'null'"),
    "empty text": ("mixed", "SELECT count(*) FROM users WHERE email = '' OR region = ''"),
    "addresses without a separator": ("mixed", "SELECT count(*) FROM users WHERE NOT contains(email, '@')"),
    "addresses with two separators": ("mixed", "SELECT count(*) FROM users WHERE len(string_split(email, '@')) > 2"),
    "addresses that begin like others": (
        "mixed",
        "SELECT count(*) FROM users a JOIN users b ON a.id <> b.id AND a.email <> '' AND starts_with(b.email, a.email)",
    ),
    "customers of one order": ("mixed", "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING count(*) = 1)"),
    "customers of an even number of orders": (
        "mixed",
        "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING count(*) % 2 = 0)",
    ),
    "users without orders": ("mixed", "SELECT count(*) FROM users WHERE id NOT IN (SELECT customer_id FROM orders)"),
    "users without events": ("mixed", "SELECT count(*) FROM users WHERE id NOT IN (SELECT user_id FROM events)"),
    "users with orders but no events": ("mixed", "SELECT count(*) FROM (SELECT customer_id FROM orders EXCEPT SELECT user_id FROM events)"),
    "products never ordered": (
        "mixed",
        "SELECT count(*) FROM products p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.product_id = p.id)",
    ),
    "gaps in the ids": ("mixed", "SELECT max(id) - count(*) FROM orders"),
    "neighbours among the ids": ("mixed", "SELECT count(*) FROM orders a JOIN orders b ON b.id = a.id + 1"),
    "later ids with earlier times": (
        "mixed",
        "SELECT count(*) FROM (SELECT created_at < lag(created_at) OVER (ORDER BY id) AS back FROM orders) WHERE back",
    ),
    "stored in no order of time": (
        "mixed",
        "SELECT count(*) FROM (SELECT occurred_at < lag(occurred_at) OVER (ORDER BY rowid) AS back FROM events) WHERE back",
    ),
    "stored in no order of ids": (
        "mixed",
        "SELECT count(*) FROM (SELECT id < lag(id) OVER (ORDER BY rowid) AS back FROM orders) WHERE back",
    ),
    "half an hour to the microsecond": (
        "bounds",
        "SELECT count(*) FROM events a JOIN events b ON a.user_id = b.user_id AND b.occurred_at = a.occurred_at + INTERVAL 30 MINUTE",
    ),
    "orders but no events": ("orders_only", "SELECT (SELECT count(*) FROM orders) > 0 AND (SELECT count(*) FROM events) = 0"),
    "orders but no products": ("orders_only", "SELECT (SELECT count(product_id) FROM orders) = 0 AND (SELECT count(*) FROM products) = 0"),
    "events but no orders": ("events_only", "SELECT (SELECT count(*) FROM events) > 0 AND (SELECT count(*) FROM orders) = 0"),
    "nothing at all": (
        "empty",
        "SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM products) + (SELECT count(*) FROM events) = 0",
    ),
    "one row a table": (
        "single",
        "SELECT (SELECT count(*) FROM users) = 1 AND (SELECT count(*) FROM orders) = 1 AND (SELECT count(*) FROM events) = 1",
    ),
}


@pytest.mark.parametrize(("name", "sql"), HAZARDS.values(), ids=HAZARDS.keys())
def test_the_hazard_is_there(
    name: str, sql: str, adversarial_instances: tuple[Instance, ...], filled: Callable[[Instance], duckdb.DuckDBPyConnection]
) -> None:
    (instance,) = (instance for instance in adversarial_instances if instance.name == name)
    cases: Any = filled(instance).sql(sql).fetchall()[0][0]
    assert cases is True or cases > 0


def test_small_instances_are_small(adversarial_instances: tuple[Instance, ...]) -> None:
    for instance in adversarial_instances:
        rows = adversarial.rows(instance.profile, instance.seed)
        assert len(rows.users) + len(rows.products) + len(rows.orders) + len(rows.events) < 1_000


def test_no_honest_square_overflows(
    adversarial_instances: tuple[Instance, ...], filled: Callable[[Instance], duckdb.DuckDBPyConnection]
) -> None:
    for instance in adversarial_instances:
        filled(instance).sql(
            "SELECT sum(o.total * o.total), sum(o.total * p.price) FROM orders o LEFT JOIN products p ON p.id = o.product_id"
        ).fetchall()


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match="no adversarial profile 'other'"):
        adversarial.rows("other", 1)
