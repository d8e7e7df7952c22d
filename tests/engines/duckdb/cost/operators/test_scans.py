from __future__ import annotations

from typing import Any

import pytest

from sql_optim_env.engines.duckdb.cost.operators.scans import LEAST_PASSES

ROWS = 30_000


def test_an_unfiltered_scan_counts_every_column_by_its_encoding(describe: Any) -> None:
    scan = describe("SELECT id, status, total, created_at FROM orders").of("SEQ_SCAN")
    assert scan["scan.rows"] == ROWS
    assert scan["scan.integer_rows"] == ROWS
    assert scan["scan.dictionary_rows"] == ROWS
    assert scan["scan.decimal_rows"] == ROWS
    assert scan["scan.time_rows"] == ROWS
    assert "scan.filter_rows" not in scan


def test_a_unique_text_column_is_scanned_by_its_bytes(describe: Any) -> None:
    scan = describe("SELECT email FROM users").of("SEQ_SCAN")
    assert scan["scan.string_rows"] == 2000
    assert scan["scan.string_bytes"] == pytest.approx(2000 * 20.4465, rel=1e-3)


def test_later_conjuncts_are_evaluated_on_fewer_rows(describe: Any) -> None:
    scan = describe("SELECT count(*) FROM orders WHERE total > 150 AND customer_id < 100").of("SEQ_SCAN")
    passed = scan["scan.filtered_rows"]
    assert 0 < passed < ROWS * 0.05
    assert scan["scan.filter_rows"] == pytest.approx(ROWS + ROWS * max((passed / ROWS) ** 0.5, LEAST_PASSES))


def test_rows_that_a_dictionary_predicate_keeps_are_counted_apart(describe: Any) -> None:
    scan = describe("SELECT count(*), sum(id) FROM orders WHERE status = 'paid'").of("SEQ_SCAN")
    assert scan["scan.dictionary_passed_rows"] == scan["scan.filtered_rows"] > 0
    assert "scan.dictionary_passed_rows" not in describe("SELECT sum(id) FROM orders WHERE total > 150").of("SEQ_SCAN")


def test_a_column_no_filter_reads_is_gathered_for_rows_that_pass(describe: Any) -> None:
    described = describe("SELECT status, total FROM orders WHERE customer_id = 77")
    scan = described.of("SEQ_SCAN")
    assert scan["scan.gathered_rows"] == 2 * scan["scan.filtered_rows"]
    assert scan["scan.decimal_rows"] == 8 * scan["scan.filtered_rows"]


def test_a_filter_function_is_paid_in_nanoseconds(describe: Any) -> None:
    cheap = describe("SELECT count(*) FROM users WHERE email > 'user15'").total("scan.filter_expressions")
    dear = describe("SELECT count(*) FROM users WHERE md5(email) > 'user15'").total("scan.filter_expressions")
    assert dear > 10 * cheap > 0


def test_comparing_a_column_stored_in_order_is_decided_by_row_groups(describe: Any) -> None:
    assert describe("SELECT count(status) FROM orders WHERE id < 500").of("SEQ_SCAN").get("scan.filter_rows", 0.0) == 0.0


def test_a_generated_series_counts_its_rows(describe: Any) -> None:
    assert describe("SELECT sum(i) FROM range(5000) r(i)").total("range.rows") == 5000
