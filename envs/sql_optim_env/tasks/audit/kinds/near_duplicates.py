"""A register with the same thing under several spellings, and tables that refer to all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import ClassVar, Final, Literal

from sql_optim_env.datasets.generate.domains import Domain
from sql_optim_env.tasks.audit.draws import PlainColumn, around, day, draw_style, plain_columns, spoken, varied_ids
from sql_optim_env.tasks.audit.scenario import Cell, Content, Defect, ExpectedAnswer, Kind, Row, Scenario, Variant
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

__all__ = ["KIND"]

_Rule = Literal["oldest", "newest", "lowest", "highest"]

_ENDINGS: Final = ("hill", "side", "field", "gate", "end", "mill")


@dataclass(frozen=True, slots=True)
class _Names:
    owners: str
    owner: str
    label: str
    group: str
    since: str
    number: str
    records: str
    record: str
    kind: str
    links: str
    link: str
    source: str
    target: str
    amount: str


@dataclass(frozen=True, slots=True)
class _Entry:
    thing: int
    label: str
    group: int
    since: str
    number: int

    def place(self, rule: _Rule) -> tuple[Cell, ...]:
        """Less is better."""
        match rule:
            case "oldest":
                return (self.since,)
            case "newest":
                return (-date.fromisoformat(self.since).toordinal(),)
            case "lowest":
                return (self.number,)
            case "highest":
                return (-self.number,)


class NearDuplicates(Kind):
    """Entries of a register that differ in letter case and spaces only.

    By default 240 entries for 200 things, 40 of them too many, 600 records and 120 links between two things. Shifted: half as many
    entries again are too many, and a thing has up to six. Names that differ by a hyphen, a digit or a space within a word, and the same
    name in another group, are other things; some entries that stand alone are untidy too and stay as they are.
    """

    name: ClassVar[str] = "near_duplicates"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario with other names, sizes and another rule for which entry stays."""
        style = draw_style(dice)
        names = _Names(
            owners=style.table(domain.owners),
            owner=style.key(domain.owner),
            label=style.column(domain.label),
            group=style.column(domain.group),
            since=style.column(dice.choice(("registered_on", "since_day", "joined_on"))),
            number=style.column(dice.choice(("register_page", "folio", "plate_number"))),
            records=style.table(domain.records),
            record=style.key(domain.record),
            kind=style.column(domain.kind),
            links=style.table(domain.link.plural),
            link=style.key(domain.link.table),
            source=style.column(domain.link.source),
            target=style.column(domain.link.target),
            amount=style.column(domain.link.amount),
        )
        rules: tuple[_Rule, ...] = ("oldest", "newest", "lowest", "highest")
        rule: _Rule = dice.choice(rules)
        fillers = plain_columns(dice, domain, style, 5, taken=[getattr(names, field) for field in names.__slots__])
        return Scenario(
            kind=self.name,
            domain=domain,
            seed=seed,
            description=_description(domain, names, rule),
            target=names.owners,
            defect=Defect(names.owners, (names.label,)),
            expected=ExpectedAnswer(),
            reference_fix=_fix(names, rule),
            structure_look=f"PRAGMA table_info({names.owners})",
            column_look=(
                f"SELECT {_plain(names)} AS spelt, {names.group}, count(*) AS entries FROM {names.owners}"
                f" GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2"
            ),
            check=(
                f"SELECT count(*) AS entries, count(DISTINCT {_plain(names)} || '/' || {names.group}) AS things,"
                f" (SELECT count(*) FROM {names.records} WHERE {names.owner} NOT IN (SELECT {names.owner} FROM {names.owners})) AS lost"
                f" FROM {names.owners}"
            ),
            numbers={
                "names": names,
                "rule": rule,
                "fillers": fillers[:4],
                "extra": fillers[4],
                "things": around(dice, 200, default=default),
                "too_many": around(dice, 40, default=default),
                "records": around(dice, 600, default=default),
                "links": around(dice, 120, default=default),
            },
        )

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The register, and two tables that refer to it, one of them twice a row."""
        numbers, shifted = scenario.numbers, variant == "shifted"
        names: _Names = numbers["names"]
        fillers: tuple[PlainColumn, ...] = numbers["fillers"]
        rule: _Rule = numbers["rule"]
        dice = self.data_dice(scenario, variant)
        entries = _entries(
            dice, scenario.domain, numbers["things"], numbers["too_many"] * 3 // 2 if shifted else numbers["too_many"], shifted
        )
        keys = varied_ids(dice, len(entries))
        stays: dict[int, tuple[tuple[Cell, ...], int]] = {}
        for key, entry in zip(keys, entries, strict=True):
            stays[entry.thing] = min(stays.get(entry.thing, (entry.place(rule), key)), (entry.place(rule), key))
        heir = {key: stays[entry.thing][1] for key, entry in zip(keys, entries, strict=True)}
        rows = tuple(
            (key, entry.label, entry.group, entry.since, entry.number, fillers[0].cell(dice), fillers[1].cell(dice))
            for key, entry in zip(keys, entries, strict=True)
        )
        columns = (
            (names.owner, "INTEGER PRIMARY KEY"),
            (names.label, "TEXT NOT NULL"),
            (names.group, "INTEGER NOT NULL"),
            (names.since, "TEXT NOT NULL"),
            (names.number, "INTEGER NOT NULL"),
            *((filler.name, filler.declared) for filler in fillers[:2]),
        )
        register = Mended(
            Table(names.owners, columns, rows), tuple(row if heir[key] == key else None for key, row in zip(keys, rows, strict=True))
        )
        tables = (
            register.widened(numbers["extra"], self.dice(scenario, variant)) if variant == "extra_column" else register,
            _records(dice, names, scenario.domain, heir, numbers["records"], fillers[2]),
            _links(dice, names, heir, numbers["links"], fillers[3]),
        )
        return content_of(tables, names.owners)


def _entries(dice: Random, domain: Domain, things: int, too_many: int, shifted: bool) -> list[_Entry]:
    """The register in no order; dates and numbers are all different."""
    spelt = _spellings(dice, domain, things)
    many = dice.sample(range(things), things // 7)
    again = Counter(dice.sample(many * (5 if shifted else 3), too_many))
    total = things + too_many
    first = day(dice, date(1995, 1, 1) if shifted else date(2010, 1, 1), 700)
    days = dice.sample(range(2_500), total)
    numbers = dice.sample(range(100, 100 + 5 * total), total)
    entries = []
    for thing, (words, group) in enumerate(spelt):
        for label in _written(dice, words, 1 + again[thing]):
            entries.append(_Entry(thing, label, group, (first + timedelta(days=days.pop())).isoformat(), numbers.pop()))
    dice.shuffle(entries)
    return entries


def _spellings(dice: Random, domain: Domain, things: int) -> list[tuple[tuple[str, ...], int]]:
    """Words of each thing's name, and its group: all pairs are different, and a fifth are hardly different from another."""
    groups = dice.sample(range(1, 40), 6)
    found: dict[tuple[tuple[str, ...], int], None] = {}
    while len(found) < things:
        words, group = (dice.choice(domain.names), dice.choice(_ENDINGS).capitalize(), str(dice.randint(1, 60))), dice.choice(groups)
        found[words, group] = None
        if dice.random() < 0.2:
            first, second, number = words
            alike = ((f"{first}{second.lower()}", number), (f"{first}-{second}", number), (first, second, f"{number}{dice.randint(1, 9)}"))
            found[dice.choice((*alike, (first, second, number[0], *number[1:]))), group] = None
        if dice.random() < 0.1:
            found[words, dice.choice(groups)] = None
    return list(found)[:things]


def _written(dice: Random, words: tuple[str, ...], count: int) -> list[str]:
    """``count`` different ways of writing the name; one that stands alone is untidy now and then."""
    ways: dict[str, None] = {}
    if dice.random() < 0.85:
        ways[" ".join(words)] = None
    while len(ways) < count:
        cased = tuple(dice.choice((word, word, word.upper(), word.lower())) for word in words)
        inner = "".join(part for word in cased for part in (" " * dice.choice((1, 1, 2, 3)), word))
        ways[dice.choice(("", "", " ", "  ")) + inner[1:].lstrip() + dice.choice(("", "", " ", "   "))] = None
    return list(ways)


def _records(dice: Random, names: _Names, domain: Domain, heir: dict[int, int], count: int, filler: PlainColumn) -> Mended:
    keys = list(heir)
    broken: list[Row] = []
    right: list[Row | None] = []
    for key in varied_ids(dice, count):
        owner, tail = dice.choice(keys), (dice.choice(domain.kinds), filler.cell(dice))
        broken.append((key, owner, *tail))
        right.append((key, heir[owner], *tail))
    columns = (
        (names.record, "INTEGER PRIMARY KEY"),
        (names.owner, f"INTEGER NOT NULL REFERENCES {names.owners}"),
        (names.kind, "TEXT NOT NULL"),
        (filler.name, filler.declared),
    )
    return Mended(Table(names.records, columns, tuple(broken)), tuple(right))


def _links(dice: Random, names: _Names, heir: dict[int, int], count: int, filler: PlainColumn) -> Mended:
    keys = list(heir)
    broken: list[Row] = []
    right: list[Row | None] = []
    for key in varied_ids(dice, count):
        source, target, tail = dice.choice(keys), dice.choice(keys), (dice.randint(1, 30), filler.cell(dice))
        broken.append((key, source, target, *tail))
        right.append((key, heir[source], heir[target], *tail))
    columns = (
        (names.link, "INTEGER PRIMARY KEY"),
        (names.source, "INTEGER NOT NULL"),
        (names.target, "INTEGER NOT NULL"),
        (names.amount, "INTEGER NOT NULL"),
        (filler.name, filler.declared),
    )
    return Mended(Table(names.links, columns, tuple(broken)), tuple(right))


def _plain(names: _Names) -> str:
    """The label in lower case, without outer spaces, every inner run of spaces as one."""
    return f"lower(trim(replace(replace(replace({names.label}, ' ', ' |'), '| ', ''), '|', '')))"


def _fix(names: _Names, rule: _Rule) -> str:
    order = {"oldest": names.since, "newest": f"{names.since} DESC", "lowest": names.number, "highest": f"{names.number} DESC"}[rule]
    moved = [(names.records, names.owner), (names.links, names.source), (names.links, names.target)]
    return (
        f"CREATE TEMP TABLE heirs AS SELECT {names.owner} AS gone, first_value({names.owner})\n"
        f"  OVER (PARTITION BY {_plain(names)}, {names.group} ORDER BY {order}) AS heir FROM {names.owners};\n"
        f"DELETE FROM heirs WHERE gone = heir;\n"
        + "".join(f"UPDATE {table} SET {column} = h.heir FROM heirs AS h WHERE h.gone = {table}.{column};\n" for table, column in moved)
        + f"DELETE FROM {names.owners} WHERE {names.owner} IN (SELECT gone FROM heirs);"
    )


def _description(domain: Domain, names: _Names, rule: _Rule) -> str:
    owners, owner = spoken(domain.owners), spoken(domain.owner)
    stays = {
        "oldest": f"the earliest {names.since}",
        "newest": f"the latest {names.since}",
        "lowest": f"the lowest {names.number}",
        "highest": f"the highest {names.number}",
    }[rule]
    return (
        f"Our database is that of {domain.setting}. A count of {owners} gives more than there are, and what belongs to one {owner} is "
        f"found in pieces.\n"
        f"House rules. Two entries of {names.owners} are the same {owner} when they have the same {names.group} and are called the same, "
        f"whatever the case of the letters, and however many spaces stand between two words, before the first or after the last. Anything "
        f"else makes them different: a hyphen, a digit, a space within a word. Of entries for the same {owner} the one "
        f"with {stays} stays, as it is written; the others go, and whatever refers to one of them anywhere in the database has to refer "
        f"to the one that stays. No two entries have the same {names.since} or the same {names.number}.\n"
        f"Repair the data accordingly. Leave everything else as it is: an entry that is alone stays as it is written."
    )


KIND: Final = NearDuplicates()
