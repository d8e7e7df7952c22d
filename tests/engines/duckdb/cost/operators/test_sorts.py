from __future__ import annotations

import math
from typing import Any

import pytest

from sql_optim_env.engines.duckdb.cost.operators.sorts import strip_direction


def test_the_direction_is_no_part_of_a_sort_key() -> None:
    assert strip_direction("lower(status) DESC NULLS LAST") == "lower(status)"
    assert strip_direction("total ASC") == "total"


def test_a_full_sort_is_paid_by_comparisons_and_payload(describe: Any) -> None:
    sort = describe("SELECT id, total, status FROM orders ORDER BY total, id").of("ORDER_BY")
    assert sort["sort.rows"] == 30_000
    assert sort["sort.comparisons"] == pytest.approx(30_000 * math.log2(30_000))
    assert sort["sort.extra_keys"] == 30_000
    assert sort["sort.bytes"] > 30_000 * 8


def test_a_long_text_key_is_compared_beyond_its_prefix(describe: Any) -> None:
    sort = describe("SELECT id FROM users ORDER BY email").of("ORDER_BY")
    assert sort["sort.string_keys"] == 2000
    assert sort["sort.long_string_comparisons"] == pytest.approx(2000 * math.log2(2000))


def test_a_top_n_is_paid_by_insertions_not_by_a_sort(describe: Any) -> None:
    described = describe("SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 10 OFFSET 5")
    top = described.of("TOP_N")
    assert top["top_n.rows"] == 30_000
    assert top["top_n.insertions"] == pytest.approx(15 * (1 + math.log(30_000 / 15)))


def test_a_function_in_a_sort_key_is_paid(describe: Any) -> None:
    plain = describe("SELECT id, email FROM users ORDER BY email")
    hidden = describe("SELECT id, email FROM users ORDER BY sha256(email)")
    added = ("sort.expressions", "projection.expressions")
    assert sum(hidden.total(name) for name in added) > sum(plain.total(name) for name in added) + 2000 * 100


def test_rows_that_arrive_in_the_wanted_order_are_compared_once(describe: Any) -> None:
    assert describe("SELECT id, total FROM orders ORDER BY id, total").of("ORDER_BY")["sort.comparisons"] == 30_000
    reversed_order = describe("SELECT id, total FROM orders ORDER BY id DESC, total").of("ORDER_BY")
    assert reversed_order["sort.comparisons"] == pytest.approx(30_000 * math.log2(30_000))


def test_a_top_n_of_the_newest_rows_inserts_every_row_when_they_arrive_oldest_first(describe: Any) -> None:
    newest = describe("SELECT id, total FROM orders WHERE total > 5 ORDER BY id DESC LIMIT 10").of("TOP_N")
    assert newest["top_n.reversed_rows"] == newest["top_n.rows"] > 20_000
    assert "top_n.reversed_rows" not in describe("SELECT id, total FROM orders WHERE total > 5 ORDER BY id LIMIT 10").of("TOP_N")


def test_order_survives_the_probe_side_of_a_join_and_not_its_build_side(describe: Any) -> None:
    join = "FROM orders o JOIN users u ON u.id = o.customer_id"
    probe = describe(f"SELECT o.total, u.email {join} ORDER BY o.id DESC LIMIT 10").of("TOP_N")
    build = describe(f"SELECT o.total, u.email {join} ORDER BY u.id DESC LIMIT 10").of("TOP_N")
    assert probe["top_n.reversed_rows"] == 30_000
    assert "top_n.reversed_rows" not in build
