"""Adversarial instances: small databases in which everything happens that the declared constraints allow."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from sql_optim_env.datasets.shop.grow import Pools, Shape, grow
from sql_optim_env.datasets.shop.small import Dice, Rows

__all__ = ["CATEGORIES", "EMAILS", "NAMES", "PROFILES", "REGIONS", "TIMES", "TOTALS", "rows"]

PROFILES: Final = ("mixed", "ties", "bounds", "orders_only", "events_only", "empty", "single", "uniform", "otherwise_uniform")

_TICK: Final = timedelta(microseconds=1)
_MONTHS: Final = (*(datetime(year, month, 1) for year in (2023, 2024) for month in range(1, 13)), datetime(2025, 1, 1))

_ORDINARY_TIMES: Final = (
    datetime(2022, 6, 15, 8, 30),
    datetime(2023, 2, 14, 9, 15),
    datetime(2023, 7, 4, 12, 0),
    datetime(2023, 11, 24, 18, 45, 30),
    datetime(2024, 3, 5, 10, 0),
    datetime(2024, 3, 15, 13, 37, 11, 250_000),
    datetime(2024, 8, 20, 23, 59, 59),
    datetime(2024, 10, 9, 6, 5, 4, 321),
    datetime(2024, 11, 30, 0, 0, 0, 1),
    datetime(2024, 12, 24, 17, 30),
    datetime(2024, 12, 30, 11, 11),
    datetime(2024, 12, 31, 12, 0),
)
_EDGE_TIMES: Final = (
    *(month + shift for month in _MONTHS for shift in (-_TICK, timedelta(), _TICK)),
    datetime(2023, 2, 28, 23, 59, 59, 999_999),
    datetime(2024, 2, 28, 23, 59, 59, 999_999),
    datetime(2024, 2, 29),
    datetime(2024, 2, 29, 12),
    datetime(2024, 2, 29, 23, 59, 59, 999_999),
    # Where clocks were changed in Europe and America: hours that some time zone skips or has twice, and midnights seen from another zone.
    *(datetime(2024, month, day, hour, 30) for month, day in ((3, 10), (3, 31), (10, 27), (11, 3)) for hour in (0, 1, 2)),
    *(datetime(2024, 12, 31, hour, 30) for hour in (10, 19, 22, 23)),
    *(datetime(2025, 1, 1, hour, 30) for hour in (0, 1, 5, 13)),
    datetime(2024, 12, 29, 23, 59, 59),
    datetime(2024, 12, 30),
    datetime(2024, 12, 31, 23, 59, 59),
    datetime(2025, 2, 28),
    datetime(2025, 7, 1),
)
TIMES: Final = _ORDINARY_TIMES + _EDGE_TIMES

TOTALS: Final = tuple(
    Decimal(text)
    for text in (
        "0.00", "-0.01", "-5.00", "-250.00", "0.01", "0.50", "4.99", "5.00", "5.01", "9.99", "10.00", "19.90", "20.00",
        "49.99", "50.00", "99.99", "100.00", "100.01", "199.99", "200.00", "200.01", "499.99", "500.00", "500.01", "1234.56",
    )
)  # fmt: skip
# Far from everything else, but squares and products with a price still fit a DECIMAL(18,4): no honest query may overflow here.
_EXTREME_TOTALS: Final = (Decimal("999999.99"), Decimal("-999999.99"))

EMAILS: Final = (
    "", "user1", "user12", "user1@mail.example", "user12@mail.example", "user123@mail.example", "user1@web.example.mail.example",
    "user2@", "@web.example", "user3@a@b.example", "user%@mail.example", "user_@web.example", "user\\@mail.example", "user 4@mail.example",
    " user5@mail.example", "user6@mail.example ", "o'brien@mail.example", "..@..", "müller@büro.example", "straße@mail.example",
    "用户@邮件.example", "🙂@post.example", "user7,user8@mail.example", "user9|gold@mail.example", "null", "user%", "user_",
)  # fmt: skip
REGIONS: Final = (
    "us-east", "eu-west", "sa-east", "US-East", "us-east ", " us-east", "us_east", "us%", "", "île-de-france", "ÎLE-DE-FRANCE", "NULL",
    "us-east-1", "us",
)  # fmt: skip
NAMES: Final = (
    "Lamp", "lamp", "LAMP", " Lamp", "Lamp ", "Lamp", "Desk Lamp", "100% Cotton", "100 Cotton", "under_score", "underXscore", "back\\slash",
    "O'Neill Rug", "", "Café", "Cafe", "茶壶", "Kettle, large", "Kettle|large", "🙂 Mug",
)  # fmt: skip
CATEGORIES: Final = ("books", "Books", "books ", "kitchen", "toys", "audio", "BÜRO", "büro", "a%b", "a_b", "")
_PRICES: Final = tuple(Decimal(text) for text in ("0.00", "0.01", "4.99", "5.00", "9.99", "10.00", "99.99", "100.00", "999999.99"))


# Sign-ups may come after everything: an interval from there to a date of a query is inverted.
_LATE: Final = (datetime(2025, 6, 30, 23, 59, 59, 999_999), datetime(2025, 7, 15), datetime(2026, 1, 1, 8))


def _pools(times: tuple[datetime, ...], totals: tuple[Decimal, ...]) -> Pools:
    return Pools(
        user_times=times + _LATE * 2,
        order_times=times,
        event_times=times,
        totals=totals,
        prices=_PRICES,
        emails=EMAILS,
        regions=REGIONS,
        names=NAMES,
        categories=CATEGORIES,
        group_sizes=(3, 4, 5, 10),
        steps=(
            _TICK,
            timedelta(seconds=1),
            timedelta(minutes=30),
            timedelta(hours=1),
            timedelta(days=1),
            timedelta(days=7),
            timedelta(days=30),
        ),
    )


_TIES: Final = Pools(
    user_times=(datetime(2023, 1, 1), datetime(2024, 7, 1)),
    order_times=(
        datetime(2023, 8, 1, 9),
        datetime(2024, 2, 29),
        datetime(2024, 10, 1),
        datetime(2024, 12, 25, 10),
        datetime(2024, 12, 31, 9),
    ),
    event_times=(
        datetime(2023, 9, 1),
        datetime(2024, 3, 5, 10),
        datetime(2024, 10, 1),
        datetime(2024, 12, 25, 10),
        datetime(2024, 12, 31, 9),
    ),
    totals=tuple(Decimal(text) for text in ("10.00", "10.00", "20.00", "100.00", "500.00")),
    prices=(Decimal("10.00"), Decimal("20.00")),
    emails=("user1@mail.example", "user2@mail.example"),
    regions=("eu-west", "sa-east"),
    names=("Lamp", "Mug"),
    categories=("books", "toys"),
    session_ids=(1, 2, 3),
    steps=(timedelta(minutes=30), timedelta(days=1)),
)

_UNIFORM: Final = {
    "uniform": ("gold", "annual", "delivered", "purchase"),
    "otherwise_uniform": ("free", "monthly", "cancelled", "checkout"),
}
"""The only tier, plan, status and type of event; every value is absent from one of the two."""


def rows(profile: str, seed: int) -> Rows:
    """The rows of the adversarial instance of that profile."""
    dice = Dice(profile, seed)
    if profile == "mixed":
        return grow(dice, _pools(TIMES, TOTALS), Shape(users=60, products=24, orders=260, events=360, nulls=20))
    if profile == "ties":
        return grow(dice, _TIES, Shape(users=12, products=5, orders=220, events=260, repeats=25, chained=5, same_time=30, childless=10))
    if profile == "bounds":
        return grow(
            dice,
            _pools(_EDGE_TIMES, TOTALS + _EXTREME_TOTALS),
            Shape(users=16, products=12, orders=300, events=320, repeats=3, same_time=3),
        )
    if profile == "orders_only":
        return grow(dice, _pools(TIMES, TOTALS), Shape(users=12, products=0, orders=60, events=0))
    if profile == "events_only":
        return grow(dice, _pools(TIMES, TOTALS), Shape(users=12, products=6, orders=0, events=60))
    if profile in _UNIFORM:
        # Most values of the checked columns never occur: an aggregate over one of them is NULL, a join with its rows empty.
        tier, plan, status, kind = _UNIFORM[profile]
        made = grow(dice, _pools(TIMES, TOTALS), Shape(users=24, products=8, orders=120, events=160, nulls=40))
        return Rows(
            users=[(number, email, tier, region, plan, at) for number, email, _, region, _, at in made.users],
            products=made.products,
            orders=[(number, user, product, status, total, at) for number, user, product, _, total, at in made.orders],
            events=[(number, user, session, kind, at) for number, user, session, _, at in made.events],
        )
    if profile == "single":
        when = datetime(2024, 12, 31, 9)
        return Rows(
            users=[(7, "user7@mail.example", "gold", None, "trial", datetime(2024, 12, 31, 9))],
            products=[(3, "Lamp", "books", Decimal("10.00"))],
            orders=[(5, 7, None, "returned", Decimal("10.00"), when)],
            events=[(9, 7, None, "logout", when)],
        )
    if profile == "empty":
        return Rows()
    raise ValueError(f"no adversarial profile {profile!r}")
