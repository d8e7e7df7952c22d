"""A captured result: the rows as Arrow, the names as the engine gave them, and the engine's own type strings.

The engine's Arrow export is lossless with ``arrow_lossless_conversion`` for every admitted type except two: an ENUM arrives as a dictionary
of its texts (the type string still tells it apart), and an INTERVAL wraps around beyond 2^63 nanoseconds (checked by ``database``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sql_optim_env.engines.base import Column

__all__ = ["Capture"]

_METADATA_KEY = b"sql_optim_env.capture"


@dataclass(frozen=True, slots=True)
class Capture:
    """All rows of one execution. The table's own column names are c0, c1, …, so that duplicate names survive."""

    columns: tuple[Column, ...]
    table: pa.Table
    distinct: bool | None = None
    """Whether no row occurs twice; None when nobody has counted. Lets a comparison take a shorter way to the same answer."""

    @classmethod
    def of(cls, columns: tuple[Column, ...], table: pa.Table) -> Capture:
        """A capture of ``table`` whose i-th column is ``columns[i]``; the engine's names in the table are replaced."""
        if table.num_columns != len(columns):
            raise ValueError(f"{len(columns)} columns described, {table.num_columns} captured")
        return cls(columns, table.rename_columns([f"c{index}" for index in range(len(columns))]))

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def save(self, path: Path, *, distinct: Callable[[Capture], bool] | None = None) -> None:
        """Write an Arrow IPC file. ``distinct`` counts whether rows repeat (see ``equality.has_distinct_rows``); its answer is kept."""
        unique = self.distinct if distinct is None else distinct(self)
        header = {"columns": [[column.name, column.type] for column in self.columns], "distinct": unique}
        table = self.table.replace_schema_metadata({_METADATA_KEY: json.dumps(header).encode()})
        with pa.OSFile(os.fspath(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)

    @classmethod
    def load(cls, path: Path) -> Capture:
        """Read what ``save`` wrote. The file is memory-mapped, so rows are read when they are looked at.

        Raises:
            ValueError: the file is no saved capture.
        """
        table = pa.ipc.open_file(pa.memory_map(os.fspath(path), "r")).read_all()
        header = (table.schema.metadata or {}).get(_METADATA_KEY)
        if header is None:
            raise ValueError(f"{path.name} is not a saved capture")
        fields = json.loads(header)
        return cls(tuple(Column(name, kind) for name, kind in fields["columns"]), table.replace_schema_metadata(None), fields["distinct"])
