"""Which scalar functions and aggregates are micro-benchmarked, on which columns.

A template names its argument by kind: ``{s}`` string, ``{n}`` number, ``{i}`` integer, ``{t}`` time, ``{l}`` list, ``{w}`` list of
strings. Each is run on several columns of that kind, so that the price per byte or element can be told from the price per row. Entries
end with a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections

__all__ = [
    "AGGREGATE_COLUMNS",
    "AGGREGATE_TEMPLATES",
    "ARGUMENT_COLUMNS",
    "CREATE_MICRO",
    "LONG_LISTS",
    "MICRO_ROWS",
    "SCALAR_TEMPLATES",
    "instances",
]

MICRO_ROWS: Final = 120_000
LONG_LISTS: Final = "rarely_l120"
"""The column whose lists are long where they are not empty."""

CREATE_MICRO: Final = f"""
CREATE TYPE mood AS ENUM ('a', 'b', 'c');
CREATE TABLE micro AS SELECT
  (hash(i) % 1000)::INTEGER AS i,
  (hash(i * 3) % 1000000)::BIGINT AS b,
  (hash(i * 5) % 100000) / 7.0 AS d,
  ((hash(i * 9) % 1000000) / 100.0)::DECIMAL(12,2) AS m,
  (hash(i * 11) % 1000)::HUGEINT AS h,
  substr(md5(i::VARCHAR), 1, 8) AS s8,
  substr(md5(i::VARCHAR), 1, 20) AS s20,
  md5(i::VARCHAR) || substr(md5((i + 1)::VARCHAR), 1, 28) AS s60,
  (hash(i) % 100000)::VARCHAR AS digits,
  TIMESTAMP '2023-01-01' + to_seconds((hash(i) % 31536000)::BIGINT) AS ts,
  DATE '2023-01-01' + (hash(i) % 365)::INTEGER AS dt,
  [(hash(i) % 100)::INTEGER, (hash(i * 3) % 100)::INTEGER, (hash(i * 5) % 100)::INTEGER, (hash(i * 7) % 100)::INTEGER, 7] AS l5,
  list_transform(range(30), lambda x: (hash(x + i) % 100)::INTEGER) AS l30,
  CASE WHEN i % 12 = 0 THEN list_transform(range(120), lambda x: (hash(x * 7919 + i) % 1000)::INTEGER) ELSE [] END AS {LONG_LISTS},
  ['a' || i, 'b' || (i % 77), 'c' || (i % 13)] AS w3,
  list_transform(range(12), lambda x: 'w' || ((x * 7 + i) % 90)) AS w12,
  hash(i) % 2 = 0 AS bo,
  CASE WHEN hash(i) % 5 > 0 THEN (hash(i) % 900)::INTEGER END AS maybe_i,
  CASE WHEN hash(i) % 5 > 0 THEN substr(md5(i::VARCHAR), 1, 14) END AS maybe_s,
  CASE WHEN hash(i) % 5 > 0 THEN TIMESTAMP '2023-01-01' + to_seconds((hash(i) % 31536000)::BIGINT) END AS maybe_t,
  {{'a': (hash(i) % 100)::INTEGER, 'b': substr(md5(i::VARCHAR), 1, 6)}} AS pair,
  map(['x', 'y'], [(hash(i) % 7)::BIGINT, 1]) AS named,
  [(hash(i) % 100)::FLOAT, 1.5, (hash(i * 3) % 100)::FLOAT]::FLOAT[3] AS a3,
  substr(bin(4294967296 + (hash(i) % 4294967296)::BIGINT), 2)::BIT AS bits,
  ['a', 'b', 'c'][1 + i % 3]::mood AS en,
  ('018f3a2b-' || substr(md5(i::VARCHAR), 1, 4) || '-7000-8000-' || substr(md5(i::VARCHAR), 5, 12))::UUID AS uu
FROM range({MICRO_ROWS}) t(i)
"""

ARGUMENT_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "s": ("s8", "s20", "s60"),
    "n": ("i", "b", "d", "m", "h"),
    "i": ("i", "b"),
    "t": ("ts", "dt"),
    "l": ("l5", "l30"),
    "w": ("w3", "w12"),
}

SCALAR_TEMPLATES: Final = tuple(template for _, templates in read_sections("micro_scalar") for template in templates)

AGGREGATE_COLUMNS: Final = ("i", "b", "d", "m", "h", "s8", "s20", "s60", "ts", "dt", "maybe_i", "maybe_s")

AGGREGATE_TEMPLATES: Final = tuple(template for _, templates in read_sections("micro_aggregate") for template in templates)


def instances(template: str) -> Iterator[str]:
    """The expressions of a scalar template: one for each column of its argument's kind."""
    marks = re.findall(r"\{([sniltw])\}", template)
    for column in ARGUMENT_COLUMNS[marks[0]] if marks else ("",):
        yield re.sub(r"\{[sniltw]\}", column, template).replace("{{", "{").replace("}}", "}")
