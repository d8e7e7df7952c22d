"""Entries that refer to something which is not on file: one of three references of a table leads nowhere for part of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Final, Literal, get_args

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PEOPLE,
    PlainColumn,
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

_Rule = Literal["delete", "empty", "collect"]

_ROWS: Final = 1_200
_ORPHANS: Final = 180

_PARENTS: Final = (
    ("bookkeeper", "bookkeepers"),
    ("office", "offices"),
    ("tariff", "tariffs"),
    ("supplier", "suppliers"),
    ("branch", "branches"),
    ("insurer", "insurers"),
    ("agent", "agents"),
    ("season_pass", "season_passes"),
)
_CAUGHT: Final = ("(to be clarified)", "(unassigned)", "(holding entry)", "(not known yet)")
_AMOUNTS: Final = ("amount", "net_sum", "booked", "charged", "settled")
_NAMES: Final = ("title", "called", "full_name", "wording")

_SYMPTOMS: Final = (
    "The monthly list shows every {record} together with its {a}, its {b} and its {c}, and it has clearly fewer lines than `{table}` has "
    "rows with all three filled in. Its sum of `{amount}` is too small by as much.",
    "When we print `{table}` with the names out of {tables}, part of the {records} just vanish, although nothing was left open on them.",
    "The sum of `{amount}` over `{table}` is right when we take the table alone, and too small as soon as we bring in the names "
    "from {tables}. What was left open explains only a small part of it.",
)

_RULES: Final[dict[_Rule, str]] = {
    "delete": "{a_record} that refers to something which is not on file is void by our rules: it goes, as a whole row.",
    "empty": "{a_record} that refers to something which is not on file stays, but that reference of it has to be left open: NULL.",
    "collect": (
        "{a_record} that refers to something which is not on file stays, and is put under the catch-all for that reference: the row named "
        "'{caught}', which {tables} have one of each."
    ),
}


@dataclass(frozen=True, slots=True)
class _Parent:
    thing: str
    """What a row of it is, as words."""
    table: str
    key: str
    label: str
    size: int


@dataclass(frozen=True, slots=True)
class _Plan:
    table: str
    key: str
    when: str
    amount: str
    parents: tuple[_Parent, _Parent, _Parent]
    """What the table refers to, in a drawn order; the columns bear the names of the keys."""
    at: int
    """The reference that leads nowhere for some rows."""
    order: tuple[str, ...]
    plain: tuple[PlainColumn, ...]
    extra: PlainColumn
    rows: int
    orphans: int
    rule: _Rule
    caught: str

    @property
    def faulty(self) -> _Parent:
        return self.parents[self.at]


class FkIntegrity(Kind):
    """Settle the entries whose reference leads nowhere, by the house's rule."""

    name = "fk_integrity"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """Without default sizes: other numbers, and another rule of the house for such entries."""
        plan = _plan(domain, dice, default=default)
        faulty = plan.faulty
        nowhere = f"{faulty.key} IS NOT NULL AND {faulty.key} NOT IN (SELECT {faulty.key} FROM {faulty.table})"
        counts = ", ".join(
            f"SUM({parent.key} IS NOT NULL AND {parent.key} NOT IN (SELECT {parent.key} FROM {parent.table})) AS {parent.key}"
            for parent in plan.parents
        )
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, dice, plan),
            target=plan.table,
            defect=Defect(plan.table, (faulty.key,)),
            expected=ExpectedAnswer(),
            reference_fix=_reference_fix(plan, nowhere),
            structure_look=f"PRAGMA table_info({plan.table})",
            column_look=f"SELECT COUNT(*) AS row_count, {counts} FROM {plan.table}",
            check=f"SELECT COUNT(*) AS row_count, COUNT({faulty.key}) AS filled, SUM({nowhere}) AS leading_nowhere FROM {plan.table}",
            numbers={"plan": plan},
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The entries, and the three tables to which they refer."""
        plan: _Plan = scenario.numbers["plan"]
        shifted = variant == "shifted"
        dice = self.data_dice(scenario, variant)
        ids = [_ids(dice, parent, shifted=shifted) for parent in plan.parents]
        known = list(ids)
        # Those struck off stood among the others, so no bound on the number tells them apart.
        struck = set(dice.sample(ids[plan.at], len(ids[plan.at]) // 4))
        known[plan.at] = [one for one in ids[plan.at] if one not in struck]
        caught = [dice.choice((ids[k][0] - dice.randint(1, ids[k][0]), ids[k][-1] + dice.randint(5_000, 90_000))) for k in range(3)]
        parents = [_parent(dice, scenario.domain, plan, k, known[k], caught[k]) for k in range(3)]
        entries = _entries(dice, plan, parents, sorted(struck), shifted=shifted)
        if variant == "extra_column":
            entries = entries.widened(plan.extra, self.dice(scenario, "extra"))
        return content_of([*parents, entries], plan.table)


def _plan(domain: Domain, dice: Random, *, default: bool) -> _Plan:
    style = draw_style(dice)
    words = [(domain.owner, domain.owners), *dice.sample([pair for pair in _PARENTS if domain.owners != pair[1]], 2)]
    dice.shuffle(words)
    label = style.column(dice.choice(_NAMES))
    parents = tuple(
        _Parent(
            thing=spoken(thing),
            table=style.table(things),
            key=style.key(thing),
            label=style.column(domain.label) if thing == domain.owner else label,
            size=dice.randint(50, 110),
        )
        for thing, things in words
    )
    key, when, amount = style.key(domain.record), style.column(domain.when), style.column(dice.choice(_AMOUNTS))
    references = [parent.key for parent in parents]
    *plain, extra = plain_columns(dice, domain, style, dice.randint(2, 4), taken=(key, when, amount, *references))
    order = [when, amount, *references, *(column.name for column in plain)]
    dice.shuffle(order)
    rows = around(dice, _ROWS, default=default)
    return _Plan(
        table=style.table(domain.records),
        key=key,
        when=when,
        amount=amount,
        parents=(parents[0], parents[1], parents[2]),
        at=dice.randrange(3),
        order=(key, *order),
        plain=tuple(plain),
        extra=extra,
        rows=rows,
        orphans=_ORPHANS if default else round(rows * dice.uniform(0.1, 0.22)),
        rule="delete" if default else dice.choice(get_args(_Rule)),
        caught=dice.choice(_CAUGHT),
    )


def _ids(dice: Random, parent: _Parent, *, shifted: bool) -> list[int]:
    return varied_ids(dice, parent.size * (2 if shifted else 1), gap=9 if shifted else 4)


def _parent(dice: Random, domain: Domain, plan: _Plan, at: int, ids: list[int], catch_all: int) -> Table:
    """A table that is referred to, with its catch-all, whose number lies far from the others and yet is in order."""
    parent = plan.parents[at]
    names = labels(dice, domain, len(ids))
    if parent.thing != spoken(domain.owner):
        names = [f"{dice.choice(PEOPLE)} {number}" for number in range(1, len(ids) + 1)]
    rows: list[Row] = [*zip(ids, names, strict=True), (catch_all, plan.caught)]
    dice.shuffle(rows)
    return Table(parent.table, ((parent.key, "INTEGER"), (parent.label, "TEXT")), tuple(rows))


def _entries(dice: Random, plan: _Plan, parents: list[Table], struck: list[int], *, shifted: bool) -> Mended:
    """The entries; some leave references open, which is as it should be."""
    count = round(plan.rows * 0.7) if shifted else plan.rows
    orphans = positions(dice, count, round(plan.orphans * (2 if dice.random() < 0.5 else 0.4)) if shifted else plan.orphans)
    first = date(dice.randint(2016, 2023), dice.randint(1, 12), 1)
    filled = rows_of(dice, plan.plain, count)
    cells: dict[str, list[Cell]] = {column.name: [row[k] for row in filled] for k, column in enumerate(plan.plain)}
    cells[plan.key] = [*varied_ids(dice, count)]
    cells[plan.when] = iso_days(dice, first, 30 if shifted else 365, count)
    cells[plan.amount] = [cents / 100 for cents in dice.choices(range(200, 60_000), k=count)]
    for parent, table in zip(plan.parents, parents, strict=True):
        cells[parent.key] = list(dice.choices([row[0] for row in table.rows], k=count))
        for at in positions(dice, count, dice.uniform(0.1, 0.15) if shifted else dice.uniform(0.03, 0.06)):
            cells[parent.key][at] = None
    right = list(cells[plan.faulty.key])
    settled = next(row[0] for row in parents[plan.at].rows if row[1] == plan.caught) if plan.rule == "collect" else None
    for at in orphans:
        cells[plan.faulty.key][at], right[at] = dice.choice(struck), settled
    rows: tuple[Row, ...] = tuple(zip(*(cells[name] for name in plan.order), strict=True))
    mended: list[Row | None] = list(zip(*((cells | {plan.faulty.key: right})[name] for name in plan.order), strict=True))
    if plan.rule == "delete":
        for at in orphans:
            mended[at] = None
    types = {column.name: column.declared for column in plan.plain} | {plan.amount: "REAL", plan.when: "TEXT"}
    columns = tuple((name, types.get(name, "INTEGER")) for name in plan.order)
    return Mended(Table(plan.table, columns, rows), tuple(mended))


def _reference_fix(plan: _Plan, nowhere: str) -> str:
    faulty = plan.faulty
    if plan.rule == "delete":
        return f"DELETE FROM {plan.table} WHERE {nowhere};"
    settled = f"(SELECT {faulty.key} FROM {faulty.table} WHERE {faulty.label} = '{plan.caught}')" if plan.rule == "collect" else "NULL"
    return f"UPDATE {plan.table} SET {faulty.key} = {settled} WHERE {nowhere};"


def _description(domain: Domain, dice: Random, plan: _Plan) -> str:
    a, b, c = (parent.thing for parent in plan.parents)
    tables = "`{}`, `{}` and `{}`".format(*(parent.table for parent in plan.parents))
    record, records = spoken(domain.record), spoken(domain.records)
    words = {
        "record": record,
        "records": records,
        "a_record": started(a_or_an(record)),
        "a": a,
        "b": b,
        "c": c,
        "tables": tables,
        "table": plan.table,
        "amount": plan.amount,
    }
    symptom = dice.choice(_SYMPTOMS).format(**words)
    return (
        f"{started(domain.setting)} keeps a ledger of its {records} in `{plan.table}`. Each refers by number to {a_or_an(a)}, "
        f"{a_or_an(b)} and {a_or_an(c)}, which stand in {tables}. {symptom}\n\n"
        "Any of the three may be left open, NULL, while it is not known: that is in order, and such rows stay as they are. "
        f"{_RULES[plan.rule].format(caught=plan.caught, **words)} Numbers are given out without any order, so an odd one is not wrong "
        f"for being odd; what counts is whether it is on file. {started(tables)} themselves are right.\n\n"
        f"Repair `{plan.table}` by that rule. Every other row and every other value has to stay exactly as it is."
    )


KIND: Final = FkIntegrity()
