"""Queries over one large table, for the shapes of ``datasets.generate.tune.shapes_one_table``."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.generate.tune import Numbers
from sql_optim_env.tasks.generate.tune.draft import Draft, index_on, plain, started
from sql_optim_env.tasks.task import TuneVariant

__all__ = ["columns", "fold", "hop", "page"]


@dataclass(frozen=True, slots=True)
class _Measure:
    """One measure of a report: as its own grouping, and as part of a single one."""

    name: str
    aggregate: str
    where: str
    folded: str
    counts: bool
    """Whether nothing to count is shown as 0."""
    meaning: str


def _measures(d: Domain, limit: int) -> tuple[_Measure, ...]:
    a, b, c, e = d.kinds
    first, second, records = plain(d.first), plain(d.second), plain(d.records)

    def counted(kind: str) -> _Measure:
        test = f"{d.kind} = '{kind}'"
        return _Measure(f"{kind}_{d.records}", "COUNT(*)", test, f"SUM({test})", True, f"{records} whose {plain(d.kind)} is {kind}")

    return (
        counted(a),
        counted(b),
        counted(c),
        counted(e),
        _Measure(
            f"{a}_{d.first}",
            f"SUM({d.first})",
            f"{d.kind} = '{a}'",
            f"SUM(CASE WHEN {d.kind} = '{a}' THEN {d.first} END)",
            False,
            f"{first} in all over {records} of {plain(d.kind)} {a}",
        ),
        _Measure(
            f"least_{b}_{d.first}",
            f"MIN({d.first})",
            f"{d.kind} = '{b}'",
            f"MIN(CASE WHEN {d.kind} = '{b}' THEN {d.first} END)",
            False,
            f"the least {first} of any of the {records} of {plain(d.kind)} {b}",
        ),
        _Measure(
            f"late_most_{d.second}",
            f"MAX({d.second})",
            f"{d.when} > {limit}",
            f"MAX(CASE WHEN {d.when} > {limit} THEN {d.second} END)",
            False,
            f"the most {second} after {plain(d.when)} {limit}",
        ),
        _Measure(
            f"early_{d.second}",
            f"SUM({d.second})",
            f"{d.when} <= {limit}",
            f"SUM(CASE WHEN {d.when} <= {limit} THEN {d.second} END)",
            False,
            f"{second} in all up to {plain(d.when)} {limit}",
        ),
        _Measure(
            f"unknown_{d.first}",
            "COUNT(*)",
            f"{d.first} IS NULL",
            f"SUM({d.first} IS NULL)",
            True,
            f"{records} whose {first} are not known",
        ),
    )


_FOLD_STORIES: Final = (
    "Once a month {setting} puts up a sheet with a row for each of its {owners}, idle ones included: {list}. {zero} It has "
    "grown by a column a year and is slow by now.",
    "A summary for {setting}: all {owners}, also those without any {records}, each with {list}. {zero} Every column was "
    "added by somebody else.",
    "The yearly letter of {setting} lists, for each of the {owners}: {list}. One without {records} is listed too. {zero}",
)


def fold(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """A report that joins one grouping a measure; one pass with conditional aggregates does, and no index helps."""
    menu = _measures(d, numbers["limit"])
    chosen = Random(numbers["menu"]).sample(menu, numbers["measures"])
    if not any(measure.counts for measure in chosen):
        chosen[0] = menu[0]
    letters = "abcdefgh"
    shown = ",\n       ".join(
        f"COALESCE({letter}.n, 0) AS {m.name}" if m.counts else f"{letter}.n AS {m.name}"
        for letter, m in zip(letters, chosen, strict=False)
    )
    joins = "\n".join(
        f"LEFT JOIN (SELECT {d.owner_id}, {m.aggregate} AS n FROM {d.record} WHERE {m.where} GROUP BY {d.owner_id}) {letter}"
        f" ON {letter}.{d.owner_id} = o.id"
        for letter, m in zip(letters, chosen, strict=False)
    )
    sql = f"SELECT o.id, o.{d.label},\n       {shown}\nFROM {d.owner} o\n{joins}\nORDER BY o.id"
    head = ",\n       ".join(f"COALESCE(r.{m.name}, 0) AS {m.name}" if m.counts else f"r.{m.name}" for m in chosen)
    folded = ",\n           ".join(f"{m.folded} AS {m.name}" for m in chosen)
    reference = (
        f"SELECT o.id, o.{d.label},\n       {head}\nFROM {d.owner} o\nLEFT JOIN (\n    SELECT {d.owner_id},\n           {folded}\n"
        f"    FROM {d.record}\n    GROUP BY {d.owner_id}\n) r ON r.{d.owner_id} = o.id\nORDER BY o.id"
    )
    bare = ",\n       ".join(f"r.{m.name}" for m in chosen)
    by_owner, by_kind = index_on(d.record, d.owner_id), index_on(d.record, d.kind)
    zeros = ", ".join(m.name for m in chosen if m.counts)
    return Draft(
        title=f"A report on all {plain(d.owners)}",
        description=dice.choice(_FOLD_STORIES).format(
            setting=d.setting,
            owners=plain(d.owners),
            records=plain(d.records),
            list="; ".join(m.meaning for m in chosen),
            zero=f"Where there is nothing to count it shows 0 ({zeros}).",
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=(),
        variants=(
            TuneVariant("plausible", sql, (by_owner,), "An index on the join and group key makes each grouping fetch every row by itself."),
            TuneVariant("indexed_filter", sql, (by_kind,), "Most rows match some filter, and the index pays a fetch for each."),
            TuneVariant("rewrite_and_index", reference, (by_owner,), "The right rewrite is spoiled by the index on its group key."),
        ),
        wrong=(
            TuneVariant("inner_join", reference.replace("LEFT JOIN", "JOIN"), (), "Loses owners without records."),
            TuneVariant("no_coalesce", reference.replace(head, bare), (), "NULL in place of 0 for an owner without records."),
        ),
        max_vm_steps=12_000_000,
        max_spill_bytes=24_000_000,
    )


_COLUMN_STORIES: Final = (
    "{setting_} wants a line for each {owner} as it is written in the records: how many {records}, {list}. Those that name "
    "no {owner} make a line of their own.",
    "Totals by {owner} for {setting}: the number of {records}, {list}. A missing {owner} counts as a group too.",
    "For each {owner} that {setting} has written down, and for none at all: the number of {records}, {list}.",
)


def columns(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """A grouping of a wide table on a long text; narrow indexes joined on the rowid replace the scan."""
    measured = (d.first, d.second) if numbers["two"] else (d.first,)
    forms = (("SUM", "the sum of"), ("MAX", "the most"), ("MIN", "the least"), ("SUM", "the sum of"))
    function, meaning = forms[numbers["form"]]
    sources = dict(zip(measured, ("a", "b"), strict=False))

    def query(prefix: bool, from_: str) -> str:
        place = f"p.{d.owner}" if prefix else d.owner
        parts = [f"{place} AS {d.owner}" if prefix else place, f"COUNT(*) AS {d.records}"]
        for column in measured:
            name = f"{sources[column]}.{column}" if prefix else column
            parts += [f"COUNT({name}) AS known_{column}", f"{function}({name}) AS {function.lower()}_{column}"]
        return f"SELECT {', '.join(parts)}\nFROM {from_}\nGROUP BY {place}\nORDER BY {place}"

    sql = query(False, d.record)
    steps = [f"p AS MATERIALIZED (SELECT id, {d.owner} FROM {d.record})"]
    steps += [f"{letter} AS MATERIALIZED (SELECT id, {column} FROM {d.record})" for column, letter in sources.items()]
    joins = "p " + " ".join(f"JOIN {letter} ON {letter}.id = p.id" for letter in sources.values())
    reference = f"WITH {', '.join(steps)}\n{query(True, joins)}"
    by_owner = index_on(d.record, d.owner)
    ddl = (by_owner, *(index_on(d.record, column) for column in measured))
    known = reference.replace("COUNT(*)", f"COUNT(a.{d.first})")
    only_known = reference.replace(f"SELECT id, {d.first} FROM {d.record}", f"SELECT id, {d.first} FROM {d.record} WHERE {d.first} > 0")
    told = [f"how many have {plain(column)} on file and {meaning} {plain(column)}" for column in measured]
    return Draft(
        title=f"{plain(d.records).capitalize()} by {plain(d.owner)}",
        description=dice.choice(_COLUMN_STORIES).format(
            setting=d.setting,
            setting_=started(d.setting),
            owner=plain(d.owner),
            records=plain(d.records),
            list=" and ".join(told),
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=ddl,
        variants=(
            TuneVariant("plausible", sql, (by_owner,), "The index saves a sort that costs nothing and pays a fetch for every row."),
            TuneVariant("indexes_only", sql, ddl, "No index of one column covers the query."),
            TuneVariant("rewrite_only", reference, (), "Several scans of the wide table in place of one."),
        ),
        wrong=(
            TuneVariant("counts_known", known, ddl, "Counts values in place of rows."),
            TuneVariant("drops_unknown", only_known, ddl, "Rows without the value are lost."),
        ),
        max_indexes=4,
    )


_PAGE_STORIES: Final = (
    "Page {page} of the list of {records} that {setting} keeps, {length} to a page, {order}. A line without {owner} on file "
    "is listed too, with an empty name.",
    "Somebody at {setting} leafs through all {records} ({order}, {length} a page) and has come to page {page}. Each line "
    "names the {owner} if it is on file.",
    "The archive of {setting} shows its {records} {length} at a time, {order}; this is page {page}. Where the {owner} is "
    "not known, the line stays without.",
)


def page(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """A page far from the start of a sorted list with a join; the page is cut from an index first and joined afterwards."""
    way = " DESC" if numbers["down"] else ""
    limit = f"LIMIT {numbers['length']} OFFSET {numbers['skipped']}"
    shown = f"SELECT r.id, r.{d.when}, r.{d.first}, o.{d.label} AS {d.owner}"
    order = f"ORDER BY r.{d.when}{way}, r.id{way}"
    sql = f"{shown}\nFROM {d.record} r\nLEFT JOIN {d.owner} o ON o.id = r.{d.owner_id}\n{order}\n{limit}"

    def cut(ties: str, join: str) -> str:
        return (
            f"WITH page AS MATERIALIZED (SELECT id FROM {d.record} ORDER BY {d.when}{way}, id{ties} {limit})\n{shown}\nFROM page\n"
            f"CROSS JOIN {d.record} r ON r.id = page.id\n{join} {d.owner} o ON o.id = r.{d.owner_id}\n{order}"
        )

    reference = cut(way, "LEFT JOIN")
    by_day = index_on(d.record, d.when)
    return Draft(
        title=f"One page of the {plain(d.records)}",
        description=dice.choice(_PAGE_STORIES).format(
            setting=d.setting,
            page=numbers["skipped"] // numbers["length"] + 1,
            length=numbers["length"],
            records=plain(d.records),
            owner=plain(d.owner),
            order=f"by {plain(d.when)} and number, the newest first" if way else f"by {plain(d.when)} and number",
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=(by_day,),
        variants=(
            TuneVariant("plausible", sql, (by_day, "ANALYZE"), "The index saves the sort; the skipped rows are still joined."),
            TuneVariant("indexes_only", sql, (by_day,), "As with statistics."),
            TuneVariant("rewrite_only", reference, (), "One scan of the wide table to find the page."),
            TuneVariant("join_index", sql, (index_on(d.record, d.owner_id),), "The join goes by primary key already."),
        ),
        wrong=(
            TuneVariant("inner_join", cut(way, "JOIN"), (by_day,), "Loses rows whose owner is not on file."),
            TuneVariant("ties_reversed", cut("" if way else " DESC", "LEFT JOIN"), (by_day,), "Cuts another page where days are tied."),
        ),
    )


_HOP_STORIES: Final = (
    "For each {owner} that appears in the {records} of {setting}: the first and the last of its {records}, by number, with "
    "{list}. There is no list of {owners}. Records without {owner} are left out.",
    "{setting_} asks where each {owner} began and where it stands: number, {list} of its earliest and latest of the "
    "{records}, going by their numbers. One that names no {owner} does not count.",
    "First and last of the {records} for every {owner}, by number, each with {list}; the {owners} are known from the "
    "{records} alone, and those that name none are skipped. {setting_} prints this every evening.",
)


def hop(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """First and last row of each of a few long values; a recursive step seeks from one value to the next."""
    carried = ((d.note,), (d.first, d.note), (d.note, d.first))[numbers["form"]]
    shown = [f"f.id AS first_id, {', '.join(f'f.{column} AS first_{column}' for column in carried)}"]
    shown.append(f"l.id AS last_id, {', '.join(f'l.{column} AS last_{column}' for column in carried)}")
    lines = ",\n       ".join(shown)
    o, t = d.owner, d.record
    sql = (
        f"SELECT h.{o},\n       {lines}\nFROM (SELECT DISTINCT {o} FROM {t}) h\n"
        f"JOIN (SELECT {o}, MIN(id) AS id FROM {t} GROUP BY {o}) a ON a.{o} = h.{o}\n"
        f"JOIN (SELECT {o}, MAX(id) AS id FROM {t} GROUP BY {o}) z ON z.{o} = h.{o}\n"
        f"JOIN {t} f ON f.id = a.id\nJOIN {t} l ON l.id = z.id\nORDER BY h.{o}"
    )
    listed = ", ".join(("id", o, *carried))
    qualified = ", ".join(f"r.{column}" for column in ("id", o, *carried))

    def hopping(start: str, last: str) -> str:
        return (
            f"WITH RECURSIVE f({listed}) AS (\n"
            f"    SELECT {listed} FROM {t} WHERE id = (SELECT id FROM {t} {start}ORDER BY {o}, id LIMIT 1)\n    UNION ALL\n"
            f"    SELECT {qualified}\n    FROM f\n"
            f"    CROSS JOIN {t} r ON r.id = (SELECT id FROM {t} WHERE {o} > f.{o} ORDER BY {o}, id LIMIT 1)\n)\n"
            f"SELECT f.{o},\n       {lines}\nFROM f\n"
            f"CROSS JOIN {t} l ON l.id = (SELECT MAX(id) FROM {t} WHERE {o} {last} f.{o})\nORDER BY f.{o}"
        )

    reference = hopping(f"WHERE {o} IS NOT NULL ", "=")
    once = (
        f"WITH h AS MATERIALIZED (SELECT {o}, MIN(id) AS a, MAX(id) AS z FROM {t} WHERE {o} IS NOT NULL GROUP BY {o})\n"
        f"SELECT h.{o},\n       {lines}\nFROM h\nCROSS JOIN {t} f ON f.id = h.a\nCROSS JOIN {t} l ON l.id = h.z\nORDER BY h.{o}"
    )
    by_owner = index_on(t, o)
    return Draft(
        title=f"First and last of every {plain(o)}",
        description=dice.choice(_HOP_STORIES).format(
            setting=d.setting,
            setting_=started(d.setting),
            owner=plain(o),
            owners=plain(d.owners),
            records=plain(d.records),
            list=" and ".join(plain(column) for column in carried),
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=(by_owner,),
        variants=(
            TuneVariant("plausible", once, (by_owner,), "Grouping once over the index still reads every entry with its long key."),
            TuneVariant("indexes_only", sql, (by_owner,), "Three groupings over the index."),
            TuneVariant("rewrite_only", reference, (), "Without the index every hop scans the table."),
            TuneVariant("grouped_once", once, (), "One scan of the wide table."),
        ),
        wrong=(
            TuneVariant("begins_without", hopping("", "="), (by_owner,), "Begins at a record without owner, and ends there."),
            TuneVariant("last_of_later", hopping(f"WHERE {o} IS NOT NULL ", ">="), (by_owner,), "The last of any later value."),
        ),
    )
