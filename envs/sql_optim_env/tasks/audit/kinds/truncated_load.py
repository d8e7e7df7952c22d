"""A load that stopped half-way: the inbox still holds what never reached the books."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import PEOPLE, PlainColumn, around, day, draw_style, labels, plain_columns, spoken, varied_ids
from sql_optim_env.tasks.audit.scenario import Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_VERDICTS: Final = (("ok", "refused"), ("accepted", "rejected"), ("valid", "invalid"), ("passed", "failed"))

_STATES: Final = (("posted", "held"), ("booked", "open"), ("final", "draft"))


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    loads: str
    load: str
    sent: str
    state: str
    posted: str
    held: str
    inbox: str
    line: str
    called: str
    kind: str
    cents: str
    verdict: str
    accepted: str
    refused: str
    records: str
    amount: str
    amended: str
    taken_out: str
    why: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the inbox and what became of it."""

    load: int
    line: int
    owner: int
    kind: str
    cents: int
    accepted: bool
    cancelled: bool
    cut: bool
    amended: str | None
    amended_cents: int


class TruncatedLoad(Kind):
    """Lines of a load that are missing in the books from some line on.

    By default 15 loads of 60 lines, 900 in the inbox, of which one that is posted reached the books with its first 24 lines only. One
    other load is held and one is mostly refused, both rightly not in the books. Shifted: 18 loads, three of them cut at other places.
    """

    name: ClassVar[str] = "truncated_load"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and words."""
        style = draw_style(dice)
        load = dice.choice(("bundle", "consignment", "pouch", "despatch"))
        posted, held = dice.choice(_STATES)
        accepted, refused = dice.choice(_VERDICTS)
        verdicts = [name for name in ("verdict", "outcome_word", "check_result") if name != domain.kind]
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            loads=style.table(load + ("es" if load.endswith("ch") else "s")),
            load=style.key(load),
            sent=style.column("sent_on"),
            state=style.column(dice.choice(("state", "standing", "progress"))),
            posted=posted,
            held=held,
            inbox=style.table(domain.record, dice.choice(("inbox", "staging", "raw", "intake"))),
            line=style.column("line", dice.choice(("no", "nr", "place"))),
            called=style.column(domain.owner, dice.choice(("called", "as_written", "title"))),
            kind=style.column(domain.kind),
            cents=style.column(dice.choice(("amount_cents", "cents", "pence"))),
            verdict=style.column(dice.choice(verdicts)),
            accepted=accepted,
            refused=refused,
            records=style.table(domain.records),
            amount=style.column(dice.choice(("amount", "charge", "price"))),
            amended=style.column(dice.choice(("amended_by", "corrected_by", "changed_by"))),
            taken_out=style.table(dice.choice(("withdrawals", "cancellations", "strikeouts"))),
            why=style.column("why"),
        )
        fillers = plain_columns(dice, domain, style, 4, taken=[getattr(names, field) for field in names.__slots__])
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, load),
            target=names.records,
            defect=Defect(names.records, (names.load, names.line)),
            expected=ExpectedAnswer(),
            reference_fix=_fix(names),
            structure_look=f"PRAGMA table_info({names.records})",
            column_look=f"SELECT s.{names.load}, count(*) AS lacking FROM {_lacking(names)} GROUP BY s.{names.load} ORDER BY 1",
            check=f"SELECT count(*) AS lacking FROM {_lacking(names)}",
            numbers={
                "names": names,
                "fillers": fillers[:3],
                "extra": fillers[3],
                "owners": around(dice, 25, default=default),
                "loads": around(dice, 15, default=default),
                "lines": around(dice, 60, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """Owners, loads, the inbox, what was taken out on purpose, and the books."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        dice = self.data_dice(scenario, variant)
        owners = varied_ids(dice, numbers["owners"])
        written = dict(zip(owners, labels(dice, scenario.domain, len(owners)), strict=True))
        loads = varied_ids(dice, numbers["loads"] + (3 if shifted else 0))
        special = dice.sample(loads, 5 if shifted else 3)
        held, shunned, cut = special[0], special[1], special[2:]
        lines = [
            line
            for load in loads
            for line in _lines(
                dice, load, owners, scenario.domain, numbers["lines"], shunned=load == shunned, cut=load in cut, shifted=shifted
            )
        ]
        first = day(dice, date(2014, 1, 1) if shifted else date(2020, 1, 1), 900)
        books: list[Row] = []
        missing: list[Row] = []
        for line in lines:
            if line.load == held or not line.accepted or line.cancelled:
                continue
            if line.cut:
                missing.append((line.load, line.line, line.owner, line.kind, line.cents / 100, None))
            else:
                books.append((line.load, line.line, line.owner, line.kind, line.amended_cents / 100, line.amended))
        # The books are in no order, so that neither their end nor their keys show where something is missing.
        dice.shuffle(books)
        mended = Mended(_books(names, tuple(books)), tuple(books), tuple(missing))
        inbox_rows = tuple(
            (
                line.load,
                line.line,
                written[line.owner],
                line.kind,
                line.cents,
                names.accepted if line.accepted else names.refused,
                *(filler.cell(dice) for filler in fillers[:2]),
            )
            for line in lines
        )
        load_rows = tuple(
            (load, (first + timedelta(days=3 * place + dice.randrange(3))).isoformat(), names.held if load == held else names.posted, cell)
            for place, (load, cell) in enumerate(zip(loads, (fillers[2].cell(dice) for _ in loads), strict=True))
        )
        out = [(line.load, line.line, dice.choice(("by phone", "by letter", "at the counter"))) for line in lines if line.cancelled]
        dice.shuffle(out)
        tables = (
            Table(names.owners, ((names.owner, "INTEGER PRIMARY KEY"), (names.label, "TEXT NOT NULL")), tuple(written.items())),
            Table(
                names.loads,
                (
                    (names.load, "INTEGER PRIMARY KEY"),
                    (names.sent, "TEXT NOT NULL"),
                    (names.state, "TEXT NOT NULL"),
                    (fillers[2].name, fillers[2].declared),
                ),
                load_rows,
            ),
            _inbox(names, fillers[:2], inbox_rows),
            Table(
                names.taken_out,
                ((names.load, "INTEGER NOT NULL"), (names.line, "INTEGER NOT NULL"), (names.why, "TEXT")),
                tuple(out),
                (f"PRIMARY KEY ({names.load}, {names.line})",),
            ),
            mended.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else mended,
        )
        return content_of(tables, names.records)


def _lines(
    dice: Random, load: int, owners: list[int], domain: Domain, count: int, *, shunned: bool, cut: bool, shifted: bool
) -> list[_Line]:
    """The lines of one load; of one that was cut those behind a part of them never arrived."""
    arrived = round(count * (dice.uniform(0.2, 0.8) if shifted else 0.4)) if cut else count
    lines = []
    for line in range(1, count + 1):
        cents, changed = dice.randint(150, 60_000), dice.random() < 0.05
        lines.append(
            _Line(
                load=load,
                line=line,
                owner=dice.choice(owners),
                kind=dice.choice(domain.kinds),
                cents=cents,
                accepted=dice.random() < (0.2 if shunned else 0.93),
                cancelled=dice.random() < 0.05,
                cut=line > arrived,
                amended=f"{dice.choice('ABCDEFGH')}. {dice.choice(PEOPLE)}" if changed else None,
                amended_cents=cents + dice.choice((-100, 50, 900, 1_200)) if changed else cents,
            )
        )
    return lines


def _inbox(names: _Names, fillers: tuple[PlainColumn, ...], rows: tuple[Row, ...]) -> Table:
    columns = (
        (names.load, f"INTEGER NOT NULL REFERENCES {names.loads}"),
        (names.line, "INTEGER NOT NULL"),
        (names.called, "TEXT NOT NULL"),
        (names.kind, "TEXT NOT NULL"),
        (names.cents, "INTEGER NOT NULL"),
        (names.verdict, "TEXT NOT NULL"),
        *((filler.name, filler.declared) for filler in fillers),
    )
    return Table(names.inbox, columns, rows, (f"PRIMARY KEY ({names.load}, {names.line})",))


def _books(names: _Names, rows: tuple[Row, ...]) -> Table:
    columns = (
        (names.load, f"INTEGER NOT NULL REFERENCES {names.loads}"),
        (names.line, "INTEGER NOT NULL"),
        (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
        (names.kind, "TEXT NOT NULL"),
        (names.amount, "REAL NOT NULL"),
        (names.amended, "TEXT"),
    )
    return Table(names.records, columns, rows, (f"PRIMARY KEY ({names.load}, {names.line})",))


def _lacking(names: _Names) -> str:
    """What the inbox holds for the books and the books do not hold, as the end of a FROM with the inbox as ``s``."""

    def without(table: str) -> str:
        return f"NOT EXISTS (SELECT 1 FROM {table} AS x WHERE x.{names.load} = s.{names.load} AND x.{names.line} = s.{names.line})"

    return (
        f"{names.inbox} AS s JOIN {names.loads} AS l ON l.{names.load} = s.{names.load}"
        f" JOIN {names.owners} AS o ON o.{names.label} = s.{names.called}"
        f" WHERE s.{names.verdict} = '{names.accepted}' AND l.{names.state} = '{names.posted}'"
        f" AND {without(names.taken_out)} AND {without(names.records)}"
    )


def _fix(names: _Names) -> str:
    return (
        f"INSERT INTO {names.records} ({names.load}, {names.line}, {names.owner}, {names.kind}, {names.amount})\n"
        f"SELECT s.{names.load}, s.{names.line}, o.{names.owner}, s.{names.kind}, s.{names.cents} / 100.0\n"
        f"FROM {_lacking(names)};"
    )


def _description(domain: Domain, names: _Names, load: str) -> str:
    records, owners = spoken(domain.records), spoken(domain.owners)
    return (
        f"Our database is that of {domain.setting}. Some {owners} ask after {records} that they handed in and that are not in their "
        f"statements.\n"
        f"House rules. What is handed in comes in a {load} at a time ({names.loads}) and is kept for good in {names.inbox}, one row a "
        f"line. From there each line that was '{names.accepted}', of each {load} that is '{names.posted}', goes over into {names.records}, "
        f"once, under the same number of {load} and line: there its money stands in whole units with decimals, not in cents, and the "
        f"{spoken(domain.owner)} under its key. What was '{names.refused}' or is in a {load} that is '{names.held}' does not go over. What "
        f"is listed in {names.taken_out} was taken out on purpose and stays out. Lines in {names.records} that somebody amended later "
        f"(the name stands in {names.amended}) are right as they are there; on a fresh line that column is empty (NULL).\n"
        f"Repair the data so that the rules hold. Leave everything else as it is."
    )


KIND: Final = TruncatedLoad()
