from __future__ import annotations

from typing import Any

import pytest


def test_an_inner_join_on_one_key_builds_the_small_side(describe: Any) -> None:
    join = describe("SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id").of("HASH_JOIN")
    assert join["direct_join.build_rows"] == 2000
    assert join["direct_join.probe_rows"] == 30_000
    assert join["direct_join.output_rows"] == 30_000


def test_a_join_on_two_keys_is_a_hash_join_with_an_extra_key(describe: Any) -> None:
    join = describe("SELECT count(*) FROM orders a JOIN orders b ON a.id = b.id AND a.customer_id = b.customer_id").of("HASH_JOIN")
    assert join["hash_join.build_rows"] == 30_000
    assert join["hash_join.extra_keys"] == 60_000


def test_text_keys_are_counted_on_both_sides(describe: Any) -> None:
    join = describe("SELECT count(*) FROM users a JOIN users b ON a.email = b.email").of("HASH_JOIN")
    assert (join["hash_join.probe_strings"], join["hash_join.build_strings"]) == (2000, 2000)


def test_functions_in_join_keys_are_paid_on_their_own_side(describe: Any) -> None:
    plain = describe("SELECT count(*) FROM users a JOIN users b ON a.email = b.email")
    hashed = describe("SELECT count(*) FROM users a JOIN users b ON sha256(a.email) = sha256(b.email)")
    assert hashed.total("hash_join.expressions") > 2000 * 2 * 100
    assert plain.total("hash_join.expressions") == 0


def test_a_semi_join_passes_no_build_columns(describe: Any) -> None:
    described = describe("SELECT count(*) FROM orders WHERE customer_id IN (SELECT id FROM users WHERE tier = 'gold')")
    join = described.of("HASH_JOIN")
    assert join["hash_join.semi_probe_rows"] > 0
    assert "hash_join.output_bytes" not in join


def test_a_join_without_equality_is_paid_by_pairs(describe: Any) -> None:
    described = describe("SELECT count(*) FROM products a JOIN products b ON a.price + b.price > 60")
    join = described.of("BLOCKWISE_NL_JOIN")
    assert join["blockwise.pairs"] == 200 * 200
    assert join["blockwise.expressions"] > 0


def test_a_predicate_over_both_sides_of_a_hash_join_is_paid_for_every_pair_the_keys_match(describe: Any) -> None:
    plain = describe("SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id")
    residual = describe("SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id AND md5(o.status || u.email) < '1'")
    assert plain.total("hash_join.expressions") == 0
    # md5 takes far more than 50 ns, and all 30,000 orders meet their user before the predicate drops most of them.
    assert residual.total("hash_join.expressions") > 30_000 * 50


def test_other_comparisons_are_paid_for_every_pair_that_the_equalities_match(describe: Any, shop: Any) -> None:
    sql = "SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.total < b.total"
    matched = shop.execute("SELECT sum(n * n) FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id)").fetchall()[0][0]
    join = describe(sql).of("HASH_JOIN")
    assert join["hash_join.matched_pairs"] == pytest.approx(matched, rel=0.001)
    assert "hash_join.matched_pairs" not in describe("SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id").of(
        "HASH_JOIN"
    )


def test_a_skewed_key_that_meets_a_key_does_not_multiply(describe: Any) -> None:
    join = describe("SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id AND o.created_at > u.created_at").of("HASH_JOIN")
    assert join["hash_join.matched_pairs"] == pytest.approx(30_000, rel=0.01)


def test_a_cross_product_is_paid_by_the_bytes_it_makes(describe: Any) -> None:
    join = describe("SELECT * FROM products a, products b").of("CROSS_PRODUCT")
    assert join["cross_product.output_rows"] == 40_000
    assert join["cross_product.output_bytes"] > 40_000 * 30


def test_a_merge_join_is_paid_by_its_sorts_and_with_two_conditions_by_pairs(describe: Any) -> None:
    one = describe("SELECT count(*) FROM users a JOIN users b ON a.created_at > b.created_at WHERE a.id < 900 AND b.id < 900")
    two = describe(
        "SELECT count(*) FROM users a JOIN users b ON a.created_at > b.created_at AND a.tier <> b.tier WHERE a.id < 900 AND b.id < 900"
    )
    names = {operator.name for operator in one.operators} | {operator.name for operator in two.operators}
    assert "PIECEWISE_MERGE_JOIN" in names
    assert one.total("merge_join.sort") > 0
    assert one.total("merge_join.pairs") == 0
    assert two.total("merge_join.pairs") == pytest.approx(899 * 899)


def test_the_nearest_earlier_row_join_counts_both_inputs(describe: Any) -> None:
    described = describe("SELECT count(*) FROM orders o ASOF JOIN users u ON o.created_at >= u.created_at")
    assert described.of("ASOF_JOIN")["asof_join.input_rows"] == 32_000


def test_columns_after_a_join_follow_the_plans_projection_maps(describe: Any) -> None:
    """The text of the other side arrives at the result with its length, whichever columns the join dropped on the way."""
    described = describe("SELECT o.total, u.email FROM orders o JOIN users u ON u.id = o.customer_id")
    result = described.of("RESULT_COLLECTOR")
    assert result["result.strings"] == 30_000
    assert result["result.long_string_bytes"] == pytest.approx(30_000 * 20.4465, rel=1e-3)
