"""One of three tables that a report joins was loaded twice in part: rows stand there again, whole, under the same number.

Which table it is, the totals do not say; each of them repeats the keys of the others for good reasons.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Final, Literal, get_args

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PlainColumn,
    Style,
    a_or_an,
    around,
    draw_style,
    iso_days,
    labels,
    plain_columns,
    positions,
    rows_of,
    spoken,
    started,
    varied_ids,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_Place = Literal["owners", "records", "postings"]
_PLACES: Final[tuple[_Place, ...]] = get_args(_Place)

_ORDERS: Final = 160
_BATCHES: Final = 8
"""Batches of each table; by default every one of the faulty table's was loaded again, which makes 160 copies."""

_TWINS: Final = 0.06
"""Rows that agree with another one in everything but their number: two things that are alike, and no mistake."""

_MIXED: Final = 4
"""Under a seed at least so many of them."""

_POSTINGS: Final = ("payments", "charges", "invoice_lines", "receipts", "bookings")
_LOGS: Final = ("load_log", "import_log", "intake", "nightly_runs", "feed_history")
_AMOUNTS: Final = ("amount", "net_sum", "booked", "charged", "settled")

_SYMPTOMS: Final = (
    "The report that adds up `{amount}` per {group} comes out far above the cash book. It joins {tables}.",
    "Since the last month's close, `{amount}` over {tables} joined is much more than was ever taken in; nobody knows which of them is off.",
    "Head office gets a sum of `{amount}` per {group}, from {tables}, that is plainly too high, and the cash book has been checked twice.",
)


@dataclass(frozen=True, slots=True)
class _Run:
    """One night's load of a batch, or the attempt at one."""

    batch: int
    night: str
    whole: bool


@dataclass(frozen=True, slots=True)
class _TablePlan:
    table: str
    key: str
    columns: tuple[str, ...]
    """Columns apart from the key, in the order in which they stand behind or before it."""
    key_at: int
    plain: tuple[PlainColumn, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    owners: _TablePlan
    records: _TablePlan
    postings: _TablePlan
    log: str
    log_columns: tuple[str, ...]
    faulty: _Place
    distinct: int
    again: int
    """Batches that were loaded again."""
    stamped: bool
    """Whether rows tell when they were loaded; a copy then differs in that."""
    batch: str
    loaded_on: str
    label: str
    group: str
    when: str
    amount: str
    posting: str
    extra: PlainColumn

    def of(self, place: _Place) -> _TablePlan:
        return {"owners": self.owners, "records": self.records, "postings": self.postings}[place]


class DedupBug(Kind):
    """Remove the rows that were loaded again."""

    name = "dedup_bug"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """Without default sizes: any of three tables may be the one, in part loaded twice, and rows may tell when they were loaded."""
        plan = _plan(domain, dice, default=default)
        faulty = plan.of(plan.faulty)
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, dice, plan),
            target=faulty.table,
            defect=Defect(faulty.table, (faulty.key,)),
            expected=ExpectedAnswer(root_cause_table=faulty.table, offending_key=faulty.key),
            reference_fix=_reference_fix(plan, faulty),
            structure_look=f"PRAGMA table_info({faulty.table})",
            column_look=f"SELECT COUNT(*) AS row_count, COUNT(DISTINCT {faulty.key}) AS different FROM {faulty.table}",
            check=(
                f"SELECT {faulty.key}, COUNT(*) AS times FROM {faulty.table} GROUP BY {faulty.key} HAVING COUNT(*) > 1 "
                f"ORDER BY {faulty.key} LIMIT 20"
            ),
            numbers={"plan": plan},
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """Owners, their records, the records' postings, one of them with rows that stand there again, and the log of the loads."""
        plan: _Plan = scenario.numbers["plan"]
        shifted = variant == "shifted"
        dice = self.data_dice(scenario, variant)
        runs = _runs(dice, plan, shifted=shifted)
        tables = _tables(dice, plan, scenario.domain, runs, shifted=shifted)
        parts: list[Table | Mended] = []
        for place in _PLACES:
            mended = _loaded(dice, plan, tables[place], runs[place])
            if place == plan.faulty and variant == "extra_column":
                mended = _widened(mended, plan, self.dice(scenario, "extra"))
            parts.append(mended)
        return content_of([*parts, _log(dice, plan, tables, runs)], plan.of(plan.faulty).table)


def _plan(domain: Domain, dice: Random, *, default: bool) -> _Plan:
    style = draw_style(dice)
    faulty: _Place = "records" if default else dice.choice(_PLACES)
    stamped = False if default else dice.random() < 0.4
    distinct = around(dice, _ORDERS, default=default)
    label, group, when = style.column(domain.label), style.column(domain.group), style.column(domain.when)
    amount, posting = style.column(dice.choice(_AMOUNTS)), dice.choice(_POSTINGS)
    owner_key, record_key, posting_key = style.key(domain.owner), style.key(domain.record), style.key(posting.removesuffix("s"))
    batches = [name for name in map(style.column, ("batch_no", "run_no", "load_no")) if name not in (owner_key, record_key, posting_key)]
    batch, loaded_on = dice.choice(batches), style.column(dice.choice(("loaded_on", "arrived_on")))
    taken = {batch, loaded_on, label, group, when, amount, owner_key, record_key, posting_key}
    plain = plain_columns(dice, domain, style, 7, taken=taken)
    fixed = {"owners": [label, group], "records": [owner_key, when], "postings": [record_key, amount]}
    keys = {"owners": owner_key, "records": record_key, "postings": posting_key}
    words = {"owners": domain.owners, "records": domain.records, "postings": posting}
    plans = {
        place: _table_plan(dice, style.table(words[place]), keys[place], fixed[place], plain[2 * k : 2 * k + 2], batch, stamped * loaded_on)
        for k, place in enumerate(_PLACES)
    }
    return _Plan(
        **plans,
        log=style.table(dice.choice(_LOGS)),
        log_columns=_log_columns(dice, style, batch),
        faulty=faulty,
        distinct=distinct,
        again=_BATCHES if default else dice.randint(_MIXED, _BATCHES),
        stamped=stamped,
        batch=batch,
        loaded_on=loaded_on,
        label=label,
        group=group,
        when=when,
        amount=amount,
        posting=spoken(posting).removesuffix("s"),
        extra=plain[6],
    )


def _table_plan(
    dice: Random, table: str, key: str, fixed: list[str], plain: tuple[PlainColumn, ...], batch: str, loaded_on: str
) -> _TablePlan:
    columns = [*fixed, *(column.name for column in plain), batch]
    dice.shuffle(columns)
    if loaded_on:
        columns.append(loaded_on)
    return _TablePlan(table, key, tuple(columns), dice.randrange(0, 3), plain)


def _log_columns(dice: Random, style: Style, batch: str) -> tuple[str, ...]:
    return (
        style.column(dice.choice(("feed", "goes_to", "for_table"))),
        batch,
        style.column(dice.choice(("status", "outcome", "ended"))),
        style.column(dice.choice(("line_count", "lines_read", "rows_taken"))),
        style.column(dice.choice(("run_on", "started_on", "night_of"))),
    )


def _runs(dice: Random, plan: _Plan, *, shifted: bool) -> dict[_Place, list[_Run]]:
    """Every table's runs: each batch once, some after a run that broke off, and the faulty table's batches that went through again."""
    first = date(dice.randint(2019, 2024), dice.randint(1, 12), dice.randint(1, 9))
    night = [(first + timedelta(days=k)).isoformat() for k in range(_BATCHES + 2)]
    runs: dict[_Place, list[_Run]] = {}
    for place in _PLACES:
        broken = dice.sample(range(_BATCHES), dice.randint(1, 3))
        runs[place] = [_Run(batch, night[batch], whole=False) for batch in broken]
        runs[place] += [_Run(batch, night[batch], whole=True) for batch in range(_BATCHES)]
    again = dice.sample(range(_BATCHES), max(2, plan.again // 2) if shifted else plan.again)
    runs[plan.faulty] += [_Run(batch, night[_BATCHES], whole=True) for batch in again]
    if shifted:
        runs[plan.faulty] += [_Run(batch, night[_BATCHES + 1], whole=True) for batch in again[:2]]
    return runs


def _tables(dice: Random, plan: _Plan, domain: Domain, runs: dict[_Place, list[_Run]], *, shifted: bool) -> dict[_Place, Table]:
    """The three tables as they should be. The faulty one's size is the plan's; the others are sized after it."""
    size = round(plan.distinct * 1.6) if shifted else plan.distinct
    sizes: dict[_Place, int] = {
        "owners": round(size * dice.uniform(0.2, 0.4)),
        "records": round(size * dice.uniform(0.8, 1.2)),
        "postings": round(size * dice.uniform(1.2, 1.6)),
        plan.faulty: size,
    }
    keys = {place: varied_ids(dice, count) for place, count in sizes.items()}
    first = date(dice.randint(2017, 2023), dice.randint(1, 12), 1)
    dates = 20 if shifted else 90
    own: dict[_Place, dict[str, list[Cell]]] = {
        "owners": {
            plan.label: list(labels(dice, domain, sizes["owners"])),
            plan.group: list(dice.choices(range(1, 8), k=sizes["owners"])),
        },
        "records": {
            plan.owners.key: list(dice.choices(keys["owners"], k=sizes["records"])),
            plan.when: iso_days(dice, first, dates, sizes["records"]),
        },
        "postings": {
            plan.records.key: list(dice.choices(keys["records"], k=sizes["postings"])),
            plan.amount: [5 * step / 2 for step in dice.choices(range(1, 12 if not shifted else 60), k=sizes["postings"])],
        },
    }
    return {place: _table(dice, plan, place, keys[place], own[place], runs[place]) for place in _PLACES}


def _table(dice: Random, plan: _Plan, place: _Place, keys: list[int], own: dict[str, list[Cell]], runs: list[_Run]) -> Table:
    part = plan.of(place)
    count = len(keys)
    filled = rows_of(dice, part.plain, count)
    cells: dict[str, list[Cell]] = own | {column.name: [row[k] for row in filled] for k, column in enumerate(part.plain)}
    # The runs of a batch stand in the order of their nights, and the first that went through brought the rows.
    nights = {run.batch: run.night for run in reversed(runs) if run.whole}
    batches = sorted(dice.choices(range(_BATCHES), k=count))
    cells[part.key] = [*keys]
    cells[plan.batch] = [batch + 1 for batch in batches]
    cells[plan.loaded_on] = [nights[batch] for batch in batches]
    for at in positions(dice, count, _TWINS):
        twin = dice.randrange(count)
        for name in part.columns:
            cells[name][at] = cells[name][twin]
    names = list(part.columns)
    names.insert(part.key_at, part.key)
    types = {column.name: column.declared for column in part.plain} | dict.fromkeys((plan.label, plan.when, plan.loaded_on), "TEXT")
    types[plan.amount] = "REAL"
    columns = tuple((name, types.get(name, "INTEGER")) for name in names)
    return Table(part.table, columns, tuple(zip(*(cells[name] for name in names), strict=True)))


def _loaded(dice: Random, plan: _Plan, table: Table, runs: list[_Run]) -> Mended:
    """The table as its runs left it, in mixed order."""
    batch = table.names.index(plan.batch)
    stamp = table.names.index(plan.loaded_on) if plan.stamped else None
    pairs: list[tuple[Row, Row | None]] = [(row, row) for row in table.rows]
    for run in _repeats(runs):
        for row in table.rows:
            if row[batch] == run.batch + 1:
                copy = row if stamp is None else (*row[:stamp], run.night, *row[stamp + 1 :])
                pairs.append((copy, None))
    dice.shuffle(pairs)
    rows, right = zip(*pairs, strict=True)
    return Mended(Table(table.name, table.columns, rows), _first_of_equals(rows) if stamp is None else right)


def _repeats(runs: list[_Run]) -> list[_Run]:
    """The runs that brought what an earlier one had brought."""
    whole = [run for run in runs if run.whole]
    return [run for k, run in enumerate(whole) if any(run.batch == earlier.batch for earlier in whole[:k])]


def _first_of_equals(rows: tuple[Row, ...]) -> tuple[Row | None, ...]:
    seen: set[Row] = set()
    right: list[Row | None] = []
    for row in rows:
        right.append(None if row in seen else row)
        seen.add(row)
    return tuple(right)


def _widened(mended: Mended, plan: _Plan, dice: Random) -> Mended:
    """With one more column, which is filled alike for a row and its copies."""
    wide = mended.widened(plan.extra, dice)
    key, extra = wide.table.names.index(plan.of(plan.faulty).key), wide.table.names.index(plan.extra.name)
    by_key: dict[Cell, Cell] = {}

    def alike(row: Row) -> Row:
        return (*row[:extra], by_key.setdefault(row[key], row[extra]), *row[extra + 1 :])

    rows = tuple(map(alike, wide.table.rows))
    right = tuple(row and alike(row) for row in wide.right)
    return Mended(Table(wide.table.name, wide.table.columns, rows), right)


def _log(dice: Random, plan: _Plan, tables: dict[_Place, Table], runs: dict[_Place, list[_Run]]) -> Table:
    """What was loaded when, true in every line: runs that broke off brought nothing, those that went through again brought all again."""
    done, broken = dice.choice((("done", "broken off"), ("ok", "failed"), ("finished", "aborted")))
    rows: list[Row] = []
    for place in _PLACES:
        at = tables[place].names.index(plan.batch)
        sizes = Counter(row[at] for row in tables[place].rows)
        rows += [
            (plan.of(place).table, run.batch + 1, done if run.whole else broken, sizes[run.batch + 1] if run.whole else 0, run.night)
            for run in runs[place]
        ]
    # Stable, so that a run that broke off stands before the one that was started for it.
    rows.sort(key=lambda row: str(row[4]))
    types = ("TEXT", "INTEGER", "TEXT", "INTEGER", "TEXT")
    return Table(plan.log, tuple(zip(plan.log_columns, types, strict=True)), tuple(rows))


def _reference_fix(plan: _Plan, faulty: _TablePlan) -> str:
    order = f"{plan.loaded_on}, rowid" if plan.stamped else "rowid"
    return (
        f"DELETE FROM {faulty.table} WHERE rowid NOT IN (SELECT kept FROM (SELECT rowid AS kept, "
        f"ROW_NUMBER() OVER (PARTITION BY {faulty.key} ORDER BY {order}) AS place FROM {faulty.table}) WHERE place = 1);"
    )


def _description(domain: Domain, dice: Random, plan: _Plan) -> str:
    tables = f"`{plan.owners.table}`, `{plan.records.table}` and `{plan.postings.table}`"
    owner, record, posting = spoken(domain.owner), spoken(domain.record), plan.posting
    records = spoken(domain.records)
    symptom = dice.choice(_SYMPTOMS).format(amount=plan.amount, group=spoken(domain.group), tables=tables)
    first = (
        " Where the same thing came in more than once, what came in on the earliest day is right, and it is that row which has to stay."
        if plan.stamped
        else ""
    )
    return (
        f"{started(domain.setting)} fills its tables every night from files, batch by batch, and notes the runs in `{plan.log}`. "
        f"{symptom}\n\n"
        f"In a right database every {owner}, every {record} and every {posting} stands in its table exactly once, under a number of its "
        f"own; no file ever brings the same number for two different things.{first} That {a_or_an(owner)} has many {records}, or "
        f"{a_or_an(record)} many {posting}s, is no mistake, nor is it when two of them agree in everything but their number.\n\n"
        "Find the table that is not as it should be and repair it: each thing once, nothing else lost or changed. Leave all other tables, "
        "the log among them, as they are. Then hand in the name of that table in `root_cause_table`, and in `offending_key` the column of "
        "it that should have told its rows apart and does not."
    )


KIND: Final = DedupBug()
