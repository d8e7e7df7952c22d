from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.grading.audit_answer import answer_credit, edit_distance

SCHEMA = {
    "orders": ("id", "customer_id", "email", "paid_on", "paid_in"),
    "customers": ("id", "label", "mail", "region"),
}
EXISTING = sorted({name for table, columns in SCHEMA.items() for name in (table, *columns)})


def credit(given_: str, expected: str = "email") -> float:
    return answer_credit(given_, expected, SCHEMA, {"orders"})


@pytest.mark.parametrize(
    "text",
    [
        "email",
        " EMAIL\n",
        '"email"',
        "`email`",
        "[email]",
        "'email'.",
        "orders.email",
        'main."orders"."email"',
        "Orders . Email",
        "The column is email.",
        "It is orders.email, without doubt",
        "email (52 % missing)",
        "email in orders",
        "In the table orders it is the column email that is mostly NULL.",
    ],
)
def test_the_right_name_is_right_however_it_is_dressed(text: str) -> None:
    assert credit(text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mail",
        "region",
        "customers.email",
        "email or region",
        "region, email",
        "emails and orders",
        "email in customers",
        "email or orders.region",
        "e m a i l s",
        "something else",
        ", ".join(EXISTING),
        "no idea" * 2_000,
    ],
)
def test_another_name_many_names_and_no_name_are_wrong(text: str) -> None:
    assert credit(text) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("customr_id", "customer_id"), ("custmerid", "customer_id"), ("regoin", "region"), ("lable", "label")],
)
def test_a_slip_of_the_pen_is_nearly_right(text: str, expected: str) -> None:
    assert credit(text, expected) == 0.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cstmrd", "customer_id"),
        ("rgn", "region"),
        ("meil", "email"),
        ("customer id", "customer_id"),
        ("paid_n", "paid_in"),
        ("mii", "mail"),
        ("x", "id"),
    ],
)
def test_what_is_too_far_or_as_near_to_another_name_is_wrong(text: str, expected: str) -> None:
    if text == "x":
        assert edit_distance(text, expected) == 2
    assert credit(text, expected) == 0.0


def test_a_short_name_forgives_one_slip_only() -> None:
    assert answer_credit("rte", "rate", {"t": ("rate",)}) == 0.5
    assert answer_credit("rt", "rate", {"t": ("rate",)}) == 0.0
    assert answer_credit("rats_", "rates", {"t": ("rates",)}) == 0.5


@pytest.mark.parametrize(("text", "worth"), [("2024-03-01", 1.0), (" '2024-03-01' ", 1.0), ("2024-03-02", 0.0), ("on 2024-03-01", 0.0)])
def test_what_is_no_name_must_be_given_exactly(text: str, worth: float) -> None:
    assert credit(text, "2024-03-01") == worth


def test_a_name_that_does_not_exist_gets_no_credit_for_being_near() -> None:
    assert answer_credit("emial", "email", {"orders": ("id",)}) == 0.0


@pytest.mark.parametrize(("one", "other", "distance"), [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)])
def test_the_edit_distance_counts_letters(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


@given(st.lists(st.sampled_from(EXISTING), min_size=2, unique=True), st.sampled_from([", ", " ", "\n", " or "]), st.sampled_from(EXISTING))
def test_no_list_of_names_is_worth_anything(names: list[str], separator: str, expected: str) -> None:
    credit_ = answer_credit(separator.join(names), expected, SCHEMA, {"orders"})
    # A column beside the table that owns it is no list.
    assert credit_ == float(set(names) == {"orders", expected} and expected != "customers")


@given(st.text(max_size=30), st.sampled_from(EXISTING))
def test_any_text_has_a_credit(text: str, expected: str) -> None:
    assert credit(text, expected) in (0.0, 0.5, 1.0)
