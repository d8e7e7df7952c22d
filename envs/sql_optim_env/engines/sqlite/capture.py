"""A result as it was fetched: column names and rows, with SQLite's own storage classes (None, int, float, str, bytes)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sql_optim_env.engines.base import Column

__all__ = ["STORAGE_CLASSES", "Capture", "Value"]

Value = None | int | float | str | bytes

STORAGE_CLASSES: Final[dict[type, str]] = {type(None): "NULL", int: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}
"""SQLite's name for the class of each Python value."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Column names and all rows of a result."""

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names with the storage classes that occur in each column, NULL apart, e.g. ``INTEGER`` or ``INTEGER/TEXT``."""
        found = [sorted({STORAGE_CLASSES[type(row[index])] for row in self.rows} - {"NULL"}) for index in range(len(self.names))]
        return tuple(Column(name, "/".join(classes) or "NULL") for name, classes in zip(self.names, found, strict=True))

    def save(self, path: Path) -> None:
        """Write to ``path`` as JSON, exactly: floats as hexadecimal text, BLOBs as hex."""
        path.write_text(
            json.dumps({"names": self.names, "rows": [[_encoded(value) for value in row] for row in self.rows]}), encoding="utf-8"
        )

    @classmethod
    def load(cls, path: Path) -> Capture:
        """Read what ``save`` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(content["names"]), tuple(tuple(_decoded(value) for value in row) for row in content["rows"]))


def _encoded(value: Value) -> Any:
    if isinstance(value, float):
        return {"real": value.hex()}
    return {"blob": value.hex()} if isinstance(value, bytes) else value


def _decoded(value: Any) -> Value:
    if isinstance(value, dict):
        return float.fromhex(value["real"]) if "real" in value else bytes.fromhex(value["blob"])
    plain: Value = value
    return plain
