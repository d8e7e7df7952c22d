"""Amounts that landed in a table as text, as people wrote them: with separators, currency signs, spaces, three ways to write a minus."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PlainColumn,
    around,
    create_table,
    draw_style,
    iso_days,
    labels,
    plain_columns,
    positions,
    rows_of,
    spoken,
    started,
    unchanged,
    varied_ids,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, TableTruth, Variant

__all__ = ["KIND"]

_ROWS: Final = 1_000
_PERFECT_SHARE: Final = 0.995
"""Of the amounts, how many a repair must have kept to be perfect."""

_MONEY_NAMES: Final = ("gross_sum", "net_due", "charged", "billed", "paid_in", "till_value", "owed", "booked_value", "settled")
_PAPER_NAMES: Final = ("sheet_no", "card_no", "counterfoil", "stub_no")
_CURRENCIES: Final = (("€", "EUR"), ("$", "USD"), ("£", "GBP"), ("¤", "CRD"))
_NOTATIONS: Final = ((",", ".", "a comma"), (".", ",", "a dot"), ("'", ".", "an apostrophe"), (" ", ",", "a space"))
_FORMS: Final = ("plain", "grouped", "whole", "sign", "sign apart", "code", "code first", "padded")
_MINUSES: Final = ("before", "after", "brackets", "before")
_NOTHING: Final = ("", "-", "n/a", " ", "--")

_SYMPTOMS: Final = (
    "The books do not add up: when we sum one of the money columns of `{table}`, the total is far below what the bank says, and a list "
    "sorted by it puts 95 above 1,000.",
    "Since `{table}` was taken over from spreadsheets, averages of one of its money columns are nonsense, and a search for all above "
    "100 finds nearly every row.",
    "The auditors refuse our yearly figure on {records}: totals of one money column of `{table}` come out much too low, and its largest "
    "value is plainly not the largest.",
)


@dataclass(frozen=True, slots=True)
class _Plan:
    table: str
    owners: str
    key: str
    owner_key: str
    label: str
    when: str
    paper: str
    amount: str
    others: tuple[str, ...]
    """Money columns that are as they should be."""
    plain: tuple[PlainColumn, ...]
    extra: PlainColumn
    order: tuple[str, ...]
    """The table's columns as they stand in it."""
    rows: int
    currency: tuple[str, str]
    thousands: str
    point: str
    weights: tuple[int, ...]
    negative: float
    nothing: float


class TypeRepair(Kind):
    """Make numbers of the amounts again."""

    name = "type_repair"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """Without default sizes another number of rows, and entries that hold no amount."""
        style = draw_style(dice)
        money = [style.column(name) for name in dice.sample(_MONEY_NAMES, dice.randint(2, 3))]
        key, owner_key, paper = style.key(domain.record), style.key(domain.owner), style.column(dice.choice(_PAPER_NAMES))
        when, label = style.column(domain.when), style.column(domain.label)
        taken = (key, owner_key, paper, when, *money)
        *plain, extra = plain_columns(dice, domain, style, dice.randint(3, 5), taken=taken)
        order = [owner_key, paper, when, *money, *(column.name for column in plain)]
        dice.shuffle(order)
        thousands, point, called = dice.choice(_NOTATIONS)
        plan = _Plan(
            table=style.table(domain.records),
            owners=style.table(domain.owners),
            key=key,
            owner_key=owner_key,
            label=label,
            when=when,
            paper=paper,
            amount=money[0],
            others=tuple(money[1:]),
            plain=tuple(plain),
            extra=extra,
            order=(key, *order),
            rows=around(dice, _ROWS, default=default),
            currency=dice.choice(_CURRENCIES),
            thousands=thousands,
            point=point,
            weights=tuple(dice.randint(6, 20) for _ in _FORMS),
            negative=dice.uniform(0.07, 0.14),
            nothing=0.0 if default else dice.uniform(0.01, 0.02),
        )
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, dice, plan, called),
            target=plan.table,
            defect=Defect(plan.table, (plan.amount,)),
            expected=ExpectedAnswer(),
            reference_fix=_reference_fix(plan, style.column("repaired_value")),
            structure_look=f"PRAGMA table_info({plan.table})",
            column_look=_column_look(plan),
            check=(
                f"SELECT typeof({plan.amount}) AS stored_as, COUNT(*) AS row_count, ROUND(SUM({plan.amount}), 2) AS total, "
                f"MAX({plan.amount}) AS greatest FROM {plan.table} GROUP BY typeof({plan.amount})"
            ),
            numbers={"plan": plan},
            perfect_share=_PERFECT_SHARE,
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The table with text in its money column, and that of its owners."""
        plan: _Plan = scenario.numbers["plan"]
        shifted = variant == "shifted"
        dice = self.data_dice(scenario, variant)
        rows = round(plan.rows * 0.7) if shifted else plan.rows
        owner_ids = varied_ids(dice, dice.randint(30, 60))
        cells = _cells(dice, plan, owner_ids, rows, shifted=shifted)
        texts, amounts = _amounts(dice, plan, rows, shifted=shifted)
        order, declared = list(plan.order), _declared(plan)
        if variant == "extra_column":
            order.insert(len(order) // 2, plan.extra.name)
            cells[plan.extra.name] = plan.extra.cells(self.dice(scenario, "extra"), rows)
            declared[plan.extra.name] = plan.extra.declared
        broken: tuple[Row, ...] = tuple(zip(*(cells.get(name, texts) for name in order), strict=True))
        right: tuple[Row, ...] = tuple(zip(*(cells.get(name, amounts) for name in order), strict=True))
        owners = tuple(zip(owner_ids, labels(dice, scenario.domain, len(owner_ids)), strict=True))
        return Content(
            ddl=(
                create_table(plan.owners, [(plan.owner_key, "INTEGER PRIMARY KEY"), (plan.label, "TEXT NOT NULL")]),
                create_table(plan.table, [(name, declared[name]) for name in order]),
            ),
            rows={plan.owners: owners, plan.table: broken},
            truth=(
                TableTruth(
                    table=plan.table,
                    columns=tuple(order),
                    good=(),
                    repaired=tuple((row,) for row in right),
                    affinities={plan.amount: "REAL"},
                ),
                unchanged(plan.owners, (plan.owner_key, plan.label), owners),
            ),
        )


def _declared(plan: _Plan) -> dict[str, str]:
    declared = {column.name: column.declared for column in plan.plain}
    declared |= {plan.key: "INTEGER PRIMARY KEY", plan.owner_key: "INTEGER NOT NULL", plan.when: "TEXT", plan.paper: "TEXT"}
    declared |= dict.fromkeys(plan.others, "REAL")
    return declared | {plan.amount: "TEXT"}


def _cells(dice: Random, plan: _Plan, owner_ids: list[int], rows: int, *, shifted: bool) -> dict[str, list[Cell]]:
    """Every column's cells but those of the amount."""
    first = date(dice.randint(2018, 2023), 1, 1)
    cells: dict[str, list[Cell]] = {
        plan.key: list(varied_ids(dice, rows)),
        plan.owner_key: list(dice.choices(owner_ids, k=rows)),
        plan.when: iso_days(dice, first, 60 if shifted else 360, rows),
        # Digits, and yet no number: the zeros in front belong to it.
        plan.paper: [f"{number:06d}" for number in dice.choices(range(90_000), k=rows)],
    }
    for name in plan.others:
        cells[name] = [cents / 100 for cents in dice.choices(range(100, 40_000), k=rows)]
    filled = rows_of(dice, plan.plain, rows)
    return cells | {column.name: [row[k] for row in filled] for k, column in enumerate(plan.plain)}


def _amounts(dice: Random, plan: _Plan, rows: int, *, shifted: bool) -> tuple[list[Cell], list[Cell]]:
    """The amounts as they were written, and as numbers."""
    weights = plan.weights[::-1] if shifted else plan.weights
    forms = dice.choices(_FORMS, weights=weights, k=rows)
    sizes = (200_000, 900_000_000) if shifted else (500, 900_000)
    written: list[Cell] = []
    meant: list[Cell] = []
    negative = set(positions(dice, rows, 0.3 if shifted else plan.negative))
    for row, form in enumerate(forms):
        # Small amounts are as frequent as large ones, so that not every one needs a separator.
        cents = dice.randrange(sizes[0], dice.choice((sizes[1] // 40, sizes[1])))
        cents -= cents % 100 if form == "whole" else 0
        text = _written(plan, form, cents)
        if row in negative:
            text = _negated(text, dice.choice(_MINUSES))
            cents = -cents
        written.append(text)
        meant.append(cents / 100)
    for row in positions(dice, rows, 0.12 if shifted else plan.nothing):
        written[row], meant[row] = dice.choice(_NOTHING), None
    return written, meant


def _written(plan: _Plan, form: str, cents: int) -> str:
    sign, code = plan.currency
    units, rest = divmod(cents, 100)
    grouped = f"{units:,}".replace(",", plan.thousands)
    with_cents = f"{grouped}{plan.point}{rest:02d}"
    return {
        "plain": f"{units}{plan.point}{rest:02d}",
        "grouped": with_cents,
        "whole": grouped,
        "sign": f"{sign}{with_cents}",
        "sign apart": f"{sign} {with_cents}",
        "code": f"{with_cents} {code}",
        "code first": f"{code} {with_cents}",
        "padded": f"  {units}{plan.point}{rest:02d} ",
    }[form]


def _negated(text: str, minus: str) -> str:
    return {"before": f"-{text}", "after": f"{text}-", "brackets": f"({text})"}[minus]


def _number(plan: _Plan) -> str:
    """An SQL expression: the number that a text means, NULL for one without a digit."""
    stripped = plan.amount
    for mark in (*plan.currency, " ", "(", ")", "-", plan.thousands):
        stripped = f"REPLACE({stripped}, {_literal(mark)}, '')"
    if plan.point != ".":
        stripped = f"REPLACE({stripped}, {_literal(plan.point)}, '.')"
    sign = f"CASE WHEN {plan.amount} LIKE '%-%' OR {plan.amount} LIKE '%(%' THEN -1 ELSE 1 END"
    return f"CASE WHEN {plan.amount} GLOB '*[0-9]*' THEN {sign} * CAST({stripped} AS REAL) END"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _reference_fix(plan: _Plan, spare: str) -> str:
    return (
        f"ALTER TABLE {plan.table} ADD COLUMN {spare} REAL;\n"
        f"UPDATE {plan.table} SET {spare} = {_number(plan)};\n"
        f"ALTER TABLE {plan.table} DROP COLUMN {plan.amount};\n"
        f"ALTER TABLE {plan.table} RENAME COLUMN {spare} TO {plan.amount};"
    )


def _column_look(plan: _Plan) -> str:
    sign, code = plan.currency
    marks = [
        ("separated", f"%{plan.thousands}%"),
        ("with_sign", f"%{sign}%"),
        ("with_code", f"%{code}%"),
        ("with_minus", "%-%"),
        ("in_brackets", "%(%"),
    ]
    counts = ", ".join(f"SUM({plan.amount} LIKE {_literal(pattern)}) AS {name}" for name, pattern in marks)
    return (
        f"SELECT typeof({plan.amount}) AS stored_as, COUNT(*) AS row_count, {counts}, "
        f"SUM({plan.amount} NOT GLOB '*[0-9]*') AS without_digit FROM {plan.table} GROUP BY typeof({plan.amount})"
    )


def _description(domain: Domain, dice: Random, plan: _Plan, thousands: str) -> str:
    sign, code = plan.currency
    point = "a comma" if plan.point == "," else "a dot"
    symptom = dice.choice(_SYMPTOMS).format(table=plan.table, records=spoken(domain.records))
    return (
        f"{started(domain.setting)} keeps its {spoken(domain.records)} in `{plan.table}`. {symptom} All other columns can be trusted.\n\n"
        f"What people mean by what they write: everything is in one currency, marked '{sign}', '{code}' or not at all. Within a number, "
        f"{thousands} only ever separates thousands, and {point} stands before the cents; both may be left out. Spaces mean nothing. An "
        "amount is negative if a minus stands before or behind it or if the whole stands in brackets. An entry without a single digit says "
        "that no amount is known: that is NULL, not 0.\n\n"
        "Repair that column for good: same table, same name, declared with a numeric type (REAL or NUMERIC), every amount as the number "
        "that was meant, to the cent. No row and no other column of the table may get lost or change. The order of columns does not "
        "matter, and not every way of writing has to occur in the rows that you see."
    )


KIND: Final = TypeRepair()
