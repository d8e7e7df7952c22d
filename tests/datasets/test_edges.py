from __future__ import annotations

import json
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.datasets.edges import Literals, extract, period_of


def literals(*sqls: str) -> Literals:
    return extract(sqls, "duckdb")


def test_a_number_is_found_with_the_columns_it_is_compared_with() -> None:
    found = literals("SELECT * FROM orders o WHERE o.total > 100.50 AND -5 <= o.product_id AND count(*) OVER () = 7")
    assert found.numbers == (("", "7"), ("product_id", "-5"), ("total", "100.5"))


def test_a_string_is_found_with_the_column_it_is_compared_with() -> None:
    found = literals("SELECT split_part(email, '@', 2) FROM users WHERE tier IN ('gold', 'silver') AND 'x' = region")
    assert found.strings == (("", "@"), ("region", "x"), ("tier", "gold"), ("tier", "silver"))


@pytest.mark.parametrize("text", ["²", "٣", "Ⅷ", "①"])
def test_a_text_that_only_looks_like_a_number_is_a_text(text: str) -> None:
    found = literals(f"SELECT * FROM users u WHERE region = '{text}' AND strftime(created_at, '%m') = '{text}'")
    assert ("region", text) in found.strings


@pytest.mark.parametrize(
    ("condition", "period"),
    [
        ("t >= TIMESTAMP '2024-01-01'", ("2024-01-01T00:00:00", "2024-01-02T00:00:00")),
        ("t::DATE = DATE '2024-02-29'", ("2024-02-29T00:00:00", "2024-03-01T00:00:00")),
        ("t < '2024-01-01 10:30'", ("2024-01-01T10:30:00", "2024-01-01T10:31:00")),
        ("t < CAST('2024-01-01 10:30:15.25' AS TIMESTAMP)", ("2024-01-01T10:30:15.250000", "2024-01-01T10:30:15.260000")),
        ("strftime(t, '%Y-%m') = '2024-12'", ("2024-12-01T00:00:00", "2025-01-01T00:00:00")),
        ("date_trunc('month', t) = TIMESTAMP '2024-12-01'", ("2024-12-01T00:00:00", "2025-01-01T00:00:00")),
        ("DATE '2024-10-01' = date_trunc('quarter', t)", ("2024-10-01T00:00:00", "2025-01-01T00:00:00")),
        ("date_trunc('day', t) = TIMESTAMP '2024-12-01'", ("2024-12-01T00:00:00", "2024-12-02T00:00:00")),
        ("strftime(t, '%Y') = '2023'", None),
        ("t LIKE '2024-02%'", None),
    ],
)
def test_a_text_of_a_date_stands_for_a_period(condition: str, period: tuple[str, str] | None) -> None:
    assert literals(f"SELECT 1 AS a FROM orders WHERE {condition}").periods == ((period,) if period else ())


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("year(t) = 2024 AND month(t) IN (3, 4)", (("month", 3), ("month", 4), ("year", 2024))),
        ("extract(hour FROM t) >= 17", (("hour", 17),)),
        ("date_part('dow', t) = 6", (("dow", 6),)),
        ("dayofweek(t) = 1", (("dow", 1),)),
        ("isodow(t) = 7", (("isodow", 7),)),
        ("dayname(t) = 'Monday'", (("dow", 1),)),
        ("strftime(t, '%m') = '03'", (("month", 3),)),
        ("strftime(t, '%A') = 'Sunday'", (("dow", 0),)),
        ("strftime(t, '%Y') = '2023'", (("year", 2023),)),
        ("year(t) * 100 + month(t) = 202403", ()),
    ],
)
def test_parts_of_timestamps_are_found(condition: str, parts: tuple[tuple[str, int], ...]) -> None:
    assert literals(f"SELECT a FROM orders WHERE {condition}").parts == parts


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("INTERVAL 3 DAY", (0, 3 * 86_400_000_000)),
        ("INTERVAL '30 minutes'", (0, 1_800_000_000)),
        ("INTERVAL (2) MONTHS", (2, 0)),
        ("INTERVAL 1 YEAR", (12, 0)),
        ("INTERVAL '23:59:59.999999'", (0, 86_399_999_999)),
        ("INTERVAL -2 HOURS", (0, -7_200_000_000)),
    ],
)
def test_intervals_are_months_and_microseconds(interval: str, expected: tuple[int, int]) -> None:
    found = literals(f"SELECT a FROM orders WHERE t > x - {interval}")
    assert found.intervals == (expected,)
    assert found.numbers == ()


def test_the_unit_of_a_date_difference_makes_intervals_of_its_bounds() -> None:
    assert literals("SELECT a FROM orders WHERE date_diff('hour', t, u) BETWEEN 1 AND 6").intervals == (
        (0, 3_600_000_000),
        (0, 6 * 3_600_000_000),
    )


def test_limits_are_counts_and_positions_are_nothing() -> None:
    found = literals("SELECT a, b FROM t GROUP BY 1, 2 ORDER BY 1 LIMIT 10 OFFSET 5")
    assert found == Literals(counts=(5, 10))


def test_type_widths_are_not_literals() -> None:
    assert literals("SELECT a::DECIMAL(10,2) FROM t") == Literals()


def test_like_patterns_are_kept_apart_from_strings() -> None:
    found = literals(r"SELECT id FROM users WHERE email LIKE 'user\_%' ESCAPE '\' OR region LIKE 'eu-west'")
    assert found.patterns == (("email", r"user\_%"),)
    assert found.strings == (("region", "eu-west"),)


def test_a_pattern_over_joined_columns_is_taken_apart_at_the_separators() -> None:
    found = literals("SELECT 1 AS a FROM t WHERE email || '/' || kind LIKE '%@web.example/cart'")
    assert ("email", "%@web.example") in found.patterns
    assert ("kind", "cart") in found.strings


def test_the_literals_of_several_queries_are_put_together() -> None:
    assert literals("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 2").numbers == (("b", "1"), ("b", "2"))


def test_text_that_sqlglot_cannot_parse_is_read_by_tokens() -> None:
    found = literals("SELECT lambda x: x = 'cart', INTERVAL 3 DAY, '2024-03', 12 LIMIT 5")
    assert found == Literals(
        numbers=(("", "12"),),
        strings=(("", "cart"),),
        periods=(("2024-03-01T00:00:00", "2024-04-01T00:00:00"),),
        intervals=((0, 3 * 86_400_000_000),),
        counts=(5,),
    )


def test_json_is_canonical_and_complete() -> None:
    sql = "SELECT a FROM t WHERE t > TIMESTAMP '2024-01-01' - INTERVAL 1 DAY AND b = 'é' AND month(t) = 2 AND c LIKE 'x%' AND d < 3 LIMIT 4"
    found = literals(sql)
    assert all(json.loads(found.to_json()).values())
    assert Literals.from_json(found.to_json()) == found
    assert literals(sql, sql).to_json() == found.to_json()


@given(st.datetimes(min_value=datetime(1995, 1, 1), max_value=datetime(2045, 1, 1)), st.sampled_from((4, 7, 10, 13, 16, 19, 26)))
def test_a_period_holds_every_instant_whose_text_begins_like_it(moment: datetime, length: int) -> None:
    period = period_of(moment.isoformat(sep=" ", timespec="microseconds")[:length])
    assert period is not None
    first, after = period
    assert first <= moment < after
    if length == 26:
        assert after - first == timedelta(microseconds=1)


@given(st.text(max_size=12))
def test_a_period_is_only_seen_in_texts_of_digits(text: str) -> None:
    if not text.strip()[:4].isdigit():
        assert period_of(text) is None


@given(st.decimals(min_value=Decimal("-99999"), max_value=Decimal("99999"), places=2))
def test_every_number_is_found_as_it_was_written(number: Decimal) -> None:
    ((column, text),) = literals(f"SELECT id FROM orders WHERE total >= {number:f}").numbers
    assert (column, Decimal(text)) == ("total", number)
