"""Some devices measure in other units than the rest; sums that were added up by hand tell which, and in which."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import PlainColumn, around, draw_style, labels, plain_columns, rows_of, spoken, varied_ids
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What is measured, the unit of the house, and two others: how many of the house's units one of them is."""

    columns: tuple[str, ...]
    what: str
    unit: str
    small: str
    small_worth: float
    foreign: str
    foreign_worth: float


_QUANTITIES: Final = (
    _Quantity(("weight", "mass", "load_weight"), "weighed", "kilograms", "gram", 0.001, "pound", 0.45359237),
    _Quantity(("extent", "run_length", "span"), "measured in length", "metres", "centimetre", 0.01, "foot", 0.3048),
    _Quantity(("contents", "inner_volume", "fill"), "measured in volume", "litres", "millilitre", 0.001, "gallon", 3.785411784),
)


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    devices: str
    device: str
    model: str
    sheets: str
    sheet: str
    total: str
    items: str
    item: str
    kind: str
    pieces: str
    measure: str


class UnitMixup(Kind):
    """Measured values of a few devices, in other units.

    By default 12 devices, 96 sheets and 768 items on them, eight a sheet; one device writes in the small unit and one in the foreign one,
    8 sheets and 64 items each. Of a device's sheets a quarter have no sum. How much a device's items measure differs from device to
    device by far more than any unit does. Shifted: 14 devices, two with the small and two with the foreign unit, of which one has items
    that all measure the same, added up without an error.
    """

    name: ClassVar[str] = "unit_mixup"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and quantities."""
        style = draw_style(dice)
        quantity = dice.choice(_QUANTITIES)
        device = dice.choice(("gauge", "handset", "meter", "probe"))
        sheet = dice.choice(("sheet", "slip", "manifest", "waybill"))
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            devices=style.table(device + "s"),
            device=style.key(device),
            model=style.column("model"),
            sheets=style.table(sheet + "s"),
            sheet=style.key(sheet),
            total=style.column(dice.choice(("hand_total", "paper_sum", "declared"))),
            items=style.table(domain.link.plural),
            item=style.key(domain.link.table),
            kind=style.column(dice.choice(("sort", "class_name", "category"))),
            pieces=style.column(domain.link.amount),
            measure=style.column(dice.choice(quantity.columns)),
        )
        fillers = plain_columns(dice, domain, style, 5, taken=[getattr(names, field) for field in names.__slots__])
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, quantity, device, sheet),
            target=names.items,
            defect=Defect(names.items, (names.measure,)),
            expected=ExpectedAnswer(),
            reference_fix=_fix(names, quantity),
            structure_look=f"PRAGMA table_info({names.items})",
            column_look=f"SELECT * FROM ({_ratios(names)}) WHERE ratio NOT BETWEEN 0.9 AND 1.1 ORDER BY held",
            check=f"SELECT count(*) AS off FROM ({_ratios(names)}) WHERE ratio NOT BETWEEN 0.9 AND 1.1",
            numbers={
                "names": names,
                "quantity": quantity,
                "fillers": fillers[:4],
                "extra": fillers[4],
                "owners": around(dice, 20, default=default),
                "devices": around(dice, 12, default=default),
                "sheets": around(dice, 8, default=default),
                "items": around(dice, 8, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """Devices, sheets with the sums that someone added up by hand, and the items on them."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        quantity: _Quantity = numbers["quantity"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        per_sheet: int = numbers["items"]
        dice = self.data_dice(scenario, variant)
        owners = varied_ids(dice, numbers["owners"])
        devices = varied_ids(dice, numbers["devices"] + (2 if shifted else 0))
        off = dice.sample(devices, 4 if shifted else 2)
        worth = dict.fromkeys(devices, 1.0)
        worth.update((device, (quantity.small_worth, quantity.foreign_worth)[place % 2]) for place, device in enumerate(off))
        # Evenly spread on a scale of powers, then dealt out: the size of its items says nothing about a device's unit.
        sizes = [10 ** (-0.7 + 3.2 * place / len(devices) + dice.uniform(0, 0.2)) for place in range(len(devices))]
        dice.shuffle(sizes)
        size = dict(zip(devices, sizes, strict=True))
        # Its items are all alike, and so are its sheets: a sum of what is distinct is far off there, and nowhere else.
        uniform = off[0] if shifted else None
        sheets: list[Row] = []
        broken: list[Row] = []
        right: list[Row | None] = []
        writers = [device for device in devices for _ in range(numbers["sheets"])]
        dice.shuffle(writers)
        unsummed = {device: 0 for device in devices}
        item_ids = iter(varied_ids(dice, len(writers) * per_sheet, gap=3))
        for sheet, device in zip(varied_ids(dice, len(writers)), writers, strict=True):
            values = [round(size[device] * (1 if device == uniform else dice.uniform(0.2, 1.8)), 3) for _ in range(per_sheet)]
            skip = unsummed[device] < numbers["sheets"] // 4 and dice.random() < 0.5
            unsummed[device] += skip
            total = None if skip else round(sum(values) * (1 if device == uniform else dice.uniform(0.99, 1.01)), 2)
            sheets.append((sheet, device, dice.choice(owners), total, *(column.cell(dice) for column in fillers[2:])))
            for value, cells in zip(values, rows_of(dice, fillers[:2], per_sheet), strict=True):
                head: tuple[Cell, ...] = (next(item_ids), sheet, dice.choice(scenario.domain.kinds), dice.randint(1, 60))
                broken.append((*head, value if worth[device] == 1.0 else round(value / worth[device], 5), *cells))
                right.append((*head, value, *cells))
        models = [f"{dice.choice('ABCDEF')}{dice.choice((100, 200, 350, 500))}" for _ in devices]
        mended = Mended(_items(names, fillers[:2], tuple(broken)), tuple(right))
        owner_rows = tuple(zip(owners, labels(dice, scenario.domain, len(owners)), strict=True))
        tables = (
            Table(names.owners, ((names.owner, "INTEGER PRIMARY KEY"), (names.label, "TEXT NOT NULL")), owner_rows),
            Table(
                names.devices,
                ((names.device, "INTEGER PRIMARY KEY"), (names.model, "TEXT NOT NULL")),
                tuple(zip(devices, models, strict=True)),
            ),
            Table(
                names.sheets,
                (
                    (names.sheet, "INTEGER PRIMARY KEY"),
                    (names.device, f"INTEGER NOT NULL REFERENCES {names.devices}"),
                    (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
                    (names.total, "REAL"),
                    *((filler.name, filler.declared) for filler in fillers[2:]),
                ),
                tuple(sheets),
            ),
            mended.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else mended,
        )
        return content_of(tables, names.items)


def _items(names: _Names, fillers: tuple[PlainColumn, ...], rows: tuple[Row, ...]) -> Table:
    columns = (
        (names.item, "INTEGER PRIMARY KEY"),
        (names.sheet, f"INTEGER NOT NULL REFERENCES {names.sheets}"),
        (names.kind, "TEXT NOT NULL"),
        (names.pieces, "INTEGER NOT NULL"),
        (names.measure, "REAL NOT NULL"),
        *((filler.name, filler.declared) for filler in fillers),
    )
    return Table(names.items, columns, rows)


def _ratios(names: _Names) -> str:
    """Each device with what its items measure, over all sheets with a sum, as a multiple of what these sums say."""
    return (
        f"SELECT s.{names.device} AS held, sum(t.summed) / sum(s.{names.total}) AS ratio FROM {names.sheets} AS s"
        f" JOIN (SELECT {names.sheet}, sum({names.measure}) AS summed FROM {names.items} GROUP BY {names.sheet}) AS t"
        f" ON t.{names.sheet} = s.{names.sheet} WHERE s.{names.total} IS NOT NULL GROUP BY s.{names.device}"
    )


def _fix(names: _Names, quantity: _Quantity) -> str:
    return (
        f"UPDATE {names.items} SET {names.measure} = round({names.measure} * d.worth, 3)\n"
        f"FROM (\n"
        f"  SELECT held, CASE\n"
        f"    WHEN ratio * {quantity.small_worth} BETWEEN 0.9 AND 1.1 THEN {quantity.small_worth}\n"
        f"    WHEN ratio * {quantity.foreign_worth} BETWEEN 0.9 AND 1.1 THEN {quantity.foreign_worth}\n"
        f"    ELSE 1.0 END AS worth\n"
        f"  FROM ({_ratios(names)})\n"
        f") AS d JOIN {names.sheets} AS p ON p.{names.device} = d.held\n"
        f"WHERE p.{names.sheet} = {names.items}.{names.sheet} AND d.worth <> 1.0;"
    )


def _description(domain: Domain, names: _Names, quantity: _Quantity, device: str, sheet: str) -> str:
    items, item = spoken(domain.link.plural), spoken(domain.link.table)
    return (
        f"Our database is that of {domain.setting}. What all {items} of the year add up to cannot be: it is nowhere near what the paper "
        f"{sheet}s give.\n"
        f"House rules. Every {item} is {quantity.what}, and {names.items} holds the result in {quantity.unit}, with three decimals. All "
        f"that is on one {sheet} was measured with the {device} that {names.sheets} names. One {device} may give results a thousand "
        f"times as large as the next: they are used for different things. A {device} never changes its ways: whatever it writes, it has "
        f"written all its results like that.\n"
        f"Most {sheet}s carry a sum that someone added up by hand, in {quantity.unit} and right to within one in a hundred. Those without "
        f"one are {sheet}s like all others. Of other units only two are known in the trade: a {quantity.small}, which is "
        f"{quantity.small_worth} {quantity.unit}, and a {quantity.foreign}, which is {quantity.foreign_worth} {quantity.unit}.\n"
        f"Repair the data so that the result of every {item} is in {quantity.unit}, to three decimals. Leave everything else as it is."
    )


KIND: Final = UnitMixup()
