from __future__ import annotations

from typing import Any

import pytest


def test_computing_is_paid_and_passing_columns_on_is_not(describe: Any) -> None:
    passed = describe("SELECT email, id FROM users")
    computed = describe("SELECT md5(email) AS h, id FROM users")
    assert passed.total("projection.expressions") == 0
    assert computed.total("projection.computed") == 2000
    assert computed.total("projection.expressions") > 2000 * 80


def test_an_alias_does_not_change_the_price_of_an_expression(describe: Any) -> None:
    costs = {describe(f"SELECT md5(email) AS {alias} FROM users").cost for alias in ("m", "email", '"md5(email)"', '"x\'y"', '"#0"')}
    assert len(costs) == 1


def test_a_filter_above_other_operators_is_paid_by_its_rows(describe: Any) -> None:
    described = describe("SELECT customer_id FROM orders GROUP BY 1 HAVING sum(total) > 100")
    rows = described.of("FILTER")
    assert rows["filter.rows"] > 1900
    assert rows["filter.expressions"] > 0


def test_what_an_unnest_computes_is_paid_though_the_profile_never_prints_it(describe: Any) -> None:
    plain = describe("SELECT unnest([email, tier]) AS u FROM users")
    hidden = describe("SELECT unnest([sha256(email), tier]) AS u FROM users")
    unnested = hidden.of("UNNEST")
    assert unnested["unnest.rows"] == 2000
    assert unnested["unnest.elements"] == 4000
    assert hidden.cost > plain.cost + 2000 * 50


def test_unnest_in_from_is_a_call_a_row(describe: Any) -> None:
    described = describe("SELECT count(*) FROM users u, unnest(string_split(u.email, '@')) x(part)")
    assert described.total("lateral_unnest.rows") == 2000
    assert described.total("lateral_unnest.elements") == 4000


def test_list_lengths_are_read_from_the_bytes_of_an_operator(describe: Any) -> None:
    described = describe("SELECT tier, list(id) AS l FROM users GROUP BY 1")
    elements = described.of("RESULT_COLLECTOR")["result.list_elements"]
    assert elements == pytest.approx(2000, rel=0.6)


def test_without_a_plan_a_name_the_input_lacks_is_priced_as_unknown(describe: Any, model: Any, card: Any) -> None:
    described = describe("SELECT md5(email) AS m FROM users")
    blind = model.cost(described.profile, None, card)
    assert blind > model.cost(describe("SELECT email AS m FROM users").profile, None, card) + 2000 * 100


def test_a_list_that_is_handed_on_keeps_its_length(describe: Any) -> None:
    """Its bytes would tell less: an element of a list of INTEGER takes half of what they are taken to be."""
    described = describe("SELECT list_distinct(l) FROM (SELECT product_id AS p, list(customer_id) AS l FROM orders GROUP BY 1)")
    # 30,000 elements in 200 lists, at more than 40 ns each.
    assert described.total("projection.expressions") > 30_000 * 40
