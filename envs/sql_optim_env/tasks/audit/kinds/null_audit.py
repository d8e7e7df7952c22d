"""One column of a table has lost about half of its entries, where a tenth is usual. The task is to say which; nothing is repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PlainColumn,
    around,
    create_table,
    draw_style,
    labels,
    plain_columns,
    positions,
    rows_of,
    spoken,
    started,
    unchanged,
    varied_ids,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Scenario, Variant

__all__ = ["KIND"]

_COLUMNS: Final = 8
_ROWS: Final = 500
_SHARE: Final = 0.52
_USUAL: Final = 0.10

_SHOWN_ROWS: Final = 5
"""Rows of a table that an opening observation shows."""

_WORD: Final = re.compile(r"\w+")

_FILLERS: Final = ("n/a", "-", "unknown", "?", "")

_SYMPTOMS: Final = (
    "A statistic over {records} falls apart: one of its fields is simply not there for a large part of the rows.",
    "Somebody changed the sheet on which {records} are taken down, and since then people skip one of its fields.",
    "The yearly report on {records} leaves out far too many rows, because one field that it needs is not filled in.",
    "A supplier's file of {records} came through with one field lost on the way in a great many rows.",
)


@dataclass(frozen=True, slots=True)
class _Plan:
    table: str
    columns: tuple[PlainColumn, ...]
    extra: PlainColumn
    at: int
    """Which column has the gaps."""
    decoy: int
    """A column in which people often wrote that they know nothing: no gap."""
    lure: int
    """A column whose usual gaps stand in the first rows."""
    rows: int
    share: float
    usual: float
    owners: str
    owner_columns: tuple[str, str, str]


class NullAudit(Kind):
    """Find the column with the gaps."""

    name = "null_audit"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """Without default sizes: six to ten columns, other shares and another number of rows."""
        style = draw_style(dice)
        count = _COLUMNS if default else dice.randint(6, 10)
        table, owners = style.table(domain.records), style.table(domain.owners)
        description = _description(domain, dice, table)
        # No column is called by a word of the description, which would be a hint or a false one.
        *columns, extra = plain_columns(dice, domain, style, count + 1, taken=_WORD.findall(description))
        at, lure = dice.sample(range(count), 2)
        texts = [k for k, column in enumerate(columns) if column.declared == "TEXT" and k not in (at, lure)]
        plan = _Plan(
            table=table,
            columns=tuple(columns),
            extra=extra,
            at=at,
            decoy=dice.choice(texts or [lure]),
            lure=lure,
            rows=around(dice, _ROWS, default=default),
            share=_SHARE if default else dice.uniform(0.44, 0.6),
            usual=_USUAL if default else dice.uniform(0.07, 0.13),
            owners=owners,
            owner_columns=(style.key(domain.owner), style.column(domain.label), style.column(domain.leaflet)),
        )
        gaps = ", ".join(f"SUM({column.name} IS NULL) AS {column.name}" for column in plan.columns)
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=description,
            target=table,
            defect=Defect(table, (plan.columns[at].name,)),
            expected=ExpectedAnswer(answer=plan.columns[at].name),
            reference_fix="",
            structure_look=f"PRAGMA table_info({table})",
            column_look=f"SELECT COUNT(*) AS row_count, {gaps} FROM {table}",
            check="",
            numbers={"plan": plan},
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The table, and one of its owners that has gaps of its own."""
        plan: _Plan = scenario.numbers["plan"]
        dice = self.data_dice(scenario, variant)
        shifted = variant == "shifted"
        rows = round(plan.rows * 0.6) if shifted else plan.rows
        share, usual = (plan.share * 0.7, plan.usual * 0.4) if shifted else (plan.share, plan.usual)
        cells = rows_of(dice, plan.columns, rows)
        for row in positions(dice, rows, 0.4):
            if plan.columns[plan.decoy].declared == "TEXT":
                cells[row][plan.decoy] = dice.choice(_FILLERS)
        for k in range(len(plan.columns)):
            rate = share if k == plan.at else usual * dice.uniform(0.85, 1.15)
            for row in _gaps(dice, rows, round(rate * rows), shown=1 if k == plan.at else 3 if k == plan.lure else 0):
                cells[row][k] = None
        columns = list(plan.columns)
        if variant == "extra_column":
            columns.append(plan.extra)
            for line, cell in zip(cells, plan.extra.cells(self.dice(scenario, "extra"), rows), strict=True):
                line.append(cell)
        owners = _owners(dice, scenario.domain)
        return Content(
            ddl=(
                create_table(plan.owners, list(zip(plan.owner_columns, ("INTEGER PRIMARY KEY", "TEXT NOT NULL", "TEXT"), strict=True))),
                create_table(plan.table, [(column.name, column.declared) for column in columns]),
            ),
            rows={plan.owners: owners, plan.table: tuple(map(tuple, cells))},
            truth=(
                unchanged(plan.table, [column.name for column in columns], cells),
                unchanged(plan.owners, plan.owner_columns, owners),
            ),
        )


def _description(domain: Domain, dice: Random, table: str) -> str:
    symptom = dice.choice(_SYMPTOMS).format(records=spoken(domain.records))
    return (
        f"{started(domain.setting)} keeps its {spoken(domain.records)} in the table `{table}`. {symptom} Gaps as such are normal: "
        "in every column of it roughly one entry in ten was never filled in. One column misses far more than that. Which one?\n\n"
        "A gap is an entry that is NULL. Whatever a person typed, be it a dash, 'n/a', an empty text or 0, is an entry and no gap. Only "
        f"`{table}` is in question, and nothing is to be repaired.\n\n"
        "Hand in the name of that column in `answer`."
    )


def _gaps(dice: Random, rows: int, count: int, *, shown: int) -> list[int]:
    """``count`` positions, ``shown`` of them among the rows that everybody is shown at the start: a sample of five proves nothing."""
    first = dice.sample(range(_SHOWN_ROWS), shown)
    return first + dice.sample(range(_SHOWN_ROWS, rows), count - shown)


def _owners(dice: Random, domain: Domain) -> tuple[tuple[Cell, ...], ...]:
    count = dice.randint(24, 40)
    # Most leaflets are missing, in a table that nobody asked about.
    leaflets: list[Cell] = [None if dice.random() < 0.7 else " ".join(dice.choices(domain.words, k=5)) for _ in range(count)]
    return tuple(zip(varied_ids(dice, count), labels(dice, domain, count), leaflets, strict=True))


KIND: Final = NullAudit()
