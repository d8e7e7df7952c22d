"""Two tables that hold the same facts under other names, types and ways of writing, to be brought into one table of a given form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Final, Literal

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import (
    PlainColumn,
    Style,
    around,
    create_table,
    draw_style,
    iso_days,
    labels,
    plain_columns,
    positions,
    spoken,
    started,
    unchanged,
)
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, TableTruth, Variant

__all__ = ["KIND"]

_Fact = Literal["number", "label", "day", "amount", "kind", "settled", "count"]

_ROWS: Final = 600
_PAIRS: Final = (("north", "south"), ("old", "new"), ("harbour", "hill"), ("paper", "web"), ("east", "west"), ("town", "country"))

_TYPES: Final[Mapping[_Fact, str]] = {
    "number": "INTEGER",
    "label": "TEXT",
    "day": "TEXT",
    "amount": "REAL",
    "kind": "TEXT",
    "settled": "INTEGER",
    "count": "INTEGER",
}


@dataclass(frozen=True, slots=True)
class _Form:
    """A way of writing a fact: its type in DDL, and the SQL that makes the wanted value of it (``{}`` is the column)."""

    declared: str
    sql: str


_PLAIN: Final = "plain"

_FORMS: Final[Mapping[_Fact, Mapping[str, _Form]]] = {
    "number": {
        "padded": _Form("TEXT", "CAST({0} AS INTEGER)"),
        "prefixed": _Form("TEXT", "CAST(SUBSTR({0}, INSTR({0}, '-') + 1) AS INTEGER)"),
    },
    "label": {"spaced": _Form("TEXT", "TRIM({0})")},
    "day": {
        "dotted": _Form("TEXT", "SUBSTR({0}, 7, 4) || '-' || SUBSTR({0}, 4, 2) || '-' || SUBSTR({0}, 1, 2)"),
        "slashed": _Form("TEXT", "SUBSTR({0}, 7, 4) || '-' || SUBSTR({0}, 1, 2) || '-' || SUBSTR({0}, 4, 2)"),
        "packed": _Form("INTEGER", "SUBSTR({0}, 1, 4) || '-' || SUBSTR({0}, 5, 2) || '-' || SUBSTR({0}, 7, 2)"),
    },
    "amount": {
        "cents": _Form("INTEGER", "{0} / 100.0"),
        "comma": _Form("TEXT", "CAST(REPLACE({0}, ',', '.') AS REAL)"),
    },
    "kind": {
        "upper": _Form("TEXT", "LOWER(TRIM({0}))"),
        "capital": _Form("TEXT", "LOWER(TRIM({0}))"),
    },
    "settled": {
        "word": _Form("TEXT", "{0} = 'yes'"),
        "letter": _Form("TEXT", "{0} = 'Y'"),
    },
    "count": {
        "text": _Form("TEXT", "CAST(NULLIF(TRIM({0}), '') AS INTEGER)"),
        "minus one": _Form("INTEGER", "NULLIF({0}, -1)"),
    },
}

_SYMPTOMS: Final = (
    "A first attempt laid one under the other. Its sums were nonsense, its days did not sort, and counts by {kind} had far too many lines.",
    "Last year somebody typed both into a spreadsheet by hand. This year it shall be done properly, in the database.",
    "The two offices now do their books together, and every report over both has to be written twice.",
)


@dataclass(frozen=True, slots=True)
class _Source:
    table: str
    origin: str
    names: Mapping[_Fact, str]
    forms: Mapping[_Fact, str]
    filler: PlainColumn
    order: tuple[str, ...]

    def drifted(self) -> list[_Fact]:
        """The facts that it does not write as they are wanted."""
        return [fact for fact in _TYPES if self.forms[fact] != _PLAIN]

    def wanted(self, fact: _Fact) -> str:
        """SQL for the wanted value of a fact."""
        form, name = self.forms[fact], self.names[fact]
        return name if form == _PLAIN else _FORMS[fact][form].sql.format(name)

    def declared(self) -> dict[str, str]:
        """Its columns' types."""
        types = {self.names[fact]: _TYPES[fact] for fact in _TYPES}
        types |= {self.names[fact]: _FORMS[fact][self.forms[fact]].declared for fact in self.drifted()}
        return types | {self.filler.name: self.filler.declared}


@dataclass(frozen=True, slots=True)
class _Plan:
    target: str
    origin: str
    """The target's column that tells from which source a row is."""
    names: Mapping[_Fact, str]
    """The target's other columns."""
    order: tuple[str, ...]
    """The target's columns, in the order in which the description lists them."""
    near: _Source
    """Written almost as wanted."""
    far: _Source
    """Written otherwise in nearly everything."""
    near_first: bool
    extra: PlainColumn
    rows: tuple[int, int]
    unknown: float
    prefix: str

    @property
    def sources(self) -> tuple[_Source, _Source]:
        return (self.near, self.far) if self.near_first else (self.far, self.near)


class SchemaDrift(Kind):
    """Bring two sources into one table."""

    name = "schema_drift"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """Without default sizes other numbers of rows; which source drifts, and how, is drawn in any case."""
        plan = _plan(domain, dice, default=default)
        far = plan.far
        looks = ", ".join(
            f"MIN({name}) AS {name}_least, MAX({name}) AS {name}_most, MIN(typeof({name})) AS {name}_stored_as"
            for name in (far.names[fact] for fact in far.drifted())
        )
        names = plan.names
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, dice, plan),
            target=plan.target,
            # The target's own names are there for checks that read it; the drifted source has none of them.
            defect=Defect(far.table, tuple(table.names[fact] for table in (far, plan) for fact in far.drifted())),
            expected=ExpectedAnswer(),
            reference_fix=_reference_fix(plan),
            structure_look=f"PRAGMA table_info({far.table})",
            column_look=f"SELECT COUNT(*) AS row_count, {looks} FROM {far.table}",
            check=(
                f"SELECT {plan.origin}, COUNT(*) AS row_count, MIN({names['day']}) AS first_day, MAX({names['day']}) AS last_day, "
                f"ROUND(SUM({names['amount']}), 2) AS total, COUNT(DISTINCT {names['kind']}) AS kinds, "
                f"SUM({names['settled']}) AS settled_rows, SUM({names['count']}) AS counted, MIN(typeof({names['number']})) AS stored_as "
                f"FROM {plan.target} GROUP BY {plan.origin} ORDER BY {plan.origin}"
            ),
            numbers={"plan": plan},
            good_decides=False,
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The two sources; the table that has to be made of them is not there yet."""
        plan: _Plan = scenario.numbers["plan"]
        shifted = variant == "shifted"
        dice = self.data_dice(scenario, variant)
        ddl, rows, wanted, truths = [], {}, [], []
        for source, count in zip(plan.sources, plan.rows, strict=True):
            facts = _facts(dice, scenario.domain, round(count * dice.uniform(0.5, 0.8)) if shifted else count, plan.unknown, shifted)
            cells = {source.names[fact]: _written(dice, source.forms[fact], facts[fact], plan.prefix) for fact in _TYPES}
            cells[source.filler.name] = source.filler.cells(dice, len(facts["day"]))
            order, declared = list(source.order), source.declared()
            if variant == "extra_column" and source is plan.far:
                order.insert(len(order) // 2, plan.extra.name)
                declared[plan.extra.name] = plan.extra.declared
                cells[plan.extra.name] = plan.extra.cells(self.dice(scenario, "extra"), len(facts["day"]))
            table: tuple[Row, ...] = tuple(zip(*(cells[name] for name in order), strict=True))
            ddl.append(create_table(source.table, [(name, declared[name]) for name in order]))
            rows[source.table] = table
            truths.append(unchanged(source.table, order, table))
            wanted += [(source.origin, *row) for row in zip(*(facts[fact] for fact in _TYPES), strict=True)]
        return Content(
            ddl=tuple(ddl),
            rows=rows,
            truth=(
                TableTruth(
                    table=plan.target,
                    columns=(plan.origin, *(plan.names[fact] for fact in _TYPES)),
                    good=(),
                    repaired=tuple((row,) for row in wanted),
                    affinities={plan.origin: "TEXT"} | {plan.names[fact]: _TYPES[fact] for fact in _TYPES},
                ),
                *truths,
            ),
        )


def _plan(domain: Domain, dice: Random, *, default: bool) -> _Plan:
    style = draw_style(dice)
    forms = {fact: dice.choice(list(_FORMS[fact])) for fact in _TYPES}
    near_forms: dict[_Fact, str] = dict.fromkeys(_TYPES, _PLAIN)
    near_forms |= {fact: dice.choice(list(_FORMS[fact])) for fact in dice.sample(list(_TYPES), dice.randint(1, 2))}
    far_forms = forms | dict.fromkeys(dice.sample(list(_TYPES), dice.randint(0, 2)), _PLAIN)
    names, near_names, far_names = _names(domain, dice, style, near_forms, far_forms)
    origins = list(dice.choice(_PAIRS))
    dice.shuffle(origins)
    taken = [*names.values(), *near_names.values(), *far_names.values(), style.column(domain.first), style.column(domain.kind)]
    # Nothing that could be taken for one of the facts.
    near_filler, far_filler = plain_columns(dice, domain, style, 2, taken=taken, meanings=("person", "code", "phrase"))
    (extra,) = plain_columns(dice, domain, style, 1, taken=(*taken, near_filler.name, far_filler.name))
    origin = style.column(dice.choice(("origin", "came_from", "which_book")))
    order = list(names.values())
    dice.shuffle(order)
    return _Plan(
        target=style.table("all", domain.records),
        origin=origin,
        names=names,
        order=(origin, *order),
        near=_source(dice, style.table(domain.records, origins[0]), origins[0], near_names, near_forms, near_filler),
        far=_source(dice, style.table(domain.records, origins[1]), origins[1], far_names, far_forms, far_filler),
        near_first=dice.random() < 0.5,
        extra=extra,
        rows=(around(dice, _ROWS, default=default), around(dice, _ROWS, default=default)),
        unknown=dice.uniform(0.05, 0.12),
        prefix=dice.choice(("NR", "REG", "NO", "K")),
    )


def _source(dice: Random, table: str, origin: str, names: dict[_Fact, str], forms: dict[_Fact, str], filler: PlainColumn) -> _Source:
    order = [*names.values(), filler.name]
    dice.shuffle(order)
    return _Source(table, origin, names, forms, filler, tuple(order))


def _names(
    domain: Domain, dice: Random, style: Style, near: dict[_Fact, str], far: dict[_Fact, str]
) -> tuple[dict[_Fact, str], dict[_Fact, str], dict[_Fact, str]]:
    """Names of the facts in the target, the near and the far source: the far one shares none with the target, the near one some."""
    kind, first = domain.kind, domain.first
    pools: dict[_Fact, tuple[str, ...]] = {
        "number": ("entry_no", "serial", "running_no", "page_line"),
        "label": (f"{domain.owner}_name", f"name_of_{domain.owner}", f"which_{domain.owner}", f"{domain.owner}_called"),
        "day": ("happened_on", "event_day", "dated", "day_written"),
        "amount": ("amount", "price", "sum_due", "paid"),
        "kind": (f"{kind}_word", f"{kind}_given", f"sort_of_{kind}", f"which_{kind}"),
        "settled": ("is_settled", "settled", "settled_yet", "all_settled"),
        "count": (f"{first}_seen", f"number_of_{first}", f"{first}_count", f"how_many_{first}"),
    }
    ours, its, theirs = {}, {}, {}
    for fact, pool in pools.items():
        target, far_name, other, _ = dice.sample(pool, 4)
        near_name = target if near[fact] == _PLAIN and dice.random() < 0.5 else other
        if fact == "amount":
            # Whole numbers of cents must be told from whole amounts by their name.
            near_name += "_in_cents" if near[fact] == "cents" else ""
            far_name += "_in_cents" if far[fact] == "cents" else ""
        ours[fact], its[fact], theirs[fact] = (style.column(name) for name in (target, near_name, far_name))
    return ours, its, theirs


def _facts(dice: Random, domain: Domain, count: int, unknown: float, shifted: bool) -> dict[_Fact, list[Cell]]:
    """The facts as they are wanted. Both sources number from one on, so their numbers overlap."""
    things = labels(dice, domain, 30)
    counts: list[Cell] = [*dice.choices(range(0, 5_000 if shifted else 250), k=count)]
    for at in positions(dice, count, 0.3 if shifted else unknown):
        counts[at] = None
    numbers = dice.sample(range(1, 3 * count), count)
    return {
        "number": [*(sorted(numbers) if dice.random() < 0.5 else numbers)],
        "label": list(dice.choices(things, k=count)),
        "day": iso_days(dice, date(2011, 1, 1) if shifted else date(dice.randint(2018, 2023), 1, 1), 1_500 if shifted else 365, count),
        "amount": [cents / 100 for cents in dice.choices(range(0, 90_000_000) if shifted else range(50, 90_000), k=count)],
        "kind": list(dice.choices(domain.kinds, weights=(9, 1, 1, 1) if shifted else None, k=count)),
        "settled": list(dice.choices((0, 1), weights=(1, 9) if shifted else (3, 2), k=count)),
        "count": counts,
    }


def _written(dice: Random, form: str, cells: list[Cell], prefix: str) -> list[Cell]:
    """The cells as a source writes them."""
    if form == _PLAIN:
        return list(cells)
    texts = ["" if cell is None else str(cell) for cell in cells]
    match form:
        case "padded":
            return [text.zfill(7) for text in texts]
        case "prefixed":
            return [f"{prefix}-{text.zfill(5)}" for text in texts]
        case "spaced":
            return [way.format(text) for text, way in zip(texts, dice.choices((" {}", "{}  ", "{}"), k=len(texts)), strict=True)]
        case "dotted":
            return [f"{text[8:]}.{text[5:7]}.{text[:4]}" for text in texts]
        case "slashed":
            return [f"{text[5:7]}/{text[8:]}/{text[:4]}" for text in texts]
        case "packed":
            return [int(text.replace("-", "")) for text in texts]
        case "cents":
            return [round(float(text) * 100) for text in texts]
        case "comma":
            return [f"{float(text):.2f}".replace(".", ",") for text in texts]
        case "upper":
            return [text.upper() + tail for text, tail in zip(texts, dice.choices(("", " "), k=len(texts)), strict=True)]
        case "capital":
            first = {text: (text, text.capitalize(), f" {text.capitalize()}") for text in sorted(set(texts))}
            return [first[text][way] for text, way in zip(texts, dice.choices((0, 1, 2), k=len(texts)), strict=True)]
        case "word":
            return ["yes" if cell else "no" for cell in cells]
        case "letter":
            return ["Y" if cell else "N" for cell in cells]
        case "text":
            return [*texts]
        case "minus one":
            return [-1 if cell is None else cell for cell in cells]
    raise ValueError(f"no way of writing is called {form!r}")


def _reference_fix(plan: _Plan) -> str:
    columns = [(plan.origin, "TEXT NOT NULL"), *((plan.names[fact], _TYPES[fact]) for fact in _TYPES)]
    listed = ", ".join(name for name, _ in columns)
    parts = [create_table(plan.target, columns) + ";"]
    for source in plan.sources:
        wanted = ", ".join(source.wanted(fact) for fact in _TYPES)
        parts.append(f"INSERT INTO {plan.target} ({listed}) SELECT '{source.origin}', {wanted} FROM {source.table};")
    return "\n".join(parts)


def _description(domain: Domain, dice: Random, plan: _Plan) -> str:
    record, kind = spoken(domain.record), spoken(domain.kind)
    kinds = ", ".join(f"'{word}'" for word in domain.kinds)
    first, second = plan.sources
    meanings: dict[str, str] = {
        plan.origin: f"TEXT, '{first.origin}' for a row of `{first.table}`, '{second.origin}' for one of `{second.table}`",
        plan.names["number"]: f"INTEGER, the {record}'s number in its source; both count for themselves",
        plan.names["label"]: f"TEXT, the name of the {spoken(domain.owner)}",
        plan.names["day"]: "TEXT, the day in the form YYYY-MM-DD",
        plan.names["amount"]: "REAL, the money in whole units, with its cents behind the point",
        plan.names["kind"]: f"TEXT, the {kind}, one of {kinds}",
        plan.names["settled"]: "INTEGER, 1 if nothing of it is owed any more, else 0",
        plan.names["count"]: f"INTEGER, how many {spoken(domain.first)} there were, NULL if that is not known",
    }
    listed = "\n".join(f"- `{name}`: {meanings[name]}" for name in plan.order)
    return (
        f"{started(domain.setting)} has two lists of its {spoken(domain.records)}, `{first.table}` and `{second.table}`, kept by two "
        f"offices that never agreed on anything. {dice.choice(_SYMPTOMS).format(kind=kind)}\n\n"
        f"Make one table `{plan.target}` that holds every row of both, once each, with these columns declared with these types, and no "
        f"other columns:\n{listed}\n\n"
        "In the new table no text has spaces around it, and words are written as they stand here: how an office spaced or capitalised "
        "them means nothing. Everything else each office has written in one way of its own from the first row to the last, with a clear "
        "sign where something was not known. What else the lists hold is not wanted in the new table. Leave both lists as they are."
    )


KIND: Final = SchemaDrift()
