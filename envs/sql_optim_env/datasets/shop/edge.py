"""Edge instances: small databases around the literals of a task's queries.

Rows lie just inside, on and just outside every date and time range (a microsecond, a second, an hour and a day away, and moved by every
interval the queries use), at every threshold and one unit either side, and hold every text in several spellings. Literals decide most of
the values, so that the queries they come from find rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise, product
from typing import Final

from sql_optim_env.datasets.edges import Literals, extract
from sql_optim_env.datasets.shop import adversarial, schema
from sql_optim_env.datasets.shop.grow import SESSION_IDS, Pools, Shape, grow
from sql_optim_env.datasets.shop.small import Dice, Rows

__all__ = ["PROFILES", "payload", "rows"]

_SHAPES: Final = {
    "dense": Shape(users=30, products=16, orders=340, events=440),
    "ties": Shape(users=10, products=5, orders=240, events=300, repeats=25, chained=10, same_time=25, childless=30),
    "sparse": Shape(users=90, products=60, orders=140, events=180, nulls=35, repeats=3, chained=20, same_time=5, childless=40),
    # Many owners with a few rows each, all within a day of a literal: nothing that the owner did at another time hides a moved boundary.
    "bursts": Shape(users=80, products=20, orders=300, events=320, repeats=5, chained=85, same_time=10, childless=10),
}
PROFILES: Final = tuple(_SHAPES)

_TICK: Final = timedelta(microseconds=1)
_SECOND: Final = timedelta(seconds=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_NEAR: Final = (-_TICK, timedelta(), _TICK)
_AROUND: Final = (*_NEAR, -_SECOND, _SECOND, -_HOUR, _HOUR, -_DAY, -_DAY - _TICK, _DAY, _DAY - _TICK)
_WITHIN_A_DAY: Final = (_TICK, timedelta(minutes=30), timedelta(hours=3), timedelta(hours=5))
_FIRST: Final = datetime(2022, 6, 1)
_AFTER: Final = datetime(2025, 1, 1)
_MAX_MARKS: Final = 24
_MAX_ID: Final = 2_000_000_000
_MAX_GROUP: Final = 40
_CENT: Final = Decimal("0.01")
_MONEY_LIMIT: Final = Decimal(10) ** 8

_TIME_COLUMNS: Final = frozenset(column for _, column in schema.TIME_COLUMNS)
_CHECKED: Final = frozenset(value for domain in schema.DOMAINS.values() for value in domain)
_DEFAULT_TEXTS: Final = {
    "email": adversarial.EMAILS,
    "region": adversarial.REGIONS,
    "name": adversarial.NAMES,
    "category": adversarial.CATEGORIES,
}
_FREE_TEXT: Final = tuple(_DEFAULT_TEXTS)
_ID_COLUMNS: Final = {
    "user": ("id", "customer_id", "user_id"),
    "product": ("id", "product_id"),
    "order": ("id",),
    "event": ("id",),
    "session": ("session_id",),
}


def payload(sqls: Sequence[str]) -> str:
    """Canonical JSON of the literals of ``sqls``."""
    return extract(sqls, "duckdb").to_json()


def rows(profile: str, seed: int, payload: str, shape: Shape | None = None) -> Rows:
    """The rows of the edge instance of that profile around the literals in ``payload``; ``shape`` makes it larger or smaller than usual."""
    literals = Literals.from_json(payload)
    shape = shape or _SHAPES[profile]
    # The literals are part of the key: two tasks do not share their fillers.
    dice = Dice(profile, seed, payload)
    return grow(dice, _pools(literals, dice, profile, shape), shape)


def _pools(literals: Literals, dice: Dice, profile: str, shape: Shape) -> Pools:
    times = tuple(_times(literals, dice, profile))
    texts = {column: tuple(_texts(literals, column, dice)) for column in _FREE_TEXT}
    ids = {kind: tuple(_ids(literals, columns, runs=profile != "sparse")) for kind, columns in _ID_COLUMNS.items()}
    return Pools(
        user_times=times + tuple(dice.shuffled(adversarial.TIMES)[:20]),
        order_times=times,
        event_times=times,
        first_times=tuple(mark + distance for mark in _marks(literals) for distance in _NEAR),
        totals=tuple(_money(literals, "total", dice, negative=True)),
        prices=tuple(_money(literals, "price", dice, negative=False)),
        emails=tuple(dict.fromkeys(text.lower() for text in texts["email"]))[: shape.users * 2 // 3],
        # An empty text is not NULL: often enough to meet every other condition.
        regions=(*texts["region"], "", "", ""),
        names=texts["name"],
        categories=texts["category"],
        user_ids=ids["user"][: shape.users * 2 // 3],
        product_ids=ids["product"][: shape.products * 2 // 3],
        order_ids=ids["order"],
        event_ids=ids["event"],
        session_ids=ids["session"] * (6 if profile == "sparse" else 3) + SESSION_IDS,
        group_sizes=tuple(_group_sizes(literals)),
        steps=_WITHIN_A_DAY if profile == "bursts" else tuple(_steps(literals)),
        wanted=_wanted(literals),
    )


def _shift(moment: datetime, months: int, microseconds: int) -> datetime:
    """``moment`` plus an interval, with days clamped to the month's end as SQL does."""
    if months:
        year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
        after = datetime(year + (month + 1) // 12, (month + 1) % 12 + 1, 1)
        moment = moment.replace(year=year, month=month + 1, day=min(moment.day, (after - _DAY).day))
    return moment + timedelta(microseconds=microseconds)


def _marks(literals: Literals) -> list[datetime]:
    """The instants at which a comparison may turn, in order of importance."""
    marks = [datetime.fromisoformat(end) for period in literals.periods for end in period]
    for column, text in literals.numbers:
        if column == "" or column in _TIME_COLUMNS:
            marks += _marks_of_number(Decimal(text))
    marks += _marks_of_parts(literals.parts, tuple(marks))
    moved = [_shift(mark, sign * months, sign * us) for mark in marks for months, us in literals.intervals for sign in (-1, 1)]
    return list(dict.fromkeys(mark for mark in marks + moved if 1990 <= mark.year <= 2050))[:_MAX_MARKS]


def _marks_of_number(number: Decimal) -> Iterator[datetime]:
    """Instants written as a number: 202403, 20240305, or an epoch in seconds, milliseconds or microseconds."""
    if number != number.to_integral_value():
        return
    digits = str(int(number))
    if re.fullmatch(r"(19|20)\d\d(0[1-9]|1[0-2])((0[1-9]|[12]\d|3[01]))?", digits):
        year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:] or 1)
        start = datetime(year, month, 1) + _DAY * (day - 1)
        yield start
        yield start + _DAY if digits[6:] else _shift(start, 1, 0)
    for scale in (1, 1_000, 1_000_000):
        if 1_400_000_000 <= number / scale <= 2_000_000_000:
            yield datetime(1970, 1, 1) + timedelta(microseconds=int(number) * 1_000_000 // scale)


def _marks_of_parts(parts: Sequence[tuple[str, int]], marks: Sequence[datetime]) -> Iterator[datetime]:
    """First and last instants at which parts of a timestamp have the values asked for; coarse parts decide where fine ones are tried."""
    asked: dict[str, list[int]] = {}
    for part, value in parts:
        asked.setdefault(part, []).append(value)
    years = asked.get("year", [2024, 2023])
    for year in asked.get("year", ()):
        yield from (datetime(year, 1, 1), datetime(year + 1, 1, 1))
    for part, length in (("quarter", 3), ("month", 1)):
        for year, value in product(years, asked.get(part, ())):
            start = datetime(year, length * (value - 1) + 1, 1)
            yield from (start, _shift(start, length, 0))
    days = [datetime(year, 1, 1) + _DAY * (value - 1) for year, value in product(years, asked.get("doy", ()))]
    days += [datetime(year, 1, 1) + _DAY * 7 * (value - 1) for year, value in product(years, asked.get("week", ()))]
    months = product(years, asked.get("month", (2, 3, 12)))
    days += [datetime(year, month, 1) + _DAY * (value - 1) for (year, month), value in product(months, asked.get("day", ()))]
    for value in (*asked.get("dow", ()), *asked.get("isodow", ())):
        days += [sunday + _DAY * (value % 7) for sunday in (datetime(2024, 3, 3), datetime(2023, 11, 26))]
    for day in days:
        yield from (day, day + _DAY)
    bases = (
        days
        or [mark.replace(hour=0, minute=0, second=0, microsecond=0) for mark in marks]
        or [datetime(2024, 3, 5), datetime(2023, 12, 31)]
    )
    for part, width in (("hour", _HOUR), ("minute", timedelta(minutes=1)), ("second", _SECOND)):
        for base, value in product(dict.fromkeys(bases), asked.get(part, ())):
            yield from (base + width * value, base + width * (value + 1))


def _times(literals: Literals, dice: Dice, profile: str) -> Iterator[datetime]:
    marks = _marks(literals)
    if not marks:
        yield from adversarial.TIMES
        return
    for mark in marks:
        for distance in _NEAR if profile == "ties" else _AROUND:
            yield mark + distance
    for earlier, later in pairwise(sorted({*marks, _FIRST, _AFTER, _AFTER + _DAY})):
        # Whole minutes and fractions of seconds, so that a rewrite may rely on neither.
        for _ in range(3 if profile == "ties" else 8):
            minutes = max(int((later - earlier).total_seconds()) // 60, 1)
            yield earlier + timedelta(minutes=dice.below(minutes))
        yield earlier + (later - earlier) / 3
    if profile != "ties":
        yield from dice.shuffled(adversarial.TIMES)[:20]


def _steps(literals: Literals) -> Iterator[timedelta]:
    spans = {timedelta(days=30 * abs(months), microseconds=abs(us)) for months, us in literals.intervals}
    spans |= {_DAY * int(Decimal(text)) for column, text in literals.numbers if column in _TIME_COLUMNS and 0 < Decimal(text) <= 400}
    for span in sorted(spans):
        yield from (span, span - _TICK, span + _TICK)
    yield from (_TICK, timedelta(minutes=30), _DAY)


def _numbers(literals: Literals, columns: Sequence[str]) -> list[Decimal]:
    """Numbers compared with one of the columns, or with none of the shop's."""
    foreign = _FREE_TEXT + tuple(_TIME_COLUMNS)
    known = {name for names in _ID_COLUMNS.values() for name in names} | {"total", "price"} | set(foreign)
    return list(dict.fromkeys(Decimal(text) for column, text in literals.numbers if column in columns or column not in known))


def _money(literals: Literals, column: str, dice: Dice, *, negative: bool) -> Iterator[Decimal]:
    found = _numbers(literals, (column,))
    values = [number + shift for number in found for shift in (Decimal(0), -_CENT, _CENT, Decimal(-1), Decimal(1))]
    values += [number * factor for number in found for factor in (2, 3, Decimal("0.5"))]
    values += [one * other for one in found[:6] for other in found[:6] if one != other]
    values += dice.shuffled(adversarial.TOTALS)[: 15 if found else len(adversarial.TOTALS)]
    for value in dict.fromkeys(value.quantize(_CENT) for value in values if abs(value) < _MONEY_LIMIT - 1):
        if negative or value >= 0:
            yield value


def _ids(literals: Literals, columns: Sequence[str], *, runs: bool) -> Iterator[int]:
    """Ids at every number compared with an id, and one either side; then at products and quotients of the numbers of a query."""
    found = [int(number) for number in _numbers(literals, columns) if number == number.to_integral_value()]
    compared = {Decimal(text) for column, text in literals.numbers if column in columns}
    direct = [number for number in found if number in compared]
    pairs = list(product([number for number in found if number > 1][:6], repeat=2))
    combined = [number for one, other in pairs for number in (one * other, one * (other + 1), one // other)]
    lowest = -2 if columns == ("session_id",) else 1
    around = [number + shift for number in (*direct, *found, *combined) for shift in (0, -1, 1)]
    if runs:  # of neighbours, for queries that join an id with the next; without them there are gaps
        around += [number + shift for number in direct for shift in (2, 3, -2, -3)]
    return iter(dict.fromkeys(number for number in around if lowest <= number <= _MAX_ID))


def _wanted(literals: Literals) -> dict[str, tuple[str, ...]]:
    """Texts that the queries compare with a column, by column; of a checked column only the values of its domain."""
    wanted: dict[str, list[str]] = {}
    for column, text in literals.strings:
        domain = schema.DOMAINS.get(column)
        if (domain is None and column in _FREE_TEXT) or (domain is not None and text in domain):
            wanted.setdefault(column, []).append(text)
    return {column: tuple(texts) for column, texts in wanted.items()}


def _group_sizes(literals: Literals) -> Iterator[int]:
    numbers = {Decimal(text) for _, text in literals.numbers} | set(literals.counts)
    for size in sorted(int(number) for number in numbers if 2 <= number <= _MAX_GROUP and number == int(number))[:5]:
        yield from (size, size - 1, size + 1)
    yield from (3, 4)


def _texts(literals: Literals, column: str, dice: Dice) -> Iterator[str]:
    """Spellings around the texts compared with the column, or with none; each text itself comes several times."""
    exact = [text for name, text in literals.strings if name == column]
    exact += [text for name, pattern in literals.patterns if name == column for text in _matching(pattern)]
    elsewhere = {*_FREE_TEXT, *schema.DOMAINS}
    loose = [text for name, text in literals.strings if name not in elsewhere and text not in _CHECKED]
    loose += [text for name, pattern in literals.patterns if name not in elsewhere for text in _matching(pattern)]
    defaults = _DEFAULT_TEXTS[column]
    if column == "email":
        wanted = sorted((text for text in exact if len(text) > 1 and text not in _CHECKED), key=lambda text: ("@" not in text, len(text)))
        yield from (address for text in wanted for address in _addresses(text))
    for text in exact:
        yield from (text,) * 6
        yield from _spellings(text)
    for text in loose:
        yield text
        yield from _spellings(text)
    yield from dice.shuffled(defaults)[: 8 if exact else len(defaults)]


def _addresses(text: str) -> Iterable[str]:
    """E-mail addresses with ``text`` in them: addresses are unique, so a query that asks for a part must find several."""
    people = [f"user{number}" for number in range(1, 9)]
    if text.startswith("@"):
        # Also where an address has a second @, goes on behind the text, or has something else before its end.
        return (
            *(f"{person}{text}" for person in people),
            f"user9@a{text}",
            f"user10{text}.b",
            *(f"user1{k}@sub.{text[1:]}" for k in (1, 2)),
        )
    if "@" in text:
        return (text,)
    return (f"{text}@mail.example", *(f"{person}@{text}" for person in people))


def _spellings(text: str) -> Iterable[str]:
    padded = (f" {text}", f"{text} ", f"{text}x", f"x{text}", f"a{text}b", f"a{text}{text}b")
    return (form for form in (text.upper(), text.capitalize(), *padded, text[:-1], text[1:]) if form != text)


def _matching(pattern: str) -> Iterable[str]:
    """Texts that a LIKE pattern matches, and texts that it matches only if its wildcards were taken for letters."""
    return (
        pattern.replace("%", "").replace("_", "1"),
        pattern.replace("%", "x").replace("_", "-"),
        pattern.replace("%", "abc").replace("_", "z"),
        pattern.replace("_", "ab"),
        pattern,
    )
