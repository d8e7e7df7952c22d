"""Shapes whose query joins tables: missing children, shared totals, independent children, first and last of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.generate.tune.shape import STATES, Layout, Numbers, Prose, labels, with_gaps
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["Anti", "Chasm", "Ends", "Shared"]


class Anti:
    """Wide records, nearly all of which have a child; the index on the child's reference ships."""

    def numbers(self, dice: Random) -> Numbers:
        """Exactly ``alone`` records of the kind that is asked for have no child; ``kind`` and ``child`` are positions in the domain."""
        return {
            "records": dice.randrange(2_800, 3_500),
            "note": dice.randrange(560, 720),
            "alone": dice.randrange(36, 56),
            "kind": dice.randrange(4),
            "child": dice.randrange(2),
            "form": dice.randrange(2),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Records, and children that may name a record that is not on file, or none."""
        d, child = domain, domain.children[numbers["child"]]
        return Layout(
            ddl=f"""\
CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.kind} TEXT NOT NULL,
    {d.first} INTEGER,
    {d.note} TEXT NOT NULL
);

CREATE TABLE {child.table} (
    id INTEGER PRIMARY KEY,
    {d.record_id} INTEGER,
    {child.column} TEXT NOT NULL
);

CREATE INDEX {child.table}_{d.record} ON {child.table}({d.record_id});
""",
            tables=(d.record, child.table),
            sizes={d.record: numbers["records"], child.table: numbers["records"]},
            references={f"{child.table}.{d.record_id}": d.record},
            hot={f"{d.record}.{d.kind}": d.kinds},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Four records in five are of the asked kind; a few children name no record."""
        child, asked = domain.children[numbers["child"]], domain.kinds[numbers["kind"]]
        prose = Prose(dice, domain.words)
        ids = gapped_ids(dice, sizes[domain.record])
        others = [kind for kind in domain.kinds if kind != asked]
        kinds = dealt(dice, (*(asked,) * 12, *others), len(ids))
        records: list[Row] = []
        for number, kind in zip(ids, kinds, strict=True):
            first = None if dice.random() < 0.05 else dice.randrange(900)
            records.append((number, kind, first, prose.cut(numbers["note"] + dice.randrange(-40, 41))))
        wanted = [number for number, kind in zip(ids, kinds, strict=True) if kind == asked]
        alone = set(dice.sample(wanted, min(numbers["alone"], len(wanted) // 4)))
        parents: list[int | None] = [number for number in ids if number not in alone]
        # Children of nobody, who must not hide a record that has none.
        parents += [None] * (len(ids) // 150) + [max(ids, default=0) + 1 + k for k in range(len(ids) // 150)]
        dice.shuffle(parents)
        numbered = zip(gapped_ids(dice, len(parents)), parents, strict=True)
        children: list[Row] = [(number, parent, prose.cut(dice.randrange(40, 90))) for number, parent in numbered]
        return {domain.record: records, child.table: children}


class Shared:
    """Owners with wide records and links between owners, few of which are asked for; the query totals the records of all owners."""

    def numbers(self, dice: Random) -> Numbers:
        """Exactly ``asked`` links are in the state that is asked for, the first of ``STATES[states]``."""
        return {
            "owners": dice.randrange(1_700, 2_300),
            "records": dice.randrange(6_000, 7_400),
            "links": dice.randrange(1_500, 2_100),
            "note": dice.randrange(480, 580),
            "asked": dice.randrange(7, 12),
            "states": dice.randrange(len(STATES)),
            "form": dice.randrange(3),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Owners, records and links."""
        d, link = domain, domain.link
        return Layout(
            ddl=f"""\
CREATE TABLE {d.owner} (
    id INTEGER PRIMARY KEY,
    {d.label} TEXT NOT NULL,
    {d.leaflet} TEXT NOT NULL
);

CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.owner_id} INTEGER,
    {d.second} INTEGER NOT NULL,
    {d.note} TEXT NOT NULL
);

CREATE TABLE {link.table} (
    id INTEGER PRIMARY KEY,
    {link.source} INTEGER,
    {link.target} INTEGER,
    {link.amount} INTEGER NOT NULL,
    state TEXT NOT NULL
);
""",
            tables=(d.owner, d.record, link.table),
            sizes={d.owner: numbers["owners"], d.record: numbers["records"], link.table: numbers["links"]},
            references={
                f"{d.record}.{d.owner_id}": d.owner,
                f"{link.table}.{link.source}": d.owner,
                f"{link.table}.{link.target}": d.owner,
            },
            hot={f"{link.table}.state": STATES[numbers["states"]]},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Records are spread evenly over owners; on edge instances owners are few, or hardly any link would have records on both sides."""
        prose = Prose(dice, domain.words)
        full = sizes[domain.owner] == numbers["owners"]
        ids = gapped_ids(dice, sizes[domain.owner] if full else sizes[domain.owner] // 2)
        owners: list[Row] = [
            (number, label, prose.cut(dice.randrange(140, 200)))
            for number, label in zip(ids, labels(dice, domain.names, len(ids)), strict=True)
        ]
        count = sizes[domain.record]
        records: list[Row] = [
            (number, owner, dice.randrange(900), prose.cut(numbers["note"] + dice.randrange(-40, 41)))
            for number, owner in zip(gapped_ids(dice, count), dealt(dice, ids, count), strict=True)
        ]
        count = sizes[domain.link.table]
        asked, *others = STATES[numbers["states"]]
        states = [asked] * min(numbers["asked"], count) + dealt(dice, others, max(count - numbers["asked"], 0))
        dice.shuffle(states)
        links: list[Row] = []
        if ids:
            for number, state in zip(gapped_ids(dice, count), states, strict=True):
                links.append((number, dice.choice(ids), dice.choice(ids), dice.randrange(1, 200), state))
        return {domain.owner: owners, domain.record: records, domain.link.table: links}


class Chasm:
    """Owners with three kinds of children, independent of each other, and an index on each reference that ships."""

    def numbers(self, dice: Random) -> Numbers:
        """Exactly ``asked`` owners are in the group ``group``; each has about ``each`` children of a kind."""
        return {
            "owners": dice.randrange(1_300, 1_700),
            "asked": dice.randrange(13, 18),
            "group": dice.randrange(3, 60),
            "each": dice.randrange(7, 9),
            "leaflet": dice.randrange(300, 420),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Four tables."""
        d = domain
        families = ((d.record, d.note), *((child.table, child.column) for child in d.children))
        children = "\n".join(
            f"CREATE TABLE {table} (\n    id INTEGER PRIMARY KEY,\n    {d.owner_id} INTEGER,\n    {column} TEXT NOT NULL\n);\n"
            for table, column in families
        )
        indexes = "\n".join(f"CREATE INDEX {table}_{d.owner} ON {table}({d.owner_id});" for table, _ in families)
        group = numbers["group"]
        return Layout(
            ddl=f"""\
CREATE TABLE {d.owner} (
    id INTEGER PRIMARY KEY,
    {d.group} INTEGER,
    {d.label} TEXT NOT NULL,
    {d.leaflet} TEXT NOT NULL
);

{children}
{indexes}
""",
            tables=(d.owner, *(table for table, _ in families)),
            sizes={d.owner: numbers["owners"], **{table: numbers["owners"] * numbers["each"] for table, _ in families}},
            references={f"{table}.{d.owner_id}": d.owner for table, _ in families},
            hot={f"{d.owner}.{d.group}": (group, group, group + 1)},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Children are spread evenly, but for one in nine."""
        prose = Prose(dice, domain.words)
        ids = gapped_ids(dice, sizes[domain.owner])
        others = [group for group in range(1, 80) if group != numbers["group"]]
        groups = [numbers["group"]] * min(numbers["asked"], len(ids)) + dealt(dice, others, max(len(ids) - numbers["asked"], 0))
        dice.shuffle(groups)
        leaflets = (prose.cut(numbers["leaflet"] + dice.randrange(-40, 41)) for _ in ids)
        result: dict[str, Sequence[Row]] = {
            domain.owner: list(zip(ids, groups, labels(dice, domain.names, len(ids)), leaflets, strict=True))
        }
        for table in (domain.record, *(child.table for child in domain.children)):
            count = sizes[table]
            owners = [dice.choice(ids) if ids and dice.randrange(9) == 0 else owner for owner in dealt(dice, ids, count)]
            numbered = zip(gapped_ids(dice, len(owners)), owners, strict=True)
            result[table] = [(number, owner, prose.cut(dice.randrange(24, 60))) for number, owner in numbered]
        return result


class Ends:
    """Owners and their many records, numbered in the order of time."""

    def numbers(self, dice: Random) -> Numbers:
        """Exactly ``asked`` owners are in the group ``group``; ``form`` says what is counted or summed beside the first and the last."""
        return {
            "owners": dice.randrange(450, 620),
            "asked": dice.randrange(11, 15),
            "group": dice.randrange(3, 30),
            "records": dice.randrange(23_000, 28_000),
            "note": dice.randrange(80, 110),
            "form": dice.randrange(2),
        }

    def layout(self, domain: Domain, numbers: Numbers) -> Layout:
        """Two tables."""
        d, group = domain, numbers["group"]
        return Layout(
            ddl=f"""\
CREATE TABLE {d.owner} (
    id INTEGER PRIMARY KEY,
    {d.group} INTEGER,
    {d.label} TEXT NOT NULL
);

CREATE TABLE {d.record} (
    id INTEGER PRIMARY KEY,
    {d.owner_id} INTEGER,
    {d.first} INTEGER,
    {d.note} TEXT NOT NULL
);
""",
            tables=(d.owner, d.record),
            sizes={d.owner: numbers["owners"], d.record: numbers["records"]},
            references={f"{d.record}.{d.owner_id}": d.owner},
            hot={f"{d.owner}.{d.group}": (group, group, group + 1)},
        )

    def rows(self, domain: Domain, numbers: Numbers, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Records are spread evenly over owners, in mixed order; a few have no owner or one that is not on file."""
        prose = Prose(dice, domain.words)
        ids = gapped_ids(dice, sizes[domain.owner])
        others = [group for group in range(1, 40) if group != numbers["group"]]
        groups = [numbers["group"]] * min(numbers["asked"], len(ids)) + dealt(dice, others, max(len(ids) - numbers["asked"], 0))
        dice.shuffle(groups)
        count = sizes[domain.record]
        records: list[Row] = []
        for number, owner in zip(gapped_ids(dice, count, gap=900), with_gaps(dice, ids, count, missing=1, dangling=1), strict=True):
            first = None if dice.random() < 0.06 else dice.randrange(1_000)
            records.append((number, owner, first, prose.cut(numbers["note"] + dice.randrange(-20, 21))))
        return {domain.owner: list(zip(ids, groups, labels(dice, domain.names, len(ids)), strict=True)), domain.record: records}
