"""Some loads of a feed wrote local time where all others write UTC; a second clock tells which, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import PlainColumn, around, day, draw_style, labels, plain_columns, rows_of, spoken, varied_ids
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_OFFSETS: Final = (-600, -480, -300, -210, -180, 60, 120, 180, 210, 270, 330, 345, 480, 540, 570, 720)
"""Minutes by which a local clock is ahead of UTC."""


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    feeds: str
    feed: str
    feed_name: str
    delivery: str
    direct: str
    buffered: str
    loads: str
    load: str
    loaded_on: str
    records: str
    record: str
    kind: str
    stamp: str
    confirmations: str
    confirmation: str
    attempt: str
    confirmed: str


@dataclass(frozen=True, slots=True)
class _Load:
    day: date
    feed: int
    offset: int
    """Minutes that its times are ahead."""


class TimezoneShift(Kind):
    """Times of one feed's events, in local time for a run of loads.

    By default 720 records in 60 loads of 12 from six feeds, of which five loads in a row of one feed, 60 records, are off by the same
    number of quarter hours. Shifted: eight feeds of which two are off, one of them by two different amounts one after the other.
    """

    name: ClassVar[str] = "timezone_shift"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and words."""
        style = draw_style(dice)
        feed, load = dice.choice(("feed", "gateway", "relay", "terminal")), dice.choice(("upload", "bundle", "parcel", "transfer"))
        answer = dice.choice(("confirmation", "acknowledgement", "echo_message", "control_call"))
        direct, buffered = dice.choice((("direct", "buffered"), ("instant", "delayed"), ("live", "stored"), ("wired", "carried")))
        stamp, confirmed = dice.choice(("happened_at", "event_time", "began_at", "stamp", "taken_at")), dice.choice(("seen_at", "heard_at"))
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            feeds=style.table(feed + "s"),
            feed=style.key(feed),
            feed_name=style.column(feed, "name"),
            delivery=style.column("delivery"),
            direct=direct,
            buffered=buffered,
            loads=style.table(load + "s"),
            load=style.key(load),
            loaded_on=style.column("arrived_on"),
            records=style.table(domain.records),
            record=style.key(domain.record),
            kind=style.column(domain.kind),
            stamp=style.column(stamp),
            confirmations=style.table(answer + "s"),
            confirmation=style.key(answer),
            attempt=style.column("attempt"),
            confirmed=style.column(confirmed),
        )
        fillers = plain_columns(dice, domain, style, 3, taken=_strings(names))
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, feed, load, answer),
            target=names.records,
            defect=Defect(names.records, (names.stamp,)),
            expected=ExpectedAnswer(),
            reference_fix=_fix(names),
            structure_look=f"PRAGMA table_info({names.records})",
            column_look=(
                f"SELECT f.{names.feed_name}, f.{names.delivery}, l.{names.load}, l.{names.loaded_on}, min({_lag(names)}) AS least,"
                f" max({_lag(names)}) AS most FROM {_joined(names)} WHERE c.{names.attempt} = 1"
                f" GROUP BY l.{names.load} HAVING min({_lag(names)}) < 0 OR max({_lag(names)}) > 120 ORDER BY 1, 3"
            ),
            check=(
                f"SELECT count(*) AS off FROM {_joined(names)} WHERE c.{names.attempt} = 1 AND f.{names.delivery} = '{names.direct}'"
                f" AND {_lag(names)} NOT BETWEEN 0 AND 120"
            ),
            numbers={
                "names": names,
                "fillers": fillers[:2],
                "extra": fillers[2],
                "owners": around(dice, 24, default=default),
                "loads": around(dice, 10, default=default),
                "rows": around(dice, 12, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """Feeds, loads, records with their times, and what the central service heard of them."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        dice = self.data_dice(scenario, variant)
        owners, feeds = varied_ids(dice, numbers["owners"]), varied_ids(dice, 8 if shifted else 6)
        deliveries = [names.direct] * (len(feeds) - 2) + [names.buffered] * 2
        dice.shuffle(deliveries)
        loads = _loads(dice, [delivery == names.direct for delivery in deliveries], numbers["loads"], shifted)
        load_ids = varied_ids(dice, len(loads), gap=3)
        hours = [(dice.randrange(24), dice.randint(5, 16)) for _ in feeds]
        record_ids = iter(varied_ids(dice, len(loads) * numbers["rows"], gap=3))
        broken: list[Row] = []
        right: list[Row | None] = []
        heard: list[tuple[datetime, int, int]] = []
        for load_id, load in zip(load_ids, loads, strict=True):
            confirmed = set(dice.sample(range(numbers["rows"]), max(4, round(0.45 * numbers["rows"]))))
            for place, cells in enumerate(rows_of(dice, fillers, numbers["rows"])):
                record, (hour, span) = next(record_ids), hours[load.feed]
                happened = datetime.combine(load.day, time()) + timedelta(hours=hour, seconds=dice.randrange(span * 3600))
                head: tuple[Cell, ...] = (record, dice.choice(owners), load_id, dice.choice(scenario.domain.kinds))
                broken.append((*head, str(happened + timedelta(minutes=load.offset)), *cells))
                right.append((*head, str(happened), *cells))
                if place in confirmed:
                    heard.extend(_heard(dice, record, happened, deliveries[load.feed] == names.direct))
        heard.sort()
        mended = Mended(_records(names, fillers, tuple(broken)), tuple(right))
        tables = (
            _owners(names, owners, labels(dice, scenario.domain, len(owners))),
            _feeds(names, list(zip(feeds, labels(dice, scenario.domain, len(feeds)), deliveries, strict=True))),
            Table(
                names.loads,
                (
                    (names.load, "INTEGER PRIMARY KEY"),
                    (names.feed, f"INTEGER NOT NULL REFERENCES {names.feeds}"),
                    (names.loaded_on, "TEXT"),
                ),
                tuple((key, feeds[load.feed], load.day.isoformat()) for key, load in zip(load_ids, loads, strict=True)),
            ),
            mended.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else mended,
            Table(
                names.confirmations,
                (
                    (names.confirmation, "INTEGER PRIMARY KEY"),
                    (names.record, f"INTEGER NOT NULL REFERENCES {names.records}"),
                    (names.attempt, "INTEGER NOT NULL"),
                    (names.confirmed, "TEXT NOT NULL"),
                ),
                tuple(
                    (key, record, attempt, str(at)) for key, (at, record, attempt) in zip(varied_ids(dice, len(heard)), heard, strict=True)
                ),
            ),
        )
        return content_of(tables, names.records)


def _strings(names: _Names) -> tuple[str, ...]:
    return tuple(getattr(names, field) for field in names.__slots__)


def _loads(dice: Random, direct: list[bool], per_feed: int, shifted: bool) -> list[_Load]:
    """All loads in the order in which they came; those that are off are neither a feed's first nor its last."""
    off: dict[tuple[int, int], int] = {}
    bad = dice.sample([feed for feed, is_direct in enumerate(direct) if is_direct], 2 if shifted else 1)
    for turn, (feed, offset) in enumerate(zip(bad, dice.sample(_OFFSETS, len(bad)), strict=True)):
        length = max(2, round((0.3 if shifted else 0.5) * per_feed))
        start = dice.randrange(1, per_feed - length)
        for place in range(length):
            summer = 60 if shifted and turn == 0 and place >= length // 2 else 0
            off[feed, start + place] = offset + summer
    first = day(dice, date(2017, 1, 1) if shifted else date(2021, 1, 1), 700)
    days = [first + timedelta(days=place * 2 + dice.randrange(2)) for place in range(per_feed)]
    loads = []
    for place, on in enumerate(days):
        turns = list(range(len(direct)))
        dice.shuffle(turns)
        loads += [_Load(on, feed, off.get((feed, place), 0)) for feed in turns]
    return loads


def _heard(dice: Random, record: int, happened: datetime, direct: bool) -> Iterator[tuple[datetime, int, int]]:
    first = happened + timedelta(seconds=dice.randint(3, 115) if direct else dice.randint(60, 9 * 3600 - 60))
    yield first, record, 1
    if dice.random() < 0.08:
        yield first + timedelta(seconds=dice.randint(3600, 30 * 3600)), record, 2


def _owners(names: _Names, keys: list[int], written: list[str]) -> Table:
    columns = ((names.owner, "INTEGER PRIMARY KEY"), (names.label, "TEXT NOT NULL"))
    return Table(names.owners, columns, tuple(zip(keys, written, strict=True)))


def _feeds(names: _Names, rows: list[Row]) -> Table:
    columns = ((names.feed, "INTEGER PRIMARY KEY"), (names.feed_name, "TEXT NOT NULL"), (names.delivery, "TEXT NOT NULL"))
    return Table(names.feeds, columns, tuple(rows))


def _records(names: _Names, fillers: tuple[PlainColumn, ...], rows: tuple[Row, ...]) -> Table:
    columns = (
        (names.record, "INTEGER PRIMARY KEY"),
        (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
        (names.load, f"INTEGER NOT NULL REFERENCES {names.loads}"),
        (names.kind, "TEXT NOT NULL"),
        (names.stamp, "TEXT NOT NULL"),
        *((filler.name, filler.declared) for filler in fillers),
    )
    return Table(names.records, columns, rows)


def _joined(names: _Names) -> str:
    return (
        f"{names.records} AS r JOIN {names.confirmations} AS c ON c.{names.record} = r.{names.record}"
        f" JOIN {names.loads} AS l ON l.{names.load} = r.{names.load} JOIN {names.feeds} AS f ON f.{names.feed} = l.{names.feed}"
    )


def _lag(names: _Names) -> str:
    return f"strftime('%s', c.{names.confirmed}) - strftime('%s', r.{names.stamp})"


def _fix(names: _Names) -> str:
    return (
        f"UPDATE {names.records} SET {names.stamp} = datetime({names.stamp}, o.seconds || ' seconds')\n"
        f"FROM (\n"
        f"  SELECT l.{names.load} AS held, 900 * CAST(round(avg({_lag(names)}) / 900.0) AS INTEGER) AS seconds\n"
        f"  FROM {_joined(names)}\n"
        f"  WHERE c.{names.attempt} = 1 AND f.{names.delivery} = '{names.direct}'\n"
        f"  GROUP BY l.{names.load}\n"
        f") AS o\n"
        f"WHERE {names.records}.{names.load} = o.held AND o.seconds <> 0;"
    )


def _description(domain: Domain, names: _Names, feed: str, load: str, answer: str) -> str:
    records, record, answers = spoken(domain.records), spoken(domain.record), spoken(answer) + "s"
    return (
        f"Our database is that of {domain.setting}. The overview of {records} by hour of the day is doubted: people who were there say "
        f"that some of the {records} stand at hours at which nothing happened.\n"
        f"House rules. The times in {names.records} are UTC, written YYYY-MM-DD HH:MM:SS, and say when each {record} happened. They reach "
        f"us through a {feed}, one {load} after the other (tables {names.feeds} and {names.loads}). The clock of a {feed} may be set "
        f"between two {load}s but never within one: all times of one {load} are right, or all are away from UTC by the same whole number "
        f"of quarter hours. A {feed} with {names.delivery} '{names.buffered}' takes its time from satellites and is always right.\n"
        f"Our central service keeps a clock of its own, which is right and in UTC; {names.confirmations} holds when it heard of the "
        f"{records}. Through '{names.direct}' {feed}s it hears at most two minutes after the {record} happened, through "
        f"'{names.buffered}' ones up to nine hours after. Not every {record} has one of these {answers}, and one may be sent "
        f"again later with a higher {names.attempt}: only the first says anything about when.\n"
        f"Repair the data so that every {record} stands at the time at which it happened. Leave everything else as it is."
    )


KIND: Final = TimezoneShift()
