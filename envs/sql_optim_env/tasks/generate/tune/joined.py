"""Queries that join tables, for the shapes of ``datasets.generate.tune.shapes_joined``."""

from __future__ import annotations

from random import Random
from typing import Final

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.generate.tune import Numbers
from sql_optim_env.datasets.generate.tune.shape import STATES
from sql_optim_env.tasks.generate.tune.draft import Draft, index_on, plain, started
from sql_optim_env.tasks.task import TuneVariant

__all__ = ["anti", "chasm", "ends", "shared"]

_ANTI_STORIES: Final = (
    "Which {records} of {kind_name} {kind} has {setting} no {child} for? The list shows number, {first} and {note}. There "
    "are {children} for {records} that are not on file, and a few that name none.",
    "{setting_} goes through the {records} whose {kind_name} is {kind} and wants those that no {child} belongs to: number, "
    "{first}, {note}. Some {children} belong to nothing that is on file.",
    "Open ends at {setting}: each of the {records} with {kind_name} {kind} but without a single {child}, with {first} and "
    "{note}. Not every {child} says what it belongs to.",
)


def anti(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """Rows without a child although the reference is indexed; a set difference reads that index once."""
    child, kind = d.children[numbers["child"]], d.kinds[numbers["kind"]]
    columns = f"SELECT r.id, r.{d.first}, r.{d.note}"
    exists = (
        f"{columns}\nFROM {d.record} r\nWHERE r.{d.kind} = '{kind}'\n"
        f"  AND NOT EXISTS (SELECT 1 FROM {child.table} c WHERE c.{d.record_id} = r.id)\nORDER BY r.id"
    )
    outer = (
        f"{columns}\nFROM {d.record} r\nLEFT JOIN {child.table} c ON c.{d.record_id} = r.id\n"
        f"WHERE r.{d.kind} = '{kind}' AND c.id IS NULL\nORDER BY r.id"
    )
    sql, other = (exists, outer) if numbers["form"] else (outer, exists)

    def difference(where: str) -> str:
        return (
            f"{columns}\nFROM (\n    SELECT id FROM {d.record}{where}\n    EXCEPT\n    SELECT {d.record_id} FROM {child.table}\n) k\n"
            f"CROSS JOIN {d.record} r ON r.id = k.id\nORDER BY r.id"
        )

    reference = difference(f" WHERE {d.kind} = '{kind}'")
    careless = (
        f"{columns}\nFROM {d.record} r\n"
        f"WHERE r.{d.kind} = '{kind}' AND r.id NOT IN (SELECT {d.record_id} FROM {child.table})\nORDER BY r.id"
    )
    by_kind = index_on(d.record, d.kind)
    return Draft(
        title=f"{plain(d.records).capitalize()} without {plain(child.plural)}",
        description=dice.choice(_ANTI_STORIES).format(
            setting=d.setting,
            setting_=started(d.setting),
            records=plain(d.records),
            kind_name=plain(d.kind),
            kind=f"'{kind}'",
            child=plain(child.table),
            children=plain(child.plural),
            first=plain(d.first),
            note=plain(d.note),
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=(by_kind,),
        variants=(
            TuneVariant("plausible", other, (by_kind,), "The other spelling of the same probes, a row at a time."),
            TuneVariant("indexes_only", sql, (by_kind,), "Thousands of probes into the shipped index."),
            TuneVariant("rewrite_only", reference, (), "The wide table is read for the numbers of the rows."),
        ),
        wrong=(
            TuneVariant("not_in", careless, (by_kind,), "Nothing is left where a child has no parent."),
            TuneVariant("every_kind", difference(""), (by_kind,), "Rows of other kinds are listed too."),
        ),
    )


_SHARED_STORIES: Final = (
    "{setting_} looks at the {links} whose state is {state}. Both sides are shown with what they have done so far: {list}. "
    "A row with a side that is not on file, or that has no {records}, is left out.",
    "Before {setting} decides about the {links} in state {state}, the screen puts the two {owners} next to each other: "
    "{list}. Where either side has no {records}, or is unknown, nothing is shown.",
    "A list for {setting}: every one of the {links} marked {state}, with both {owners} summed up: {list}. It needs both "
    "sides on file, each with at least one of the {records}.",
)


def shared(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """Totals of all owners computed twice for a few links; only the owners that the links name are needed."""
    link, state = d.link, STATES[numbers["states"]][0]
    measures = (
        (f"SUM(r.{d.second})", d.second, f"{plain(d.second)} in all"),
        (f"MAX(r.{d.second})", f"most_{d.second}", f"the most {plain(d.second)}"),
        ("COUNT(*)", d.records, "how many there are"),
    )
    aggregate, name, meaning = measures[numbers["form"]]
    totals = f"{aggregate} AS {name}, SUM(length(r.{d.note})) AS letters"

    def shown(source: str, target: str) -> str:
        return (
            f"SELECT l.id, l.{link.amount},\n"
            f"       {source}.{d.label} AS source_{d.label}, s.{name} AS source_{name}, s.letters AS source_letters,\n"
            f"       {target}.{d.label} AS target_{d.label}, t.{name} AS target_{name}, t.letters AS target_letters"
        )

    sql = (
        f"WITH total AS (\n    SELECT o.id, o.{d.label}, {totals}\n"
        f"    FROM {d.owner} o\n    JOIN {d.record} r ON r.{d.owner_id} = o.id\n    GROUP BY o.id\n)\n{shown('s', 't')}\n"
        f"FROM {link.table} l\nJOIN total s ON s.id = l.{link.source}\nJOIN total t ON t.id = l.{link.target}\n"
        f"WHERE l.state = '{state}'\nORDER BY l.id"
    )

    def pushed(keys: str, join: str) -> str:
        return (
            f"WITH need AS MATERIALIZED (\n    SELECT id, {link.source}, {link.target}, {link.amount} FROM {link.table}"
            f" WHERE state = '{state}'\n),\n"
            f"total AS MATERIALIZED (\n    SELECT k.id, {totals}\n    FROM ({keys}) k\n"
            f"    CROSS JOIN {d.record} r ON r.{d.owner_id} = k.id\n    GROUP BY k.id\n)\n{shown('so', 'ta')}\nFROM need l\n"
            f"{join} total s ON s.id = l.{link.source}\n{join} total t ON t.id = l.{link.target}\n"
            f"JOIN {d.owner} so ON so.id = l.{link.source}\nJOIN {d.owner} ta ON ta.id = l.{link.target}\nORDER BY l.id"
        )

    both = f"SELECT {link.source} AS id FROM need UNION SELECT {link.target} FROM need"
    reference = pushed(both, "JOIN")
    by_owner, by_state = index_on(d.record, d.owner_id), index_on(link.table, "state")
    ddl = (by_owner, by_state)
    return Draft(
        title=f"Both sides of the {plain(link.plural)}",
        description=dice.choice(_SHARED_STORIES).format(
            setting=d.setting,
            setting_=started(d.setting),
            links=plain(link.plural),
            state=f"'{state}'",
            owners=plain(d.owners),
            records=plain(d.records),
            list=f"{meaning}, over all their {plain(d.records)}, and the letters in the {plain(d.note)} of those",
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=ddl,
        variants=(
            TuneVariant("plausible", sql, (by_owner,), "Every owner's records are fetched one at a time for two totals."),
            TuneVariant("indexes_only", sql, ddl, "The totals of all owners are still made."),
            TuneVariant("rewrite_only", reference, (), "One pass over each table."),
        ),
        wrong=(
            TuneVariant("outer_join", pushed(both, "LEFT JOIN"), ddl, "Shows sides without records."),
            TuneVariant("sources_only", pushed(f"SELECT DISTINCT {link.source} AS id FROM need", "JOIN"), ddl, "Totals of one side only."),
        ),
    )


_CHASM_STORIES: Final = (
    "An overview of {group} {number} for {setting}: each of its {owners} with the number of {a}, of {b} and of {c}. One that has none of "
    "a sort shows 0.",
    "{setting_} counts what belongs to the {owners} of {group} {number}: {a}, {b} and {c}. All of them are listed, whether or not "
    "there is anything to count.",
    "How many {a}, how many {b} and how many {c} has each of the {owners} in {group} {number}? {setting_} wants zeros, not gaps.",
)


def chasm(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """Three kinds of children joined at once and counted apart; each is counted by itself, over its own index."""
    tables = {d.record: d.records, **{child.table: child.plural for child in d.children}}
    group = numbers["group"]
    letters = dict(zip(tables, "abc", strict=True))

    def joined(count: str, join: str) -> str:
        counts = ",\n       ".join(f"COUNT({count}{letters[table]}.id) AS {plural}" for table, plural in tables.items())
        joins = "\n".join(f"{join} {table} {letter} ON {letter}.{d.owner_id} = o.id" for table, letter in letters.items())
        return (
            f"SELECT o.id, o.{d.label},\n       {counts}\nFROM {d.owner} o\n{joins}\nWHERE o.{d.group} = {group}\n"
            f"GROUP BY o.id, o.{d.label}\nORDER BY o.id"
        )

    def grouped(wanted: str, join: str) -> str:
        steps = "".join(
            f",\n     {letter} AS MATERIALIZED (SELECT {d.owner_id}, COUNT(*) AS n FROM {table}{wanted} GROUP BY {d.owner_id})"
            for table, letter in letters.items()
        )
        counts = ", ".join(f"COALESCE({letters[table]}.n, 0) AS {plural}" for table, plural in tables.items())
        joins = "\n".join(f"{join} {letter} ON {letter}.{d.owner_id} = o.id" for letter in letters.values())
        return (
            f"WITH o AS MATERIALIZED (SELECT id, {d.label} FROM {d.owner} WHERE {d.group} = {group}){steps}\n"
            f"SELECT o.id, o.{d.label}, {counts}\nFROM o\n{joins}\nORDER BY o.id"
        )

    of_group = f" WHERE {d.owner_id} IN (SELECT id FROM o)"
    sql, reference = joined("DISTINCT ", "LEFT JOIN"), grouped(of_group, "LEFT JOIN")
    scalars = ",\n       ".join(
        f"(SELECT COUNT(*) FROM {table} x WHERE x.{d.owner_id} = o.id) AS {plural}" for table, plural in tables.items()
    )
    each = f"SELECT o.id, o.{d.label},\n       {scalars}\nFROM {d.owner} o\nWHERE o.{d.group} = {group}\nORDER BY o.id"
    by_group = index_on(d.owner, d.group)
    words = [plain(plural) for plural in tables.values()]
    return Draft(
        title=f"What belongs to the {plain(d.owners)}",
        description=dice.choice(_CHASM_STORIES).format(
            group=plain(d.group),
            number=group,
            setting=d.setting,
            setting_=started(d.setting),
            owners=plain(d.owners),
            a=words[0],
            b=words[1],
            c=words[2],
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=(by_group,),
        variants=(
            TuneVariant("plausible", grouped("", "LEFT JOIN"), (by_group,), "Grouping all children reads three whole indexes."),
            TuneVariant("indexes_only", sql, (by_group,), "The fan-outs still multiply."),
            TuneVariant("rewrite_only", reference, (), "The owners are few; most of the gain is in the rewrite."),
            TuneVariant("one_count_each", each, (by_group,), "Every count begins at the root of its index."),
        ),
        wrong=(
            TuneVariant("counts_products", joined("", "LEFT JOIN"), (by_group,), "Counts combinations of children."),
            TuneVariant("inner_join", grouped(of_group, "JOIN"), (by_group,), "Loses owners that lack a kind of child."),
        ),
    )


_ENDS_STORIES: Final = (
    "For the {owners} of {group} {number}, {setting} compares the first of the {records} with the last, by number: number "
    "and {first} of either, and {extra}. One without {records} is left out.",
    "{setting_}: {group} {number}. Of each of the {owners}: the earliest and the latest of its {records} (numbers rise with "
    "time) with {first}, and {extra}. Only {owners} that have {records}.",
    "Numbers are given in the order of time. Each of the {owners} in {group} {number} that has {records} is shown with its "
    "first and its last, {first} included, and with {extra}; {setting} reads it every morning.",
)


def ends(d: Domain, numbers: Numbers, dice: Random) -> Draft:
    """First and last record of a few owners, ranked over the whole table; an index on the owner holds the ids in order."""
    group, t, k = numbers["group"], d.record, d.owner_id
    aggregate, name, extra = (
        ("COUNT(*)", d.records, f"the number of {plain(d.records)}"),
        ("MAX(id) - MIN(id)", "apart", "the difference of the two numbers"),
    )[numbers["form"]]
    shown = (
        f"SELECT o.id, o.{d.label},\n       l.id AS last_id, l.{d.first} AS last_{d.first},\n"
        f"       f.id AS first_id, f.{d.first} AS first_{d.first},\n       n.{name}"
    )

    def ranked(way: str) -> str:
        return f"(SELECT {k}, id, {d.first}, ROW_NUMBER() OVER (PARTITION BY {k} ORDER BY id{way}) AS place FROM {t})"

    sql = (
        f"{shown}\nFROM {d.owner} o\nJOIN {ranked(' DESC')} l\n  ON l.{k} = o.id AND l.place = 1\nJOIN {ranked('')} f\n"
        f"  ON f.{k} = o.id AND f.place = 1\nJOIN (SELECT {k}, {aggregate} AS {name} FROM {t} GROUP BY {k}) n ON n.{k} = o.id\n"
        f"WHERE o.{d.group} = {group}\nORDER BY o.id"
    )

    def once(wanted: str, ids: str, tail: str) -> str:
        return (
            f"WITH n AS MATERIALIZED (\n    SELECT {k}, {ids}, {aggregate} AS {name} FROM {t}{wanted} GROUP BY {k}\n)\n{shown}\nFROM n\n"
            f"CROSS JOIN {d.owner} o ON o.id = n.{k}\nCROSS JOIN {t} l ON l.id = n.z\nCROSS JOIN {t} f ON f.id = n.a\n{tail}ORDER BY o.id"
        )

    of_group = f"\n    WHERE {k} IN (SELECT id FROM {d.owner} WHERE {d.group} = {group})\n   "
    both = "MIN(id) AS a, MAX(id) AS z"
    reference, everyone = once(of_group, both, ""), once("", both, f"WHERE o.{d.group} = {group}\n")
    by_owner, by_group = index_on(t, k), index_on(d.owner, d.group)
    ddl = (by_owner, by_group)
    return Draft(
        title=f"First and last {plain(d.record)} in a {plain(d.group)}",
        description=dice.choice(_ENDS_STORIES).format(
            owners=plain(d.owners),
            group=plain(d.group),
            number=group,
            setting=d.setting,
            setting_=started(d.setting),
            records=plain(d.records),
            first=plain(d.first),
            extra=extra,
        ),
        sql=sql,
        reference_sql=reference,
        reference_ddl=ddl,
        variants=(
            TuneVariant("plausible", sql, ddl, "The rankings walk the index and fetch every row."),
            TuneVariant("rewrite_only", reference, (), "One pass to find the ends."),
            TuneVariant("grouped_once", everyone, ddl, "One grouping of all owners over the index."),
        ),
        wrong=(
            TuneVariant("swapped", once(of_group, "MAX(id) AS a, MIN(id) AS z", ""), ddl, "First and last are exchanged."),
            TuneVariant("every_group", once("", both, ""), ddl, "Owners of other groups are shown too."),
        ),
        max_vm_steps=10_000_000,
    )
