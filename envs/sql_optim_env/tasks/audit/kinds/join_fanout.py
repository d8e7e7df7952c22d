"""A list to which a report is joined, with a key that is not unique any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any, ClassVar, Final, Literal

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PEOPLE,
    PlainColumn,
    around,
    day,
    draw_style,
    labels,
    money,
    plain_columns,
    spoken,
    varied_ids,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_LISTS: Final = (
    ("fee_class", "fee_classes"),
    ("budget_line", "budget_lines"),
    ("sponsor", "sponsors"),
    ("season_ticket", "season_tickets"),
    ("duty_roster", "duty_rosters"),
    ("price_band", "price_bands"),
    ("insurance_cover", "insurance_covers"),
    ("supplier", "suppliers"),
)

_TERMS: Final = ("spring", "summer", "autumn", "winter")

_MOST: Final = 8
"""Entries of one code, at most."""

_Rule = Literal["latest", "earliest", "edition", "signed"]


@dataclass(frozen=True, slots=True)
class _List:
    table: str
    key: str
    code: str
    """The column by which the report joins it: of the same name in the records."""
    thing: str


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    records: str
    record: str
    on: str
    amount: str
    term: str
    title: str
    factor: str
    entered: str
    edition: str
    signed: str
    repeated: _List
    """The list with entries that repeat."""
    by_term: _List
    """A list with several entries a code, one for each term: right, because the report joins it by both."""
    single: _List
    """A list with one entry a code."""


class JoinFanout(Kind):
    """Entries of one of three lists that repeat a code.

    By default three lists of 100 entries each, so that none stands out, and 500 records. One has 75 codes and 25 entries too many; of the
    two that are right one has 100 codes and one has 25 codes in four terms. Shifted: half as many entries
    again are too many, and they gather at fewer codes.
    """

    name: ClassVar[str] = "join_fanout"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and another rule for which entry counts."""
        style = draw_style(dice)
        ending = dice.choice(("code", "mark", "ref"))
        lists = [
            _List(style.table(plural), style.key(f"{thing}_entry"), style.column(thing, ending), thing)
            for thing, plural in dice.sample(_LISTS, 3)
        ]
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            records=style.table(domain.records),
            record=style.key(domain.record),
            on=style.column(dice.choice(("held_on", "took_place", "on_day"))),
            amount=style.column(dice.choice(("amount", "turnover", "takings"))),
            term=style.column(dice.choice(("term", "quarter_name", "time_of_year"))),
            title=style.column(dice.choice(("title", "caption", "long_name"))),
            factor=style.column(dice.choice(("factor", "rate", "share"))),
            entered=style.column(dice.choice(("entered_at", "typed_on", "recorded_on"))),
            edition=style.column(dice.choice(("edition", "revision", "issue_no"))),
            signed=style.column(dice.choice(("countersigned_by", "released_by", "checked_by"))),
            repeated=lists[0],
            by_term=lists[1],
            single=lists[2],
        )
        rules: tuple[_Rule, ...] = ("latest", "earliest", "edition", "signed")
        rule: _Rule = dice.choice(rules)
        shown = dice.sample(lists, 3)
        taken = [
            *(value for field in names.__slots__ if isinstance(value := getattr(names, field), str)),
            *(name for each in lists for name in (each.table, each.key, each.code)),
        ]
        fillers = plain_columns(dice, domain, style, 3, taken=taken)
        table, code = names.repeated.table, names.repeated.code
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, rule, shown),
            target=table,
            defect=Defect(table, (code,)),
            expected=ExpectedAnswer(root_cause_table=table, offending_key=code),
            reference_fix=_fix(names, rule),
            structure_look=f"PRAGMA table_info({table})",
            column_look=f"SELECT {code}, count(*) AS entries FROM {table} GROUP BY {code} HAVING count(*) > 1 ORDER BY {code}",
            check=f"SELECT count(*) AS entries, count(DISTINCT {code}) AS codes FROM {table}",
            numbers={
                "names": names,
                "rule": rule,
                "order": tuple(lists.index(each) for each in dice.sample(lists, 3)),
                "fillers": fillers[:2],
                "extra": fillers[2],
                "owners": around(dice, 20, default=default),
                "codes": around(dice, 75, default=default),
                "too_many": around(dice, 25, default=default),
                "single": around(dice, 100, default=default),
                "by_term": around(dice, 25, default=default),
                "records": around(dice, 500, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The lists and the records that the report joins to them."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        dice = self.data_dice(scenario, variant)
        owners = varied_ids(dice, numbers["owners"])
        first = day(dice, date(2012, 1, 1) if shifted else date(2019, 1, 1), 900)
        codes = _codes(dice, numbers["codes"] + numbers["single"] + numbers["by_term"])
        repeated, rest = codes[: numbers["codes"]], codes[numbers["codes"] :]
        single, by_term = rest[: numbers["single"]], rest[numbers["single"] :]
        # A record's code need not be in its list, and may be missing.
        used: list[list[str | None]] = [[*repeated], [*by_term], [*single, None, *_codes(dice, 2)]]
        rows = tuple(
            (
                key,
                dice.choice(owners),
                day(dice, first, 600).isoformat(),
                *(dice.choice(choices) for choices in used),
                dice.choice(_TERMS),
                money(dice, 5, 400),
                fillers[0].cell(dice),
            )
            for key in varied_ids(dice, numbers["records"])
        )
        mended = _repeated(dice, numbers, repeated, first, shifted)
        terms = [(code, term) for code in by_term for term in _TERMS]
        lists: tuple[Table | Mended, ...] = (
            mended.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else mended,
            _once(dice, names, names.by_term, terms, first, fillers[1]),
            _once(dice, names, names.single, [(code, dice.choice(_TERMS)) for code in single], first, fillers[1]),
        )
        owner_rows = tuple(zip(owners, labels(dice, scenario.domain, len(owners)), strict=True))
        columns = (
            (names.record, "INTEGER PRIMARY KEY"),
            (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
            (names.on, "TEXT NOT NULL"),
            *((each.code, "TEXT") for each in (names.repeated, names.by_term, names.single)),
            (names.term, "TEXT NOT NULL"),
            (names.amount, "REAL NOT NULL"),
            (fillers[0].name, fillers[0].declared),
        )
        tables = (
            Table(names.owners, ((names.owner, "INTEGER PRIMARY KEY"), (names.label, "TEXT NOT NULL")), owner_rows),
            *(lists[place] for place in numbers["order"]),
            Table(names.records, columns, rows),
        )
        return content_of(tables, names.repeated.table)


def _codes(dice: Random, count: int) -> list[str]:
    """Different codes of a letter and a number, in no order."""
    return [f"{dice.choice('BCDFGHKLMNPRSTVW')}{number}" for number in dice.sample(range(100, 1_000), count)]


def _table(names: _Names, each: _List, filler: PlainColumn, rows: tuple[Row, ...]) -> Table:
    columns = (
        (each.key, "INTEGER PRIMARY KEY"),
        (each.code, "TEXT NOT NULL"),
        (names.term, "TEXT NOT NULL"),
        (names.title, "TEXT NOT NULL"),
        (names.factor, "REAL NOT NULL"),
        (names.edition, "INTEGER NOT NULL"),
        (names.entered, "TEXT NOT NULL"),
        (names.signed, "TEXT"),
        (filler.name, filler.declared),
    )
    return Table(each.table, columns, rows)


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What tells entries of the same code apart."""

    entered: str
    edition: int
    signed: str | None

    def place(self, rule: _Rule) -> tuple[Cell, ...]:
        """Less is better."""
        match rule:
            case "latest":
                return (-date.fromisoformat(self.entered).toordinal(),)
            case "earliest":
                return (self.entered,)
            case "edition":
                return (-self.edition,)
            case "signed":
                return (self.signed is None,)


def _stamps(dice: Random, first: date, count: int) -> list[_Stamp]:
    """Stamps of a code's entries: the last to be entered, the highest edition and the signed one are three draws."""
    days = [(first + timedelta(days=offset)).isoformat() for offset in dice.sample(range(900), count)]
    editions = dice.sample(range(1, 12), count)
    signed = dice.randrange(count) if count > 1 else dice.choice((0, -1))
    return [
        _Stamp(on, edition, f"{dice.choice('ABCDEFGH')}. {dice.choice(PEOPLE)}" if place == signed else None)
        for place, (on, edition) in enumerate(zip(days, editions, strict=True))
    ]


def _entry(dice: Random, key: int, code: str, term: str, stamp: _Stamp, filler: PlainColumn) -> Row:
    title, factor = f"{code[0]} list {dice.randint(1, 40)}", dice.randint(20, 300) / 100
    return (key, code, term, title, factor, stamp.edition, stamp.entered, stamp.signed, filler.cell(dice))


def _once(dice: Random, names: _Names, each: _List, entries: Sequence[tuple[str, str]], first: date, filler: PlainColumn) -> Table:
    """A list whose entries are all right."""
    dealt = dice.sample(entries, len(entries))
    rows = tuple(
        _entry(dice, key, code, term, _stamps(dice, first, 1)[0], filler)
        for key, (code, term) in zip(varied_ids(dice, len(dealt)), dealt, strict=True)
    )
    return _table(names, each, filler, rows)


def _repeated(dice: Random, numbers: Mapping[str, Any], codes: list[str], first: date, shifted: bool) -> Mended:
    """The list whose codes repeat, in no order."""
    names: _Names = numbers["names"]
    filler: PlainColumn = numbers["fillers"][1]
    many = dice.sample(codes, len(codes) // (6 if shifted else 4))
    too_many = numbers["too_many"] * 3 // 2 if shifted else numbers["too_many"]
    again = Counter(dice.sample(many * (_MOST - 1), too_many))
    stamped: list[tuple[str, _Stamp, bool]] = []
    for code in codes:
        stamps = _stamps(dice, first, 1 + again[code])
        counts = min(stamps, key=lambda stamp: stamp.place(numbers["rule"]))
        stamped += [(code, stamp, stamp is counts) for stamp in stamps]
    dice.shuffle(stamped)
    rows = [
        (_entry(dice, key, code, dice.choice(_TERMS), stamp, filler), counts)
        for key, (code, stamp, counts) in zip(varied_ids(dice, len(stamped)), stamped, strict=True)
    ]
    table = _table(names, names.repeated, filler, tuple(row for row, _ in rows))
    return Mended(table, tuple(row if counts else None for row, counts in rows))


def _fix(names: _Names, rule: _Rule) -> str:
    order = {
        "latest": f"{names.entered} DESC",
        "earliest": names.entered,
        "edition": f"{names.edition} DESC",
        "signed": f"{names.signed} IS NULL",
    }[rule]
    table, key, code = names.repeated.table, names.repeated.key, names.repeated.code
    return (
        f"DELETE FROM {table} WHERE {key} NOT IN (\n"
        f"  SELECT {key} FROM (SELECT {key}, row_number() OVER (PARTITION BY {code} ORDER BY {order}) AS place FROM {table})\n"
        f"  WHERE place = 1\n"
        f");"
    )


def _description(domain: Domain, names: _Names, rule: _Rule, shown: Sequence[_List]) -> str:
    records, record = spoken(domain.records), spoken(domain.record)
    joins = [f"{each.table} by {each.code}" + (f" and {names.term}" if each is names.by_term else "") for each in shown]
    counts = {
        "latest": f"the one with the latest {names.entered} counts",
        "earliest": f"the one with the earliest {names.entered} counts",
        "edition": f"the one with the highest {names.edition} counts, whenever it was entered",
        "signed": f"the one that has a {names.signed} counts, and there is exactly one such; an entry that is there once counts anyhow",
    }[rule]
    return (
        f"Our database is that of {domain.setting}. The report on {records} adds up to more than {names.records} holds.\n"
        f"How the report is made: each {record} is joined to {joins[0]}, to {joins[1]}, and to {joins[2]} (one without an "
        f"entry there stays in), and {names.amount} is summed. The {records} are right, and so is the way in which the report is made.\n"
        f"House rule for all lists: the report must find at most one entry in each list. Where it would find more, {counts}; the others "
        f"have to go.\n"
        f"Repair the data so that the report is right, and leave everything else as it is. Submit root_cause_table, the table that made "
        f"the report wrong, and offending_key, the column of it whose values are not what the report takes them for."
    )


KIND: Final = JoinFanout()
