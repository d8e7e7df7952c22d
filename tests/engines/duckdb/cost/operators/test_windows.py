from __future__ import annotations

import math
from typing import Any

import pytest

from sql_optim_env.engines.duckdb.cost.operators.windows import read_printed_window


def test_a_printed_window_is_taken_apart() -> None:
    call = read_printed_window(
        "sum(length(md5(email))) OVER (PARTITION BY tier, substr(email, 1, 2) ORDER BY id DESC NULLS LAST "
        "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    )
    assert (call.name, call.frame, call.distinct, call.family) == ("sum", "rows", False, "aggregate")
    assert [key.name for key in call.partitions] == ["tier", "substr"]
    assert [key.name for key in call.orders] == ["id"]


@pytest.mark.parametrize(
    ("printed", "family"),
    [
        ("row_number() OVER (ORDER BY id ASC NULLS LAST)", "rank"),
        ("lag(total) OVER (ORDER BY id ASC NULLS LAST)", "value"),
        ("median(total) OVER (PARTITION BY tier)", "holistic"),
        ("count(DISTINCT tier) OVER (PARTITION BY region)", "distinct"),
    ],
)
def test_functions_fall_into_families(printed: str, family: str) -> None:
    assert read_printed_window(printed).family == family


def test_a_ranking_pays_one_sort(describe: Any) -> None:
    window = describe("SELECT id, rank() OVER (PARTITION BY customer_id ORDER BY created_at) AS r FROM orders").of("WINDOW")
    assert window["window.rank"] == 30_000
    assert window["window.peers"] == 30_000
    assert window["window.sort"] == pytest.approx(30_000 * math.log2(30_000))
    assert window["window.partitioned"] == 30_000


def test_a_whole_partition_aggregate_pays_no_running_frame(describe: Any) -> None:
    window = describe(
        "SELECT id, last_value(total) OVER (PARTITION BY customer_id) AS s, sum(total) OVER (PARTITION BY customer_id) AS t FROM orders"
    ).of("WINDOW")
    assert window["window.constant"] == 30_000
    assert "window.running" not in window
    assert "window.sort" not in window


def test_a_running_frame_by_time_is_a_range_frame(describe: Any) -> None:
    window = describe(
        "SELECT id, sum(total) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS s FROM orders"
    ).of("WINDOW")
    assert window["window.range_frame"] == 30_000
    assert window["window.running"] == 30_000


def test_a_first_value_without_order_streams(describe: Any) -> None:
    described = describe("SELECT id, first_value(total) OVER () AS r FROM orders")
    assert described.of("STREAMING_WINDOW")["window.streaming"] == 30_000


def test_an_expression_inside_a_window_is_paid(describe: Any) -> None:
    plain = describe("SELECT max(length(email)) OVER (PARTITION BY tier) AS m FROM users")
    hidden = describe("SELECT max(length(sha256(email))) OVER (PARTITION BY tier) AS m FROM users")
    added = ("window.expressions", "projection.expressions")
    assert sum(hidden.total(name) for name in added) > sum(plain.total(name) for name in added) + 2000 * 100


def test_counting_all_rows_in_a_window_is_paid_for_every_row(describe: Any) -> None:
    counted = describe("SELECT id, count(*) OVER () AS n FROM orders").of("WINDOW")
    assert counted["window.counted_rows"] == 30_000
    assert "window.constant" not in counted
    assert "window.counted_rows" not in describe("SELECT id, sum(total) OVER () AS n FROM orders").of("WINDOW")


def test_a_window_aggregate_costs_the_same_under_its_other_name(describe: Any) -> None:
    assert (
        describe("SELECT id, mean(total) OVER (ORDER BY id) AS m FROM orders").cost
        == describe("SELECT id, avg(total) OVER (ORDER BY id) AS m FROM orders").cost
    )
