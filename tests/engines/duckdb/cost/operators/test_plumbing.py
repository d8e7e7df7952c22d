from __future__ import annotations

from typing import Any


def test_a_result_is_paid_by_its_rows_values_and_bytes(describe: Any) -> None:
    result = describe("SELECT id, tier FROM users").of("RESULT_COLLECTOR")
    assert result["result.rows"] == 2000
    assert result["result.values"] == 4000
    assert result["result.strings"] == 2000


def test_a_table_expression_read_twice_is_stored_or_streamed(describe: Any) -> None:
    described = describe(
        "WITH c AS MATERIALIZED (SELECT customer_id, total FROM orders WHERE total > 20) "
        "SELECT (SELECT count(*) FROM c), (SELECT max(total) FROM c)"
    )
    assert described.total("cte.stored_rows") + described.total("cte.streamed_rows") > 20_000
    assert described.total("cte_scan.rows") > 40_000


def test_columns_of_a_stored_table_keep_their_lengths(describe: Any) -> None:
    described = describe("WITH c AS MATERIALIZED (SELECT email, id FROM users) SELECT a.email FROM c a JOIN c b ON a.id = b.id + 1")
    assert described.of("RESULT_COLLECTOR")["result.long_string_bytes"] > 1999 * 20


def test_a_union_passes_on_the_rows_of_its_inputs(describe: Any) -> None:
    described = describe("SELECT id FROM users UNION ALL SELECT id FROM orders")
    assert described.total("union.rows") == 32_000
    assert described.of("RESULT_COLLECTOR")["result.rows"] == 32_000


def test_a_limit_stops_the_scan_and_so_the_cost(describe: Any) -> None:
    few, all_rows = describe("SELECT id, status FROM orders LIMIT 10"), describe("SELECT id, status FROM orders")
    assert few.total("limit.rows") == 10
    assert few.total("scan.rows") < all_rows.total("scan.rows") / 10
    assert few.cost < all_rows.cost


def test_recursion_is_marked_as_such(describe: Any) -> None:
    described = describe("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 50) SELECT sum(n) FROM t")
    assert described.total("recursion.rows") == 50
    assert described.total("recursion.operators") > 0


def test_every_operator_has_a_constant_part(describe: Any) -> None:
    described = describe("SELECT count(*) FROM orders WHERE total > 5")
    assert described.total("operator.count") == len(described.operators)
