"""Draws that the kinds of defects share: names in a style, plain columns and their cells, dates, money, labels made of a domain's words.

All of them are functions of the dice they are handed, and none of them depends on the order of a set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Final, Literal, get_args

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.scenario import Cell, Row, TableTruth

__all__ = [
    "PEOPLE",
    "Meaning",
    "PlainColumn",
    "Style",
    "a_or_an",
    "around",
    "create_table",
    "day",
    "draw_style",
    "iso_days",
    "labels",
    "money",
    "plain_columns",
    "positions",
    "rows_of",
    "spoken",
    "started",
    "unchanged",
    "varied_ids",
]

Meaning = Literal["person", "code", "word", "phrase", "count", "money", "date", "flag"]

PEOPLE: Final = tuple(
    "Abara Berg Castellano Dimitrov Eklund Farouk Grant Haddad Ito Janssen Kowal Lindqvist Moreau Novak Okafor Petrov Quinn Rossi "
    "Suzuki Tanaka Ueda Vargas Weber Xu Yilmaz Zeman".split()
)

_INITIALS: Final = "ABCDEFGHJKLMNOPRSTVW"

_POOL: Final[tuple[tuple[Meaning, tuple[str, ...]], ...]] = (
    ("person", ("entered_by", "clerk", "handled_by", "contact", "typist")),
    ("person", ("approved_by", "steward", "signed_by", "witness_name")),
    ("code", ("docket", "ref_no", "voucher", "paper_ref", "slip_no")),
    ("code", ("shelf_mark", "box_code", "drawer", "file_code")),
    ("word", ("town", "quarter", "place_name", "locality")),
    ("word", ("channel", "came_via", "desk_name", "entry_point")),
    ("phrase", ("remark", "memo", "side_note", "annotation")),
    ("count", ("pages_filed", "visits", "copies", "pieces_seen", "calls")),
    ("count", ("queue_no", "floor_no", "row_no", "counter_no")),
    ("money", ("deposit", "surcharge", "postage", "handling_fee")),
    ("money", ("rebate", "tip", "refund", "allowance")),
    ("date", ("entered_on", "received_on", "logged_on", "filed_on")),
    ("date", ("reviewed_on", "posted_on", "closed_on", "copied_on")),
    ("flag", ("urgent", "printed", "insured", "paid_in_cash")),
    ("flag", ("archived", "is_member", "by_phone", "translated")),
)

_CHANNELS: Final = ("letter", "phone", "counter", "web", "courier", "fax")

_TABLE_AFFIXES: Final = (("", ""), ("", ""), ("t_", ""), ("", "_data"), ("", "_reg"), ("main_", ""))


@dataclass(frozen=True, slots=True)
class Style:
    """How one database writes its names: all of them lower case, with or without underscores, tables with a prefix or suffix or bare."""

    joiner: str
    table_prefix: str
    table_suffix: str
    id_form: str
    """How a key is named: ``{}_id``, ``{}_no`` and the like."""

    def column(self, *words: str) -> str:
        """The name of a column made of ``words``; a word may itself have underscores."""
        return "_".join(words).replace("_", self.joiner)

    def key(self, thing: str) -> str:
        """The name of the column that holds the key of a thing."""
        return self.column(self.id_form.format(thing))

    def table(self, *words: str) -> str:
        """The name of a table made of ``words``."""
        return self.table_prefix + self.column(*words) + self.table_suffix


@dataclass(frozen=True, slots=True)
class PlainColumn:
    """A column with nothing special about it, and what its cells are drawn from."""

    name: str
    declared: str
    """Its type in DDL: TEXT, INTEGER or REAL."""
    meaning: Meaning
    words: tuple[str, ...]
    low: int
    high: int
    """Bounds of a number (cents for money, days since 2015-01-01 for a date), both included."""

    def cell(self, dice: Random) -> Cell:
        """A value, never NULL."""
        return self.cells(dice, 1)[0]

    def cells(self, dice: Random, count: int) -> list[Cell]:
        """``count`` values, none of them NULL."""
        if self.meaning == "word":
            return list(dice.choices(self.words, k=count))
        if self.meaning == "phrase":
            words = dice.choices(self.words, k=4 * count)
            return [" ".join(words[k : k + 4]) for k in range(0, 4 * count, 4)]
        numbers = dice.choices(range(self.low, self.high + 1), k=count)
        match self.meaning:
            case "person":
                return [f"{_INITIALS[number % len(_INITIALS)]}. {PEOPLE[number // len(_INITIALS)]}" for number in numbers]
            case "code":
                return [f"{self.words[number % len(self.words)][:2].upper()}-{number}" for number in numbers]
            case "money":
                return [number / 100 for number in numbers]
            case "date":
                return [date.fromordinal(_EPOCH + number).isoformat() for number in numbers]
        return list(numbers)


_EPOCH: Final = date(2015, 1, 1).toordinal()

_TYPES: Final[dict[Meaning, str]] = {
    "person": "TEXT",
    "code": "TEXT",
    "word": "TEXT",
    "phrase": "TEXT",
    "count": "INTEGER",
    "money": "REAL",
    "date": "TEXT",
    "flag": "INTEGER",
}


def draw_style(dice: Random) -> Style:
    """A style of names for one database."""
    prefix, suffix = dice.choice(_TABLE_AFFIXES)
    joiner = dice.choice(("_", "_", ""))
    return Style(joiner, prefix, suffix, dice.choice(("{}_id", "{}_no", "{}_key", "{}_nr")))


def around(dice: Random, documented: int, *, default: bool, spread: float = 0.25) -> int:
    """The documented number, or one drawn at most ``spread`` of it away."""
    drawn = round(documented * (1 + dice.uniform(-spread, spread)))
    return documented if default else drawn


def plain_columns(
    dice: Random,
    domain: Domain,
    style: Style,
    count: int,
    *,
    taken: Iterable[str] = (),
    meanings: Collection[Meaning] = get_args(Meaning),
) -> tuple[PlainColumn, ...]:
    """``count`` columns of some ``meanings`` with different names, none of them in ``taken`` (names as written in the database).

    At most a dozen and a half: each of the pool's entries is used once, together with the domain's own columns.
    """
    pool: list[tuple[Meaning, str]] = [(meaning, dice.choice(names)) for meaning, names in _POOL]
    pool += [("count", domain.first), ("count", domain.second), ("word", domain.kind), ("phrase", domain.note), ("count", domain.group)]
    pool = [entry for entry in pool if entry[0] in meanings]
    dice.shuffle(pool)
    columns: dict[str, PlainColumn] = {}
    used = {name.lower() for name in taken}
    for meaning, name in pool:
        written = style.column(name)
        if written in used or written in columns or len(columns) == count:
            continue
        columns[written] = _plain(dice, domain, meaning, name, written)
    if len(columns) < count:
        raise ValueError(f"the pool has {len(columns)} names that are free, not {count}")
    return tuple(columns.values())


def _plain(dice: Random, domain: Domain, meaning: Meaning, name: str, written: str) -> PlainColumn:
    words: tuple[str, ...] = domain.words
    low, high = 0, len(_INITIALS) * len(PEOPLE) - 1
    if meaning == "word":
        words = domain.kinds if name == domain.kind else dice.choice((domain.names, _CHANNELS))
    elif meaning == "code":
        words, low, high = domain.names, 100, dice.choice((499, 899, 2_999))
    elif meaning == "count":
        low, high = 1, dice.choice((6, 12, 40, 250, 900))
    elif meaning == "flag":
        low, high = 0, 1
    elif meaning == "money":
        low, high = 50, dice.choice((900, 2_500, 12_000))
    elif meaning == "date":
        low = dice.randrange(0, 3_000)
        high = low + dice.randrange(200, 900)
    return PlainColumn(written, _TYPES[meaning], meaning, words, low, high)


def rows_of(dice: Random, columns: Sequence[PlainColumn], count: int) -> list[list[Cell]]:
    """``count`` rows of plain cells."""
    filled = [column.cells(dice, count) for column in columns]
    return [[cells[k] for cells in filled] for k in range(count)]


def iso_days(dice: Random, first: date, days: int, count: int) -> list[Cell]:
    """``count`` days, each among the ``days`` that begin with ``first``, written as YYYY-MM-DD."""
    calendar = [(first + timedelta(days=k)).isoformat() for k in range(days)]
    return list(dice.choices(calendar, k=count))


def day(dice: Random, first: date, days: int) -> date:
    """A day among the ``days`` that begin with ``first``."""
    return first + timedelta(days=dice.randrange(days))


def money(dice: Random, low: int, high: int) -> float:
    """An amount between two whole amounts, with cents."""
    return dice.randrange(low * 100, high * 100) / 100


def labels(dice: Random, domain: Domain, count: int) -> list[str]:
    """``count`` different names of things, made of the domain's words and a number."""
    numbers = dice.sample(range(10, 10 + 3 * count), count)
    return [f"{dice.choice(domain.names)} {number}" for number in numbers]


def varied_ids(dice: Random, count: int, *, gap: int = 4) -> list[int]:
    """``count`` increasing ids with gaps, from a start that varies, so that neither the least nor the greatest tells anything."""
    last = dice.randrange(1, 5_000)
    ids = []
    for _ in range(count):
        last += dice.randint(1, gap)
        ids.append(last)
    return ids


def positions(dice: Random, total: int, share: float | int) -> list[int]:
    """Sorted positions out of ``total``: as many as an int ``share`` says, or that part of them."""
    count = share if isinstance(share, int) else round(share * total)
    return sorted(dice.sample(range(total), count))


def spoken(name: str) -> str:
    """An identifier as words, for a sentence."""
    return name.replace("_", " ")


def a_or_an(words: str) -> str:
    """``words`` with the indefinite article."""
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def started(words: str) -> str:
    """``words`` as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def create_table(table: str, columns: Sequence[tuple[str, str]], *constraints: str) -> str:
    """A ``CREATE TABLE`` statement from (name, type and column constraints) pairs and table constraints."""
    lines = [f"  {name} {declared}".rstrip() for name, declared in columns]
    lines += [f"  {constraint}" for constraint in constraints]
    return f"CREATE TABLE {table} (\n" + ",\n".join(lines) + "\n)"


def unchanged(table: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> TableTruth:
    """The truth of a table that the repair has to leave alone."""
    good: tuple[Row, ...] = tuple(tuple(row) for row in rows)
    return TableTruth(table=table, columns=tuple(columns), good=good)
