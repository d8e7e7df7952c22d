"""Shapes whose query is about one large table: one pass, columns, a deep page, distinct values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.generate.tune.shape import Layout, Numbers, Prose, labels, with_gaps
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["Columns", "Fold", "Hop", "Page"]


class Fold:
    """Many narrow records of few owners; a report groups them once a measure."""

    def numbers(self, dice: Random) -> Numbers:
        """``limit`` is a day within the range of days; ``menu`` seeds the choice of measures, of which there are ``measures``."""
        days = dice.randrange(90, 365)
        return {
            "owners": dice.randrange(17, 37),
            "records": dice.randrange(33_000, 41_000),
            "days": days,
            "limit": dice.randrange(days // 3, 2 * days // 3),
            "measures": dice.randrange(5, 7),
            "menu": dice.randrange(1 << 16),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Owners with a label, records without text."""
        d, limit = domain, numbers["limit"]
        return Layout(
            ddl=f"""\
CREATE TABLE {d.owner} (
    id INTEGER PRIMARY KEY,
    {d.label} TEXT NOT NULL
);

CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.owner_id} INTEGER,
    {d.kind} TEXT,
    {d.when} INTEGER,
    {d.first} INTEGER,
    {d.second} INTEGER NOT NULL
);
""",
            tables=(d.owner, d.record),
            sizes={d.owner: numbers["owners"], d.record: numbers["records"]},
            references={f"{d.record}.{d.owner_id}": d.owner},
            hot={f"{d.record}.{d.kind}": d.kinds, f"{d.record}.{d.when}": (limit - 1, limit, limit + 1), f"{d.record}.{d.first}": (0, 1)},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """The first kind is the most frequent one; one record in twenty has no first measure."""
        ids = gapped_ids(dice, sizes[domain.owner], gap=6)
        owners: list[Row] = list(zip(ids, labels(dice, domain.names, len(ids)), strict=True))
        count = sizes[domain.record]
        kinds = dealt(dice, (*domain.kinds, domain.kinds[0], domain.kinds[1]), count)
        records: list[Row] = []
        for number, kind in zip(gapped_ids(dice, count, gap=3), kinds, strict=True):
            first = None if dice.random() < 0.05 else dice.randrange(400)
            records.append((number, dice.choice(ids), kind, dice.randrange(numbers["days"]), first, dice.randrange(120)))
        return {domain.owner: owners, domain.record: records}


class Columns:
    """Wide records, of which a report groups by one column and totals others."""

    def numbers(self, dice: Random) -> Numbers:
        """``note`` is the length of the wide text; ``two`` says whether the report totals a second column too."""
        return {
            "records": dice.randrange(7_600, 9_000),
            "places": dice.randrange(40, 70),
            "note": dice.randrange(360, 450),
            "two": dice.randrange(2),
            "form": dice.randrange(4),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """One table; the place is written out in every row."""
        d = domain
        return Layout(
            ddl=f"""\
CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.when} INTEGER NOT NULL,
    {d.owner} TEXT,
    {d.first} INTEGER,
    {d.second} INTEGER,
    {d.note} TEXT NOT NULL
);
""",
            tables=(d.record,),
            sizes={d.record: numbers["records"]},
            hot={f"{d.record}.{d.first}": (0, 1), f"{d.record}.{d.second}": (0, 1)},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Places are equally frequent; both numbers are unknown in some rows."""
        count = sizes[domain.record]
        places = [
            f"{label}, {dice.choice(domain.names)} {dice.choice(domain.names)}" for label in labels(dice, domain.names, numbers["places"])
        ]
        prose = Prose(dice, domain.words)
        records: list[Row] = []
        for number, place in zip(gapped_ids(dice, count), dealt(dice, places, count), strict=True):
            first = None if dice.random() < 0.07 else dice.randrange(5_000)
            second = None if dice.random() < 0.04 else dice.randrange(300)
            records.append((number, dice.randrange(365), place, first, second, prose.cut(numbers["note"] + dice.randrange(-30, 31))))
        return {domain.record: records}


class Page:
    """Wide records in the order of their days, of which one page far from the start is shown, with each record's owner."""

    def numbers(self, dice: Random) -> Numbers:
        """The page is ``length`` rows after ``skipped``; ``down`` says whether the newest come first.

        Both tables stay well below 500 leaves, so that a lookup takes two pages on every seed.
        """
        length = dice.choice((15, 20, 25))
        return {
            "owners": dice.randrange(1_300, 1_900),
            "records": dice.randrange(2_700, 3_100),
            "leaflet": dice.randrange(500, 700),
            "note": dice.randrange(420, 500),
            "length": length,
            "skipped": length * dice.randrange(1_600 // length, 2_300 // length),
            "down": dice.randrange(2),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Owners with a long leaflet, records with a long note."""
        d = domain
        return Layout(
            ddl=f"""\
CREATE TABLE {d.owner} (
    id INTEGER PRIMARY KEY,
    {d.label} TEXT NOT NULL,
    {d.leaflet} TEXT NOT NULL
);

CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.owner_id} INTEGER,
    {d.when} INTEGER,
    {d.first} INTEGER,
    {d.note} TEXT NOT NULL
);
""",
            tables=(d.owner, d.record),
            sizes={d.owner: numbers["owners"], d.record: numbers["records"]},
            references={f"{d.record}.{d.owner_id}": d.owner},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Days are tied nine times over, and a sixth of the records has no owner on file. Edge instances hold enough records to reach the
        page, with short notes.
        """
        prose = Prose(dice, domain.words)
        ids = gapped_ids(dice, sizes[domain.owner])
        leaflets = (prose.cut(numbers["leaflet"] + dice.randrange(-40, 41)) for _ in ids)
        owners: list[Row] = list(zip(ids, labels(dice, domain.names, len(ids)), leaflets, strict=True))
        full = sizes[domain.record] == numbers["records"]
        note = numbers["note"] if full else 60
        count = sizes[domain.record] if full else numbers["skipped"] + sizes[domain.record] // 2
        records: list[Row] = []
        for number, owner in zip(gapped_ids(dice, count), with_gaps(dice, ids, count, missing=8, dangling=9), strict=True):
            first = None if dice.random() < 0.05 else dice.randrange(900)
            records.append((number, owner, dice.randrange(365), first, prose.cut(note + dice.randrange(-40, 41))))
        return {domain.owner: owners, domain.record: records}


class Hop:
    """Wide records of a handful of places whose names are long and stand in no table of their own."""

    def numbers(self, dice: Random) -> Numbers:
        """``form`` says which columns of the first and the last record are shown."""
        return {
            "records": dice.randrange(13_000, 16_500),
            "places": dice.randrange(8, 13),
            "note": dice.randrange(190, 240),
            "form": dice.randrange(3),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """One table."""
        d = domain
        return Layout(
            ddl=f"""\
CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.owner} TEXT,
    {d.first} INTEGER,
    {d.note} TEXT NOT NULL
);
""",
            tables=(d.record,),
            sizes={d.record: numbers["records"]},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Places are equally frequent and in mixed order."""
        count = sizes[domain.record]
        prose = Prose(dice, domain.words)
        places = [f"{label}, {prose.cut(38)}" for label in labels(dice, domain.names, numbers["places"])]
        records: list[Row] = []
        for number, place in zip(gapped_ids(dice, count), dealt(dice, places, count), strict=True):
            first = None if dice.random() < 0.05 else dice.randrange(1_000)
            records.append((number, place, first, prose.cut(numbers["note"] + dice.randrange(-20, 21))))
        return {domain.record: records}
