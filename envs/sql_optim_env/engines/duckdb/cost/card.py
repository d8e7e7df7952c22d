"""The dataset card: what the cost model must know about the stored data and no profile tells.

For every table its rows; for every column its kind, average length, distinct values, compression, whether its dictionary saves work, and
whether it is stored in ascending order. A card is deterministic for a database file and travels as JSON beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import duckdb

from sql_optim_env.engines.duckdb.cost.kinds import Kind, kind_of

__all__ = ["Card", "ColumnCard", "TableCard", "build_card"]

DICTIONARY_ENCODINGS: Final = frozenset({"Dictionary", "DICT_FSST"})
"""Compressions whose scans emit dictionary vectors, on which the engine evaluates a function once an entry."""
LARGEST_DICTIONARY: Final = 20_000
"""Entries of a segment's dictionary beyond which the engine does not reuse function results (duckdb 2.0)."""


@dataclass(frozen=True, slots=True)
class ColumnCard:
    """One stored column.

    ``length``: average bytes or list elements; ``fresh``: fraction of rows a function is evaluated for; ``skew``: rows that share the value
    of a random row, as a multiple of what they would be were all values equally frequent (1 for a key, 10 where few values dominate).
    """

    kind: Kind
    type: str
    length: float
    distinct: int
    encoding: str
    fresh: float
    ascending: bool
    skew: float = 1.0


@dataclass(frozen=True, slots=True)
class TableCard:
    """One table: its rows and its columns in declared order."""

    rows: int
    columns: Mapping[str, ColumnCard]


@dataclass(frozen=True, slots=True)
class Card:
    """All tables of a database, by unqualified name."""

    tables: Mapping[str, TableCard]

    def table(self, qualified_name: str) -> TableCard | None:
        """The card of ``file.main.orders``: the last part counts, so that a file's name never changes a cost."""
        return self.tables.get(qualified_name.rpartition(".")[2].strip('"'))

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, no spaces."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Card:
        """The inverse of :meth:`to_json`; raises ``KeyError`` or ``TypeError`` on a document of another shape."""
        document: dict[str, Any] = json.loads(text)
        return cls(
            {
                name: TableCard(int(table["rows"]), {column: ColumnCard(**fields) for column, fields in table["columns"].items()})
                for name, table in document["tables"].items()
            }
        )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fetch(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    # fetchall, not fetchone: a result that is not read to its end blocks the connection's next statement.
    rows = con.execute(sql).fetchall()
    return tuple(rows[0]) if rows else ()


def _skew(con: duckdb.DuckDBPyConnection, column: str, source: str) -> float:
    """See ``ColumnCard``: the sum of squared frequencies over what it would be without skew. NULLs match nothing, so they do not count."""
    counts = f"SELECT count(*)::DOUBLE AS n FROM {source} WHERE {column} IS NOT NULL GROUP BY {column}"
    value = _fetch(con, f"SELECT sum(n * n) * count(*) / (sum(n) * sum(n)) FROM ({counts})")[0]
    return 1.0 if value is None else round(float(value), 3)


def _encodings(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, tuple[str, int]]:
    """Column → the compression of most of its rows, and its number of segments."""
    literal = _quote(table).replace("'", "''")
    rows = con.execute(
        "SELECT column_name, compression, sum(count)::BIGINT, count(*)::BIGINT "
        f"FROM pragma_storage_info('{literal}') WHERE segment_type <> 'VALIDITY' GROUP BY 1, 2 ORDER BY 1, 3, 2"
    ).fetchall()
    found: dict[str, tuple[str, int]] = {}
    for column, compression, _, segments in rows:
        found[column] = (str(compression), int(segments) + found.get(column, ("", 0))[1])
    return found


def _column(con: duckdb.DuckDBPyConnection, table: str, column: str, type_name: str, rows: int, encoding: tuple[str, int]) -> ColumnCard:
    kind = kind_of(type_name)
    name, source = _quote(column), _quote(table)
    compression, segments = encoding
    if rows == 0:
        return ColumnCard(kind, type_name, 0.0, 0, compression, 1.0, False)
    if kind == "list":
        length = float(_fetch(con, f"SELECT coalesce(avg(len({name})), 0) FROM {source}")[0]) if type_name.endswith("]") else 4.0
        return ColumnCard(kind, type_name, round(length, 3), rows, compression, 1.0, False)
    if kind == "string":
        size = f"coalesce(avg(strlen({name}::VARCHAR)), 0)"
        average, distinct = _fetch(con, f"SELECT {size}, count(DISTINCT {name}) FROM {source}")
        fresh = 1.0
        entries = min(float(distinct), rows / max(segments, 1))
        if compression in DICTIONARY_ENCODINGS and entries <= LARGEST_DICTIONARY:
            fresh = min(1.0, entries * max(segments, 1) / rows)
        skew = _skew(con, name, source)
        return ColumnCard(kind, type_name, round(float(average), 3), int(distinct), compression, round(fresh, 6), False, skew)
    distinct = int(_fetch(con, f"SELECT count(DISTINCT {name}) FROM {source}")[0])
    previous = f"SELECT {name} AS v, lag({name}) OVER () AS p FROM {source}"
    ascending = bool(kind in ("integer", "time") and _fetch(con, f"SELECT coalesce(bool_and(v >= p), true) FROM ({previous})")[0])
    return ColumnCard(kind, type_name, 0.0, distinct, compression, 1.0, ascending, _skew(con, name, source))


def build_card(con: duckdb.DuckDBPyConnection) -> Card:
    """Describe every table of the connection's current schema. Reads the data only; needs ``preserve_insertion_order`` (the default)."""
    tables: dict[str, TableCard] = {}
    names = con.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary ORDER BY 1").fetchall()
    for (table,) in names:
        rows = int(_fetch(con, f"SELECT count(*) FROM {_quote(table)}")[0])
        encodings = _encodings(con, table)
        described = con.execute(f"DESCRIBE {_quote(table)}").fetchall()
        tables[table] = TableCard(
            rows,
            {str(c[0]): _column(con, table, str(c[0]), str(c[1]), rows, encodings.get(str(c[0]), ("", 1))) for c in described},
        )
    return Card(tables)
