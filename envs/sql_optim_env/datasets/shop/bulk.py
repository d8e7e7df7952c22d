"""The large instances: two years of a shop, skewed and correlated like real data, generated in SQL.

Every random-looking value is ``hash(row number + a constant of the seed and the column)``. ``random()`` is never used, and neither are
``pow``, ``ln`` or ``cos``: only exact integer arithmetic and correctly rounded multiplication, so the same seed gives the same data on
every machine.

How the data leans:

- popularity of users and products is a power law; who buys much also clicks much, and has more often a paid tier;
- days follow growth, a yearly season with a peak in November and December, and a weekly one; hours follow a day's curve;
- nobody orders or clicks before having signed up;
- an order's total comes from the product's price, its status from its age and total;
- events come in sessions: one visit of one user, beginning with a login, a view or a search, ending now and then with a purchase or logout;
- about 5 % of the nullable values are NULL;
- order times are whole minutes and a few events of a session share their millisecond, so ties exist;
- a few users have no orders, a few no events, and some products are never ordered.

A mirrored profile turns the skew of texts around: what most rows hold elsewhere is rare there. The rest is the same, row counts included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Final

import duckdb

from sql_optim_env.datasets.shop.schema import PLANS

__all__ = ["FULL", "HALF", "MIRRORED", "BulkProfile", "fill"]


@dataclass(frozen=True, slots=True)
class BulkProfile:
    """Row counts of a large instance. ``id_step`` > 1 spreads the ids, with gaps, over the same domain that step 1 fills."""

    users: int
    products: int
    orders: int
    events: int
    id_step: int
    mirrored: bool = False


FULL: Final = BulkProfile(users=10_000, products=1_000, orders=500_000, events=1_000_000, id_step=1)
# Half of everything on the same calendar and the same id domain: a rewrite keeps its headroom (a fifth would shrink quadratic
# work 25 times), literals of ids still hit, and gaps in the ids punish whoever took them for row numbers.
HALF: Final = BulkProfile(users=5_000, products=500, orders=250_000, events=500_000, id_step=2)
# As many rows as the public instance, and other ones: whoever knows its counts, ids or frequent values knows nothing here.
MIRRORED: Final = BulkProfile(users=10_000, products=1_000, orders=500_000, events=1_000_000, id_step=1, mirrored=True)

_MIRRORS: Final[Mapping[str, str]] = {
    **{"free": "platinum", "silver": "gold", "gold": "silver", "platinum": "free"},
    **{"none": "annual", "trial": "monthly", "monthly": "trial", "annual": "none"},
    **{
        "delivered": "pending",
        "shipped": "cancelled",
        "paid": "returned",
        "returned": "paid",
        "cancelled": "shipped",
        "pending": "delivered",
    },
    **{"view": "logout", "search": "purchase", "cart": "login", "login": "cart", "purchase": "search", "logout": "view"},
}
"""Frequent values of checked columns and rare ones for each other."""

_FIRST_DAY: Final = "2023-01-01"
_DAYS: Final = 731
_MINUTES: Final = _DAYS * 1440
_EARLY_DAYS: Final = 214  # sign-ups begin on 2022-06-01
_LATE_SHARE: Final = 0.4  # of the users signed up after the first order

_MONTH_WEIGHTS: Final = (90, 88, 95, 97, 99, 98, 94, 96, 99, 102, 116, 120)
_WEEKDAY_WEIGHTS: Final = (88, 100, 98, 101, 106, 118, 104)  # Sunday first

_REGIONS: Final = ("us-east", "eu-west", "us-west", "ap-south", "eu-north", "ap-east", "sa-east", "af-south")
_DOMAINS: Final = ("mail.example", "web.example", "post.example", "office.co.example")
_CATEGORIES: Final = ("kitchen", "garden", "books", "toys", "audio", "office", "sports", "lighting", "travel", "pets", "crafts", "health")
_ADJECTIVES: Final = ("Classic", "Compact", "Deluxe", "Eco", "Folding", "Light", "Mini", "Modern", "Smart", "Solid", "Travel", "Ultra")
_NOUNS: Final = (
    "Backpack",
    "Bottle",
    "Chair",
    "Desk",
    "Drill",
    "Globe",
    "Headset",
    "Kettle",
    "Lamp",
    "Mug",
    "Puzzle",
    "Radio",
    "Rug",
    "Tent",
)

_TAGS: Final = (
    "user_time", "user_domain", "user_region", "user_region_null", "user_tier", "user_plan", "user_gap",
    "product_adjective", "product_noun", "product_category", "product_price", "product_cents", "product_gap",
    "order_minute", "order_minute2", "order_flat", "order_who1", "order_who2", "order_who3", "order_who4", "order_shape",
    "order_what", "order_what_null", "order_price", "order_quantity", "order_discount", "order_status", "order_odd", "order_sort",
    "order_gap",
    "session_minute", "session_minute2", "session_ms", "session_who1", "session_who2", "session_who3", "session_who4",
    "session_length", "session_pace", "session_null", "event_jitter", "event_tie", "event_type", "event_null", "event_gap",
)  # fmt: skip
_TAG_SPAN: Final = 100_000_000  # more than any row number


class _Draws:
    """SQL expressions for values that look random and are a function of the seed, a tag and a row number."""

    def __init__(self, seed: int) -> None:
        self._base = seed * _TAG_SPAN * 1_000

    def raw(self, tag: str, row: str) -> str:
        """A UBIGINT."""
        return f"hash({row} + {self._base + _TAGS.index(tag) * _TAG_SPAN})"

    def below(self, tag: str, row: str, bound: int) -> str:
        """An integer in [0, bound)."""
        return f"({self.raw(tag, row)} % {bound})::INTEGER"

    def unit(self, tag: str, row: str) -> str:
        """A DOUBLE in [0, 1), a multiple of 2^-32."""
        return f"(({self.raw(tag, row)} % 4294967296)::DOUBLE * {2.0**-32!r})"

    def pick(self, tag: str, row: str, values: tuple[str, ...], weights: tuple[int, ...] | None = None, *, mirrored: bool = False) -> str:
        """One of ``values``, by weight; ``mirrored`` gives the weights to the values in reversed order."""
        weights = weights or (1,) * len(values)
        if mirrored:
            weights = weights[::-1]
        listed = [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]
        return f"[{', '.join(repr(value) for value in listed)}][1 + {self.below(tag, row, len(listed))}]"


@dataclass(frozen=True, slots=True)
class _Popularity:
    """A permutation of 0..n-1 that says which index holds which rank of popularity."""

    n: int
    factor: int
    offset: int

    def index_of(self, rank: str) -> str:
        return f"(({rank})::BIGINT * {self.factor} + {self.offset}) % {self.n}"

    def rank_of(self, index: str) -> str:
        return f"(({index} + {self.n - self.offset})::BIGINT * {pow(self.factor, -1, self.n)}) % {self.n}"


def _popularity(n: int, seed: int, *, early: int) -> _Popularity:
    """A permutation under which the eight most popular indexes are below ``early``, so that no seed loses its busiest users."""
    offset = (seed * 7_919 + 17) % early
    factors = (factor for factor in range(n // 7, n) if gcd(factor, n) == 1)
    factor = next(f for f in factors if all((rank * f + offset) % n < early for rank in range(8)))
    return _Popularity(n, factor, offset)


def fill(con: duckdb.DuckDBPyConnection, profile: BulkProfile, seed: int) -> None:
    """Fill the four empty tables of the shop on ``con``."""
    draws = _Draws(seed)
    early = int(profile.users * (1 - _LATE_SHARE))
    people = _popularity(profile.users, seed, early=early)
    goods = _popularity(profile.products, seed + 1, early=profile.products)
    _calendar(con)
    con.execute(_users(profile, draws, people, early))
    con.execute(_products(profile, draws, goods))
    con.execute(_orders(profile, draws, people, goods, early))
    con.execute(_sessions(profile, draws, people, early))
    con.execute(_events(profile, draws))
    con.execute("DROP TABLE temp.calendar; DROP TABLE temp.sessions")


def _calendar(con: duckdb.DuckDBPyConnection) -> None:
    """``temp.calendar``: the days with the weight of each, and the running sum of weights before it."""
    con.execute(f"""
        CREATE TEMP TABLE calendar AS
        SELECT d, w, (sum(w) OVER (ORDER BY d) - w)::BIGINT AS before, (sum(w) OVER ())::BIGINT AS total
        FROM (
            SELECT d, (2000 + d) * {list(_MONTH_WEIGHTS)}[month(day)] * {list(_WEEKDAY_WEIGHTS)}[1 + dayofweek(day)] AS w
            FROM (SELECT d::INTEGER AS d, DATE '{_FIRST_DAY}' + d::INTEGER AS day FROM range({_DAYS}) t(d))
        )""")


def _spread(count: int) -> str:
    """A subquery with ``count`` rows ``(i, d)``: row numbers from 0, spread over the days by their weights."""
    start, end = f"{count}::HUGEINT * before // total", f"{count}::HUGEINT * (before + w) // total"
    return f"(SELECT unnest(range(({start})::BIGINT, ({end})::BIGINT)) AS i, d FROM temp.calendar)"


def _id(draws: _Draws, tag: str, index: str, step: int) -> str:
    """The id of the row with a 0-based index: increasing, and with gaps when ``step`` is above 1."""
    if step == 1:
        return f"({index} + 1)::INTEGER"
    return f"(({index}) * {step} + 1 + {draws.below(tag, index, step)})::INTEGER"


def _mirrored(profile: BulkProfile, value: str) -> str:
    """The value of a checked column as the profile has it."""
    if not profile.mirrored:
        return value
    return f"CASE {value} {' '.join(f'WHEN {one!r} THEN {other!r}' for one, other in _MIRRORS.items())} ELSE {value} END"


def _signup(early: int, users: int, index: str) -> str:
    """Minutes from the first day to the sign-up of the user with this index, give or take half an hour."""
    return (
        f"CASE WHEN {index} < {early} THEN ({index}) * {_EARLY_DAYS * 1440 - 30} // {early} - {_EARLY_DAYS * 1440 - 30}"
        f" ELSE ({index} - {early}) * {_MINUTES - 240} // {users - early} END"
    )


def _users(profile: BulkProfile, draws: _Draws, people: _Popularity, early: int) -> str:
    n = profile.users
    fondness = f"({draws.unit('user_tier', 'i')} * 0.75 + ({people.rank_of('i')})::DOUBLE / {n} * 0.25)"
    region = draws.pick("user_region", "i", _REGIONS, (28, 22, 14, 11, 9, 7, 6, 3), mirrored=profile.mirrored)
    plan = f"""CASE WHEN tier = 'free' THEN {draws.pick("user_plan", "i", PLANS, (14, 4, 1, 1))}
                 WHEN tier = 'silver' THEN {draws.pick("user_plan", "i", PLANS, (6, 3, 8, 3))}
                 ELSE {draws.pick("user_plan", "i", PLANS, (2, 1, 8, 9))} END"""
    return f"""
        INSERT INTO users
        SELECT id, 'user' || id || '@' || {draws.pick("user_domain", "i", _DOMAINS, (11, 5, 3, 1), mirrored=profile.mirrored)},
            {_mirrored(profile, "tier")},
            CASE WHEN {draws.below("user_region_null", "i", 100)} >= 5 THEN {region} END,
            {_mirrored(profile, plan)},
            TIMESTAMP '{_FIRST_DAY}' + to_minutes(minute + {draws.below("user_time", "i", 60)} - 30)
        FROM (
            SELECT i, {_id(draws, "user_gap", "i", profile.id_step)} AS id, ({_signup(early, n, "i")})::BIGINT AS minute,
                CASE WHEN {fondness} < 0.106 THEN 'platinum' WHEN {fondness} < 0.221 THEN 'gold'
                     WHEN {fondness} < 0.39 THEN 'silver' ELSE 'free' END AS tier
            FROM range({n}) t(i)
        )
        ORDER BY i"""


def _products(profile: BulkProfile, draws: _Draws, goods: _Popularity) -> str:
    rise = draws.unit("product_price", "i")
    cents = draws.pick("product_cents", "i", ("99", "95", "50", "00"), (5, 2, 2, 1))
    return f"""
        INSERT INTO products
        SELECT {_id(draws, "product_gap", "i", profile.id_step)},
            {draws.pick("product_adjective", "i", _ADJECTIVES)} || ' ' || {draws.pick("product_noun", "i", _NOUNS)},
            {draws.pick("product_category", "i", _CATEGORIES, (9, 8, 8, 7, 6, 5, 4, 4, 3, 2, 2, 1), mirrored=profile.mirrored)},
            (floor(2 + 118 * {rise} * {rise} * {rise})::INTEGER * 100 + {cents}::INTEGER) * 0.01
        FROM range({profile.products}) t(i)
        ORDER BY i"""


def _who(draws: _Draws, people: _Popularity, early: int, prefix: str, rank: Callable[[str], str]) -> str:
    """Index of the user who acts in ``minute``: by popularity, among those who have signed up by then.

    Three draws, then a uniform one among the users from before the first day. ``rank`` turns a unit draw into a rank.
    """
    cases = []
    for attempt in (1, 2, 3):
        index = people.index_of(rank(draws.unit(f"{prefix}_who{attempt}", "i")))
        cases.append(f"WHEN {_signup(early, people.n, f'({index})')} + 60 < minute THEN {index}")
    return f"(CASE {' '.join(cases)} ELSE {draws.below(f'{prefix}_who4', 'i', early)} END)"


def _orders(profile: BulkProfile, draws: _Draws, people: _Popularity, goods: _Popularity, early: int) -> str:
    # Squares and cubes of a uniform draw give power laws with exponents 1/2 and 2/3; the mixture puts about 2 % of all orders on the
    # busiest customer. The last 2 % of the users by popularity, and the last 3 % of the products, have none.
    def rank(u: str) -> str:
        return f"floor({int(people.n * 0.98)} * {u} * {u} * CASE WHEN {draws.below('order_shape', 'i', 10)} < 3 THEN {u} ELSE 1.0 END)"

    what = draws.unit("order_what", "i")
    product = goods.index_of(f"floor({int(goods.n * 0.97)} * {what} * {what})")
    minute = (
        f"CASE WHEN {draws.below('order_flat', 'i', 7)} = 0 THEN {draws.below('order_minute', 'i', 1440)}"
        f" ELSE 360 + ({draws.below('order_minute', 'i', 1080)} + {draws.below('order_minute2', 'i', 1080)}) // 2 END"
    )
    fresh = f"{_MINUTES} - minute < 43200"
    status = f"""CASE WHEN {fresh}
                THEN CASE WHEN fate < 22 THEN 'pending' WHEN fate < 45 THEN 'paid' WHEN fate < 72 THEN 'shipped'
                          WHEN fate < 92 THEN 'delivered' WHEN fate < 97 THEN 'cancelled' ELSE 'returned' END
                ELSE CASE WHEN fate < 4 THEN 'pending' WHEN fate < 16 THEN 'paid' WHEN fate < 33 THEN 'shipped'
                          WHEN fate < 40 THEN 'cancelled' WHEN fate < CASE WHEN cents > 15000 THEN 54 ELSE 45 END THEN 'returned'
                          ELSE 'delivered' END END"""
    return f"""
        INSERT INTO orders
        SELECT {_id(draws, "order_gap", "n", profile.id_step)}, {_id(draws, "user_gap", "who", profile.id_step)}, product_id,
            {_mirrored(profile, status)},
            (cents * 0.01)::DECIMAL(10,2), TIMESTAMP '{_FIRST_DAY}' + to_minutes(minute)
        FROM (
            SELECT *, row_number() OVER (ORDER BY minute, {draws.raw("order_sort", "i")}, i) - 1 AS n
            FROM (
                SELECT i, minute, who, p.id AS product_id, {draws.below("order_status", "i", 100)} AS fate,
                    CASE {draws.below("order_odd", "i", 1000)} WHEN 0 THEN 0 WHEN 1 THEN 0 WHEN 2 THEN -500
                    ELSE coalesce((p.price * 100)::BIGINT, 500 + {draws.below("order_price", "i", 5500)})
                        * {draws.pick("order_quantity", "i", ("1", "2", "3", "5"), (13, 4, 2, 1))}::INTEGER
                        * (100 - {draws.pick("order_discount", "i", ("0", "5", "10", "25"), (12, 3, 3, 2))}::INTEGER) // 100 END AS cents
                FROM (
                    SELECT i, minute, {_who(draws, people, early, "order", rank)} AS who,
                        CASE WHEN {draws.below("order_what_null", "i", 100)} >= 5 THEN {product} END AS what
                    FROM (SELECT i, d * 1440::BIGINT + {minute} AS minute FROM {_spread(profile.orders)})
                )
                LEFT JOIN (SELECT row_number() OVER (ORDER BY id) - 1 AS k, id, price FROM products) p ON p.k = what
            )
        )
        ORDER BY n"""


def _sessions(profile: BulkProfile, draws: _Draws, people: _Popularity, early: int) -> str:
    """``temp.sessions``: who visits when, and which events (by running number) belong to the visit."""
    count = profile.events * 3 // 25
    # The users without events are others than those without orders: the gap in the ranks lies before the last 3 %.
    n, gap = people.n, int(people.n * 0.97)

    def rank(u: str) -> str:
        drawn = f"floor({int(n * 0.985)} * {u} * {u})"
        return f"({drawn} + CASE WHEN {drawn} < {gap} THEN 0 ELSE {n - int(n * 0.985)} END)"

    length = draws.unit("session_length", "i")
    minute = f"300 + ({draws.below('session_minute', 'i', 1120)} + {draws.below('session_minute2', 'i', 1120)}) // 2"
    return f"""
        CREATE TEMP TABLE sessions AS
        SELECT s, who, start, pace,
            ({profile.events}::HUGEINT * before // total)::BIGINT AS first,
            ({profile.events}::HUGEINT * (before + w) // total)::BIGINT AS last
        FROM (
            SELECT *, row_number() OVER (ORDER BY start, i) AS s, sum(w) OVER (ORDER BY i) - w AS before, sum(w) OVER () AS total
            FROM (
                SELECT i, minute * 60000 + {draws.below("session_ms", "i", 60_000)} AS start,
                    {_who(draws, people, early, "session", rank)} AS who,
                    1 + floor(22 * {length} * {length})::INTEGER AS w, 4000 + {draws.below("session_pace", "i", 86_000)} AS pace
                FROM (SELECT i, d * 1440::BIGINT + {minute} AS minute FROM {_spread(count)})
            )
        )"""


def _events(profile: BulkProfile, draws: _Draws) -> str:
    kind = """CASE WHEN i = first
                THEN CASE WHEN share < 280 THEN 'login' WHEN share < 800 THEN 'view' ELSE 'search' END
                WHEN i = last - 1
                THEN CASE WHEN share < 160 THEN 'logout' WHEN share < 300 THEN 'purchase' WHEN share < 420 THEN 'checkout'
                          WHEN share < 560 THEN 'cart' ELSE 'view' END
                ELSE CASE WHEN share < 420 THEN 'view' WHEN share < 640 THEN 'search' WHEN share < 850 THEN 'cart'
                          WHEN share < 920 THEN 'checkout' WHEN share < 960 THEN 'purchase' WHEN share < 990 THEN 'login'
                          ELSE 'logout' END END"""
    known = f"{draws.below('session_null', 's', 1000)} >= 25 AND {draws.below('event_null', 'i', 1000)} >= 25"
    return f"""
        INSERT INTO events
        SELECT {_id(draws, "event_gap", "n", profile.id_step)}, {_id(draws, "user_gap", "who", profile.id_step)},
            CASE WHEN {known} THEN s::INTEGER END,
            {_mirrored(profile, kind)},
            TIMESTAMP '{_FIRST_DAY}' + to_milliseconds(t)
        FROM (
            SELECT *, row_number() OVER (ORDER BY t, i) - 1 AS n, {draws.below("event_type", "i", 1000)} AS share
            FROM (
                -- A tie takes the place in the visit, and so the time, of the event before it.
                SELECT s, who, first, last, i,
                    start + (place - first) * pace + ({draws.raw("event_jitter", "place")} % pace::UBIGINT)::BIGINT AS t
                FROM (
                    SELECT *, i - CASE WHEN i > first AND {draws.below("event_tie", "i", 50)} = 0 THEN 1 ELSE 0 END AS place
                    FROM (SELECT *, unnest(range(first, last)) AS i FROM temp.sessions)
                )
            )
        )
        ORDER BY n"""
