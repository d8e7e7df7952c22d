from __future__ import annotations

from typing import Any

import pytest

from sql_optim_env.engines.duckdb.cost.expressions import Expr
from sql_optim_env.engines.duckdb.cost.operators.aggregates import read_aggregate


@pytest.mark.parametrize(
    ("printed", "name", "arguments", "filtered"),
    [
        ("count_star()", "count_star", 0, False),
        ("sum(#1)", "sum", 1, False),
        ("array_agg(#1)", "list", 1, False),
        ("count(DISTINCT #1)", "count!distinct", 1, False),
        ("list(#3, #4)", "list!ordered", 2, False),
        ("string_agg(#1)", "string_agg", 1, False),
        ("first(#1 ORDER BY #2 DESC NULLS LAST)", "first!ordered", 1, False),
        ("arg_max(#1, #2)", "arg_max", 2, False),
        ("count_star() FILTER (WHERE #3) Filter: #3", "count_star", 0, True),
        ("combine_aggr(#1) EXPORT_STATE", "combine_aggr", 1, False),
    ],
)
def test_a_printed_aggregate_is_taken_apart(printed: str, name: str, arguments: int, filtered: bool) -> None:
    aggregate = read_aggregate(printed)
    assert (aggregate.name, len(aggregate.arguments), aggregate.filtered) == (name, arguments, filtered)


def test_the_argument_of_an_aggregate_is_a_position() -> None:
    assert read_aggregate("sum(#4)").arguments == (Expr("slot", index=4),)


def test_grouping_counts_rows_groups_and_values(describe: Any) -> None:
    described = describe("SELECT customer_id, created_at, sum(total), count(*) FROM orders GROUP BY 1, 2")
    group = described.of("HASH_GROUP_BY")
    assert group["group.rows"] == 30_000
    assert 29_000 < group["group.groups"] <= 30_000
    assert group["group.group_values"] == 2 * group["group.groups"]
    assert group["group.extra_keys"] == 30_000
    assert group["group.aggregates"] > 0


def test_a_unique_text_key_is_paid_by_its_bytes_and_a_dictionary_key_by_rows(describe: Any) -> None:
    unique = describe("SELECT email, count(*) FROM users GROUP BY 1").of("HASH_GROUP_BY")
    assert unique["group.string_keys"] == 2000
    assert unique["group.string_key_bytes"] == pytest.approx(2000 * 20.4465, rel=1e-3)


def test_an_aggregate_without_groups_has_features_of_its_own(describe: Any) -> None:
    aggregate = describe("SELECT sum(total), max(created_at) FROM orders WHERE total > 1").of("UNGROUPED_AGGREGATE")
    assert aggregate["ungrouped.rows"] > 29_000
    assert aggregate["ungrouped.aggregates"] > 0


def test_a_dearer_aggregate_costs_more_on_the_same_rows(describe: Any) -> None:
    cheap = describe("SELECT customer_id, created_at, max(total) FROM orders GROUP BY 1, 2").total("group.aggregates")
    dear = describe("SELECT customer_id, created_at, median(total) FROM orders GROUP BY 1, 2").total("group.aggregates")
    assert dear > 2 * cheap > 0


def test_a_filtered_aggregate_is_noticed(describe: Any) -> None:
    described = describe("SELECT customer_id, count(*) FILTER (total > 50) FROM orders GROUP BY 1")
    assert described.total("group.filtered_rows") + described.total("perfect_group.filtered_rows") == 30_000


def test_an_expression_below_an_aggregate_is_paid_even_behind_an_alias(describe: Any) -> None:
    plain = describe("SELECT email AS k, count(*) FROM users GROUP BY k")
    hidden = describe("SELECT sha256(email) AS k, count(*) FROM users GROUP BY k")
    assert hidden.total("projection.expressions") > plain.total("projection.expressions") + 2000 * 100
