"""A history in which some versions go on after the next one has begun."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PlainColumn,
    around,
    day,
    draw_style,
    labels,
    plain_columns,
    positions,
    rows_of,
    spoken,
    varied_ids,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_ASPECTS: Final = ("tariff", "steward", "rating", "contract", "colour", "licence")

_FAR: Final = "9999-12-31"


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    history: str
    version: str
    aspect: str
    setting: str
    begins: str
    ends: str
    records: str
    record: str
    on: str
    amount: str


@dataclass(frozen=True, slots=True)
class _Custom:
    """How the house writes the end of a version."""

    inclusive: bool
    """Whether the written day still belongs to the version."""
    open_end: str | None
    """What stands for no end."""

    def last(self, next_begin: date) -> date:
        """The end of a version that the next one, from ``next_begin``, follows without a gap."""
        return next_begin - timedelta(days=self.inclusive)


@dataclass(frozen=True, slots=True)
class _Version:
    begins: date
    right: date | None
    broken: date | None


class ScdOverlap(Kind):
    """Versions that are closed too late or not at all.

    By default 400 versions of 50 owners in two aspects, of which 60 overlap the next of their own owner and aspect: of ten, about four are
    open and six have too late an end. Gaps, and last versions that have an end, are right. Shifted: half of the overlaps are by one day.
    """

    name: ClassVar[str] = "scd_overlap"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and customs."""
        style = draw_style(dice)
        begins, ends = dice.choice(
            (("valid_from", "valid_to"), ("in_force_from", "in_force_to"), ("starts_on", "stops_on"), ("first_day", "last_day"))
        )
        inclusive = True if begins == "first_day" else dice.random() < 0.5
        custom = _Custom(inclusive, dice.choice((None, _FAR)))
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            history=style.table(domain.owner, dice.choice(("history", "versions", "terms", "states"))),
            version=style.key("version"),
            aspect=style.column(dice.choice(("aspect", "topic", "trait"))),
            setting=style.column(dice.choice(("setting", "content", "wording"))),
            begins=style.column(begins),
            ends=style.column(ends),
            records=style.table(domain.records),
            record=style.key(domain.record),
            on=style.column(dice.choice(("held_on", "took_place", "on_day"))),
            amount=style.column(domain.second),
        )
        fillers = plain_columns(dice, domain, style, 4, taken=[getattr(names, field) for field in names.__slots__])
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, custom),
            target=names.history,
            defect=Defect(names.history, (names.ends,)),
            expected=ExpectedAnswer(),
            reference_fix=_fix(names, custom),
            structure_look=f"PRAGMA table_info({names.history})",
            column_look=f"SELECT * FROM ({_followed(names)}) WHERE {_too_late(names, custom)} ORDER BY {names.version}",
            check=f"SELECT count(*) AS too_late FROM ({_followed(names)}) WHERE {_too_late(names, custom)}",
            numbers={
                "names": names,
                "custom": custom,
                "aspects": tuple(dice.sample(_ASPECTS, 2)),
                "fillers": fillers[:3],
                "extra": fillers[3],
                "owners": around(dice, 50, default=default),
                "per_line": 4 if default else dice.choice((3, 4, 4, 5)),
                "late": around(dice, 60, default=default),
                "records": around(dice, 300, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """Owners, their histories, and records that the histories are asked about."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        custom: _Custom = numbers["custom"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        dice = self.data_dice(scenario, variant)
        owners = varied_ids(dice, numbers["owners"] + (10 if shifted else 0))
        lines = [(owner, aspect) for owner in owners for aspect in numbers["aspects"]]
        lengths = _lengths(dice, len(lines), len(lines) * numbers["per_line"])
        late = set(positions(dice, sum(lengths) - len(lines), round(numbers["late"] * (1.2 if shifted else 1.0))))
        first = day(dice, date(2008, 1, 1) if shifted else date(2016, 1, 1), 900)
        entries: list[tuple[int, str, _Version]] = []
        place = 0
        for (owner, aspect), length in zip(lines, lengths, strict=True):
            chosen = {turn for turn in range(length - 1) if place + turn in late}
            place += length - 1
            entries += [(owner, aspect, version) for version in _line(dice, custom, first, length, chosen, shifted)]
        # Versions were entered when someone came to it, so that the order of their keys says nothing about the order of their days.
        dice.shuffle(entries)
        broken: list[Row] = []
        right: list[Row | None] = []
        cells = rows_of(dice, fillers[:2], len(entries))
        for key, (owner, aspect, version), more in zip(varied_ids(dice, len(entries)), entries, cells, strict=True):
            head: tuple[Cell, ...] = (key, owner, aspect, _setting(dice, scenario.domain, aspect), version.begins.isoformat())
            broken.append((*head, _written(version.broken, custom), *more))
            right.append((*head, _written(version.right, custom), *more))
        mended = Mended(_history(names, fillers[:2], tuple(broken)), tuple(right))
        owner_rows = tuple(zip(owners, labels(dice, scenario.domain, len(owners)), strict=True))
        record_rows = tuple(
            (key, dice.choice(owners), day(dice, first, 1_500).isoformat(), dice.randint(1, 90), fillers[2].cell(dice))
            for key in varied_ids(dice, numbers["records"])
        )
        tables = (
            Table(names.owners, ((names.owner, "INTEGER PRIMARY KEY"), (names.label, "TEXT NOT NULL")), owner_rows),
            mended.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else mended,
            Table(
                names.records,
                (
                    (names.record, "INTEGER PRIMARY KEY"),
                    (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
                    (names.on, "TEXT NOT NULL"),
                    (names.amount, "INTEGER NOT NULL"),
                    (fillers[2].name, fillers[2].declared),
                ),
                record_rows,
            ),
        )
        return content_of(tables, names.history)


def _lengths(dice: Random, lines: int, total: int) -> list[int]:
    lengths = [2] * lines
    for _ in range(total - 2 * lines):
        lengths[dice.randrange(lines)] += 1
    return lengths


def _line(dice: Random, custom: _Custom, first: date, length: int, late: set[int], shifted: bool) -> Iterator[_Version]:
    """The versions of one owner in one aspect, in the order of their days."""
    begins = [first + timedelta(days=dice.randrange(400))]
    for _ in range(length):
        begins.append(begins[-1] + timedelta(days=dice.randint(20, 260)))
    for turn in range(length):
        follower = custom.last(begins[turn + 1])
        if turn in late:
            yield _Version(begins[turn], follower, _late(dice, begins, turn, custom, shifted))
        elif turn == length - 1:
            # Most last versions hold to this day; of a few the owner has given up the aspect.
            end = None if dice.random() < 0.75 else follower
            yield _Version(begins[turn], end, end)
        else:
            gap = dice.randint(1, 15) if dice.random() < 0.25 else 0
            yield _Version(begins[turn], follower - timedelta(days=gap), follower - timedelta(days=gap))


def _late(dice: Random, begins: list[date], turn: int, custom: _Custom, shifted: bool) -> date | None:
    """A wrong end: none, a day too late, some days, or after the next but one has begun."""
    follower = custom.last(begins[turn + 1])
    ways = ("day", "day", "some", "open") if shifted else ("open", "open", "day", "some", "beyond")
    match dice.choice(ways):
        case "open":
            return None
        case "day":
            return follower + timedelta(days=1)
        case "beyond":
            return begins[min(turn + 2, len(begins) - 1)] + timedelta(days=dice.randint(1, 20))
        case _:
            return follower + timedelta(days=dice.randint(2, 19))


def _setting(dice: Random, domain: Domain, aspect: str) -> str:
    return f"{aspect[0].upper()}{dice.randint(1, 40)} {dice.choice(domain.names)}"


def _written(end: date | None, custom: _Custom) -> str | None:
    return custom.open_end if end is None else end.isoformat()


def _history(names: _Names, fillers: tuple[PlainColumn, ...], rows: tuple[Row, ...]) -> Table:
    columns = (
        (names.version, "INTEGER PRIMARY KEY"),
        (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
        (names.aspect, "TEXT NOT NULL"),
        (names.setting, "TEXT NOT NULL"),
        (names.begins, "TEXT NOT NULL"),
        (names.ends, "TEXT"),
        *((filler.name, filler.declared) for filler in fillers),
    )
    return Table(names.history, columns, rows)


def _followed(names: _Names) -> str:
    return (
        f"SELECT {names.version}, {names.owner}, {names.aspect}, {names.begins}, {names.ends}, lead({names.begins})"
        f" OVER (PARTITION BY {names.owner}, {names.aspect} ORDER BY {names.begins}) AS follower FROM {names.history}"
    )


def _too_late(names: _Names, custom: _Custom) -> str:
    return f"ifnull({names.ends}, '{_FAR}') {'>=' if custom.inclusive else '>'} follower"


def _fix(names: _Names, custom: _Custom) -> str:
    closed = "date(f.follower, '-1 day')" if custom.inclusive else "f.follower"
    return (
        f"UPDATE {names.history} SET {names.ends} = {closed}\n"
        f"FROM ({_followed(names)}) AS f\n"
        f"WHERE f.{names.version} = {names.history}.{names.version}\n"
        f"  AND ifnull({names.history}.{names.ends}, '{_FAR}') {'>=' if custom.inclusive else '>'} f.follower;"
    )


def _description(domain: Domain, names: _Names, custom: _Custom) -> str:
    records, owner = spoken(domain.records), spoken(domain.owner)
    counted = (
        "the first and the last day both belong to it" if custom.inclusive else "its first day belongs to it, the day of its end does not"
    )
    without = "no date at all" if custom.open_end is None else custom.open_end
    close = "on the day before that first day" if custom.inclusive else "on that first day"
    return (
        f"Our database is that of {domain.setting}. Whoever adds up {records} by what held for the {owner} on the day gets some of the "
        f"{records} twice.\n"
        f"House rules. {names.history} says what held for each {owner} and when, one row for each version; each {names.aspect} of each "
        f"{owner} is a history of its own. On any one day at most one version of a history is in force. Of a version in days, {counted}; "
        f"a version that holds until further notice has {without} for its end. A history may have gaps and may be over. The "
        f"first days are all right. Where a version runs into a later one, the later one is right from its first day on: "
        f"the earlier one ends {close}, that of the very next version of its history.\n"
        f"Repair the data so that the rules hold. Leave everything else as it is."
    )


KIND: Final = ScdOverlap()
