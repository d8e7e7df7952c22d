"""What the datasets of the ``tune`` family share: one SQLite file an instance, always written the same way.

To write a shape, subclass ``TuneDataset`` in a module of its own and say

- ``name`` and ``ddl``: the whole schema, with the indexes that ship with it (a trailing ``ANALYZE`` ships statistics);
- ``tables``: parents first, the order in which they are filled;
- ``sizes``: rows per table on the instances whose pages are counted, and any other count that the generator needs;
- ``references``: which columns hold ids of which table, and ``hot``: what the task's query asks for, and values just beside it;
- ``rows(dice, sizes)``: the rows of each table.

and end the module with ``DATASET: Final = TheClass()``, which is how the package finds it. The edge instances follow from that.
"""

from __future__ import annotations

import hashlib
import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import ClassVar, Final

import apsw

from sql_optim_env.datasets.dataset import Dataset, created_table, ddl_with_counts
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import draws, edges
from sql_optim_env.datasets.tune.edges import Row, TableInfo

__all__ = ["PAGE_SIZE", "TuneDataset", "shared_sources"]

PAGE_SIZE: Final = 4096
"""Bytes; page counts mean nothing without it."""

_SEEDS: Final = {"public": 11, "twin_1": 23, "twin_2": 37}
_MEASURED: Final = "full"


class TuneDataset(Dataset):
    """A schema and a generator for SQLite. See the module for what a subclass says.

    An instance's rows are a pure function of ``Random(f"{name}:{seed}:{profile}")``, and its file the same bytes every time. The instances
    are ``public`` and two twins of the same size under other seeds, and the edge ones of ``edges.PROFILES``, small and full of hazards.
    """

    dialect: ClassVar[str] = "sqlite"
    sizes: ClassVar[Mapping[str, int]]
    references: ClassVar[Mapping[str, str]] = {}
    """``"table.column"`` → the table whose ids it holds. Only for columns without a declared foreign key: those may dangle."""
    hot: ClassVar[Mapping[str, Sequence[edges.Value]]] = {}
    """``"table.column"`` → values for the edge instances: the literals of the task's query and their neighbours on either side."""

    edge_seed: ClassVar[int] = 101
    """The seed of the first edge instance; change it when the task's query finds nothing in one that is not meant to be empty."""

    @abstractmethod
    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Every table's rows, in the order in which they are inserted.

        ``sizes`` has the keys of the class's; on edge instances its numbers are small, and a generator must cope with that.
        """

    @cached_property
    def version(self) -> str:
        """A digest of the source of this dataset's module and of what all of them share."""
        digest = hashlib.blake2b(digest_size=12)
        for source in (*shared_sources(), Path(inspect.getfile(type(self)))):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
        return digest.hexdigest()

    @property
    def engine_version(self) -> str:
        """SQLite's version."""
        return apsw.sqlite_lib_version()

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Public, two twins, then the edge instances."""
        return (
            *(Instance(self.name, name, "public" if name == "public" else "twin", seed, _MEASURED) for name, seed in _SEEDS.items()),
            *(Instance(self.name, f"edge_{profile}", "edge", self.edge_seed + k, profile) for k, profile in enumerate(edges.PROFILES)),
        )

    def edge_instances(self, sqls: Sequence[str]) -> tuple[Instance, ...]:
        """None beyond ``instances``: a dataset of this family serves one task, and ``hot`` already names its literals."""
        return ()

    def build(self, instance: Instance, path: Path) -> dict[str, int]:
        """Write the database: rollback journal, 4096-byte pages, tables filled in order, then the shipped indexes."""
        con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            con.execute(f"PRAGMA page_size={PAGE_SIZE}; PRAGMA journal_mode=delete; PRAGMA synchronous=off")
            con.execute("BEGIN")
            for statement in self._creates:
                con.execute(statement)
            contents = self._contents(instance, {table: edges.table_info(con, table) for table in self.tables})
            for table in self.tables:
                _insert(con, table, contents[table])
            for statement in self._afterwards:
                con.execute(statement)
            con.execute("COMMIT")
        finally:
            con.close()
        return {table: len(contents[table]) for table in self.tables}

    def schema_info(self, row_counts: Mapping[str, int]) -> str:
        """The schema with ``-- N rows`` above each table; a table that is not in ``row_counts`` gets no comment."""
        return ddl_with_counts((*self._creates, *self._afterwards), row_counts)

    def _contents(self, instance: Instance, infos: Mapping[str, TableInfo]) -> Mapping[str, Sequence[Row]]:
        dice = Random(f"{instance.dataset}:{instance.seed}:{instance.profile}")
        if instance.profile == _MEASURED:
            return self.rows(dice, self.sizes)
        profile = edges.PROFILES[instance.profile]
        rows = self.rows(dice, {key: min(size, profile.rows) for key, size in self.sizes.items()})
        return edges.distorted(rows, infos, profile, dice, references=self.references, hot=self.hot)

    @property
    def _statements(self) -> list[str]:
        return [statement.strip() for statement in self.ddl.split(";\n") if statement.strip()]

    @property
    def _creates(self) -> list[str]:
        return [statement for statement in self._statements if created_table(statement)]

    @property
    def _afterwards(self) -> list[str]:
        return [statement for statement in self._statements if not created_table(statement)]


def shared_sources() -> tuple[Path, ...]:
    """The source files on which the data of every dataset of the family depends."""
    return tuple(Path(module) for module in (__file__, draws.__file__, edges.__file__))


def _insert(con: apsw.Connection, table: str, rows: Sequence[Row]) -> None:
    if rows:
        con.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
