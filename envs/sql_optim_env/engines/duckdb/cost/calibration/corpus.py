"""Queries over the shop dataset, most of them one template over three differently shaped tables.

``family`` is the kind of work, ``template`` the query's form; whole templates are held out when accuracy is measured, so the three
instances of a form never stand on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections
from sql_optim_env.engines.duckdb.cost.calibration.shop_joins import join_statements

__all__ = ["PUBLIC", "TABLES", "TWIN", "TableShape", "shop_statements"]

PUBLIC: Final = "public"
TWIN: Final = "twin"
"""Names of the two shop instances in statements."""
SIZES: Final = (300, 1000, 3000)
"""Rows of the smaller side of joins without an equality."""


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns of one table by the part they play in a template."""

    name: str
    id: str
    key: str
    other: str
    low: str
    high: str
    number: str
    time: str
    predicates: tuple[str, ...]

    def fill(self, template: str, **more: str) -> str:
        """Put this table's columns into a template."""
        return template.format(
            t=self.name, id=self.id, k=self.key, k2=self.other, lo=self.low, hi=self.high, n=self.number, ts=self.time,
            p0=self.predicates[0], p1=self.predicates[1], p2=self.predicates[2], p3=self.predicates[3], **more,
        )  # fmt: skip


TABLES: Final = (
    TableShape(
        "orders", "id", "customer_id", "product_id", "status", "status", "total", "created_at",
        ("status = 'paid'", "total > 150", "customer_id < 1000", "created_at >= TIMESTAMP '2024-03-01'"),
    ),
    TableShape(
        "events", "id", "user_id", "session_id", "event_type", "event_type", "id", "occurred_at",
        ("event_type = 'purchase'", "session_id > 5000", "user_id BETWEEN 100 AND 400", "occurred_at < TIMESTAMP '2024-03-01'"),
    ),
    TableShape(
        "users", "id", "id % 100", "id % 17", "tier", "email", "id", "created_at",
        ("tier = 'gold'", "id > 3000", "region IS NOT NULL", "created_at >= TIMESTAMP '2023-06-01'"),
    ),
)  # fmt: skip

_AGGREGATES: Final = (
    "median({n})", "quantile_cont({n}, 0.9)", "mode({k})", "stddev({n})", "arg_max({id}, {n})", "arg_min({hi}, {ts})", "list({id})",
    "string_agg({lo}, ',')", "approx_count_distinct({k})", "bool_or({n} > 50)", "bit_xor(hash({k}))", "max({hi})", "first({lo})",
    "corr({n}, {id})", "histogram({lo})", "count_if({n} > 5)", "any_value({hi})", "max({n}, 3)", "skewness({n})",
    "array_agg({n} ORDER BY {ts})", "sum({n} % 97 * 3)",
)  # fmt: skip


def _table_statements(shape: TableShape) -> Iterator[tuple[str, str, str]]:
    """(family, template, sql) of every template on one table."""
    keys = dict.fromkeys(
        (shape.key, shape.low, shape.high, f"{shape.key}, {shape.low}", f"{shape.low}, {shape.other}", f"{shape.key}, {shape.other}")
    )
    orders = dict.fromkeys(
        (shape.number, shape.key, shape.low, shape.high, shape.time, f"{shape.low}, {shape.key}", f"{shape.number} DESC, {shape.key}")
    )
    for family, templates in read_sections("templates"):
        for number, template in enumerate(templates):
            name = f"{family}_{number}"
            if "{p} AND {q}" in template:
                for p, q in combinations(shape.predicates, 2):
                    yield family, name, shape.fill(template, p=p, q=q)
            elif "{p}" in template:
                for p in shape.predicates:
                    yield family, name, shape.fill(template, p=p)
            elif "{g}" in template:
                for g in keys:
                    yield family, name, shape.fill(template, g=g)
            elif "{o}" in template:
                for o in orders:
                    yield family, name, shape.fill(template, o=o)
            else:
                yield family, name, shape.fill(template)
    for aggregate in _AGGREGATES:
        call = shape.fill(aggregate)
        name = "aggregate_" + call.partition("(")[0]
        yield "aggregate", name, f"SELECT {shape.key} AS k, {call} AS a FROM {shape.name} GROUP BY 1"
        yield "aggregate", name, f"SELECT {call} AS a FROM {shape.name} WHERE {shape.id} > 5"
        yield "aggregate", name, f"SELECT {shape.low}, {call} AS a FROM {shape.name} GROUP BY 1"


def shop_statements() -> list[Statement]:
    """The corpus: every statement once on the public instance, hand-written ones and joins on the twin as well."""
    seen: dict[tuple[str, str], Statement] = {}

    def add(database: str, family: str, template: str, sql: str) -> None:
        seen.setdefault((database, sql), Statement(database, family, template, sql))

    for shape in TABLES:
        for family, template, sql in _table_statements(shape):
            add(PUBLIC, family, template, sql)
    for database in (PUBLIC, TWIN):
        for family, template, sql in join_statements():
            add(database, family, template, sql)
        for family, sqls in read_sections("sized"):
            for number, sql in enumerate(sqls):
                for rows in SIZES:
                    add(database, family, f"sized_{family}_{number}", sql.format(n=rows, n3=3 * rows))
        for family, sqls in read_sections("shop"):
            for number, sql in enumerate(sqls):
                add(database, family, f"hand_{family}_{number}", sql)
    return list(seen.values())
