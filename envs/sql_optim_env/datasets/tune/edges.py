"""Edge instances: a generator's own rows, few of them, with hazards worked in that a careless rewrite stumbles over.

They decide right or wrong, never pages. Which hazards apply to a column is read off the schema: NULL where it allows one, repeated and tied
values where nothing unique forbids them, ids of nobody where no foreign key is declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from random import Random
from typing import Final, TypeVar

import apsw

__all__ = ["PROFILES", "Profile", "Row", "TableInfo", "Value", "distorted", "table_info"]

Value = int | str | bytes | None
"""What a generator may put in a row. No floats: sums of them depend on the order of the rows."""

Row = tuple[Value, ...]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Profile:
    """How small an edge instance is, and how much of each hazard it holds. Shares are percent of the values (or rows) concerned."""

    rows: int
    """The most rows that the generator makes for a table."""
    hot: int = 65
    """A value that the query asks for, or a neighbour of one; of a reference, any of the ids there are."""
    nulls: int = 8
    ties: int = 25
    """The value of one of the table's first rows."""
    repeats: int = 10
    """Rows that are there a second time under another id."""
    dangling: int = 8
    odd: int = 0
    """Above 0, every so many numbers of a column are zero, below zero or beside one that the query asks for, each in turn."""
    spelled: int = 0
    """Above 0, most texts of one column that the query compares come in one spelling after the other; which column, by this number."""
    reversed: bool = False
    """The first of the hot values, which the query usually asks for, is the rare one."""
    empty: str = ""
    """``all``, or ``first`` or ``others``: the table that is filled first, usually the parent, or the ones after it."""


PROFILES: Final[Mapping[str, Profile]] = {
    "nulls": Profile(rows=48, nulls=35),
    "ties": Profile(rows=60, ties=75),
    "repeats": Profile(rows=40, repeats=60),
    "dangling": Profile(rows=48, dangling=45),
    "mixed": Profile(rows=90, hot=80, nulls=15),
    "first_empty": Profile(rows=24, empty="first"),
    "others_empty": Profile(rows=24, empty="others"),
    "empty": Profile(rows=0, empty="all"),
    "odd": Profile(rows=90, hot=85, repeats=30, odd=3),
    "spelled": Profile(rows=90, hot=85, repeats=30, spelled=1),
    "also_spelled": Profile(rows=90, hot=85, repeats=30, spelled=2),
    "reversed": Profile(rows=60, hot=85, reversed=True),
}
"""By name; ``edge_<name>`` is the instance."""

_TIED_TO: Final = 3
_SPELLED, _OUT_OF = 3, 5
_FEW: Final = 8
"""Rows up to which all of them are made odd: a share of them would be next to none."""

_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: f"{text} ",
    str.swapcase,
    str,
    lambda text: "",
    lambda text: f"{text}é",
    lambda text: f" {text}",
    lambda text: f"{text}x",
    lambda text: f"x{text}",
    lambda text: text[:-1],
)
"""A text, and what a loose comparison takes for it; the likeliest mistakes first, since a table may have few rows."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What the schema says about a table's columns, in order."""

    columns: tuple[str, ...]
    nullable: frozenset[str]
    fixed: frozenset[str]
    """Columns that a primary key, a unique index or a declared foreign key constrains: left as they were generated."""
    rowid: int | None
    """The position of the INTEGER PRIMARY KEY, if there is one."""
    checked: frozenset[str] = frozenset()
    """Columns with a CHECK, of which only the generator and ``hot`` know what it admits."""


def table_info(con: apsw.Connection, table: str) -> TableInfo:
    """Read it from a database that has the table."""
    columns, nullable, fixed, keys = [], set(), set(), []
    for position, name, kind, not_null, _, key in con.execute("SELECT * FROM pragma_table_info(?)", (table,)):
        columns.append(str(name))
        if not not_null and not key:
            nullable.add(str(name))
        if key:
            fixed.add(str(name))
            keys.append((int(str(position)), str(kind).upper()))
    unique = 'SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l."unique"'
    for query in (unique, 'SELECT "from" FROM pragma_foreign_key_list(?)'):
        fixed |= {str(name) for (name,) in con.execute(query, (table,))}
    rowid = keys[0][0] if len(keys) == 1 and keys[0][1] == "INTEGER" else None
    text = str(con.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()[0][0])
    checked = {name for name in columns if re.search(rf"^\s*{name}\b.*\bCHECK\b", text, re.MULTILINE)}
    return TableInfo(tuple(columns), frozenset(nullable), frozenset(fixed), rowid, frozenset(checked))


def distorted(
    rows: Mapping[str, Sequence[Row]],
    infos: Mapping[str, TableInfo],
    profile: Profile,
    dice: Random,
    *,
    references: Mapping[str, str],
    hot: Mapping[str, Sequence[Value]],
) -> dict[str, list[Row]]:
    """``rows`` with the hazards of ``profile``. ``references`` and ``hot`` as in ``TuneDataset``; same dice, same result.

    Tables are taken in the order of ``infos``, so that children find the ids of their parents' copies too.
    """
    hazards = _Hazards(rows, profile, dice, references, hot)
    result: dict[str, list[Row]] = {}
    for place, (table, info) in enumerate(infos.items()):
        emptied = profile.empty == "all" or (profile.empty == "first" and place == 0) or (profile.empty == "others" and place > 0)
        result[table] = [] if emptied else hazards.table(table, info, result)
    return result


@dataclass(frozen=True, slots=True)
class _Hazards:
    rows: Mapping[str, Sequence[Row]]
    profile: Profile
    dice: Random
    references: Mapping[str, str]
    hot: Mapping[str, Sequence[Value]]

    def table(self, table: str, info: TableInfo, made: Mapping[str, Sequence[Row]]) -> list[Row]:
        """The table's rows with hazards; ``made`` are the tables before it."""
        changed = [tuple(self._value(table, info, row, at, made) for at in range(len(row))) for row in self.rows[table]]
        if self.profile.odd or self.profile.spelled:
            columns = [self._column(table, info, at, values) for at, values in enumerate(zip(*changed, strict=True))]
            changed = list(zip(*columns, strict=True))
        return changed + self._copies(changed, info)

    def _value(self, table: str, info: TableInfo, row: Row, at: int, made: Mapping[str, Sequence[Row]]) -> Value:
        column, profile = info.columns[at], self.profile
        if column in info.fixed:
            return row[at]
        if column in info.nullable and self._happens(profile.nulls):
            return None
        if parent := self.references.get(f"{table}.{column}"):
            parents = made.get(parent) or self.rows[parent]
            if self._happens(profile.dangling):
                return max((value for value, *_ in parents if isinstance(value, int)), default=0) + self.dice.randrange(1, 4)
            if parents and self._happens(profile.hot):
                return self._any(parents)[0]
        wanted = self.hot.get(f"{table}.{column}")
        if wanted and profile.reversed:
            wanted = [value for value in wanted if value != wanted[0]] or wanted
        if wanted and self._happens(profile.hot):
            return self._any(wanted)
        if self._happens(profile.ties):
            return self._any(self.rows[table][:_TIED_TO])[at]
        return row[at]

    def _column(self, table: str, info: TableInfo, at: int, values: Sequence[Value]) -> Sequence[Value]:
        """A column with its numbers or texts made odd, unless something guards it."""
        column = f"{table}.{info.columns[at]}"
        if info.columns[at] in info.fixed | info.checked or column in self.references:
            return values
        wanted = self.hot.get(column, ())
        if self.profile.odd:
            return self._odd(values, [number for number in wanted if isinstance(number, int)])
        texts = [text for text in wanted if isinstance(text, str) and text]
        compared = [name for name, hot in self.hot.items() if any(isinstance(value, str) for value in hot)]
        if column in compared and compared.index(column) != self.profile.spelled % len(compared):
            return values
        return self._spelled(values, texts or [text for text in values[:2] if isinstance(text, str) and text])

    def _odd(self, values: Sequence[Value], wanted: Sequence[int]) -> list[Value]:
        numbers = list(dict.fromkeys(wanted))
        beside = [0, -1, *(number + shift for number in numbers for shift in (1, -1)), *(-number for number in numbers)]
        # The greatest one stands there once.
        greatest = max((value for value in values if isinstance(value, int)), default=0) + 2
        turns = chain([0, -1, greatest], cycle(beside))
        result = list(values)
        for turn, place in enumerate(self._places(values, int)):
            if turn % self.profile.odd == 0 or len(values) <= _FEW:
                result[place] = next(turns)
        return result

    def _spelled(self, values: Sequence[Value], texts: Sequence[str]) -> list[Value]:
        forms = [spelling(text) for text in dict.fromkeys(texts) for spelling in _SPELLINGS]
        # The last one stands there once.
        turns = chain(forms, cycle(forms[:-1]))
        result = list(values)
        for turn, place in enumerate(self._places(values, str)):
            if texts and (turn % _OUT_OF < _SPELLED or len(values) <= _FEW):
                result[place] = next(turns)
        return result

    def _places(self, values: Sequence[Value], kind: type) -> list[int]:
        """Where values of a kind stand, in mixed order."""
        places = [place for place, value in enumerate(values) if isinstance(value, kind)]
        self.dice.shuffle(places)
        return places

    def _copies(self, rows: Sequence[Row], info: TableInfo) -> list[Row]:
        """Some rows again under new ids; none where something else than the id would have to be unique."""
        if info.rowid is None or info.fixed != {info.columns[info.rowid]}:
            return []
        place, copies = info.rowid, []
        new_id = max((value for row in rows if isinstance(value := row[place], int)), default=0)
        for row in rows:
            if self._happens(self.profile.repeats):
                new_id += self.dice.randrange(1, 5)
                copies.append((*row[:place], new_id, *row[place + 1 :]))
        return copies

    def _happens(self, percent: int) -> bool:
        return self.dice.randrange(100) < percent

    def _any(self, values: Sequence[_T]) -> _T:
        return values[self.dice.randrange(len(values))]
