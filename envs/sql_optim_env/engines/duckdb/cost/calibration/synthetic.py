"""A synthetic database and an operator suite over it: every operator with its parameters varied one by one.

It is a schema of its own, so that fitted weights do not only know the shop's columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import duckdb

from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement

__all__ = ["SYNTHETIC", "build_synthetic", "synthetic_statements"]

SYNTHETIC: Final = "synthetic"
"""Name of the database in statements."""

_CREATE: Final = """
CREATE TABLE facts AS SELECT
  i::INTEGER AS id,
  (hash(i) % 1000)::INTEGER AS g1k,
  (hash(i * 3) % 30000)::INTEGER AS g30k,
  ((hash(i * 5) % 200000) * 1000003)::BIGINT AS g200k,
  (hash(i * 7) % 100000) / 7.0 AS d,
  ((hash(i * 9) % 1000000) / 100.0)::DECIMAL(12,2) AS m,
  'k' || (hash(i * 11) % 20) AS low,
  substr(md5((hash(i * 13) % 5000)::VARCHAR), 1, 10) AS mid,
  md5(i::VARCHAR) AS high,
  TIMESTAMP '2023-01-01' + to_seconds((hash(i * 17) % 31536000)::BIGINT) AS ts,
  TIMESTAMP '2023-01-01' + to_seconds((i * 60)::BIGINT) AS ordered_ts
FROM range(250000) t(i);
CREATE TABLE dims AS SELECT
  i::INTEGER AS id,
  (hash(i) % 1000)::INTEGER AS g1k,
  (hash(i * 5) % 20000) / 7.0 AS d,
  substr(md5((i % 5000)::VARCHAR), 1, 10) AS mid,
  md5(i::VARCHAR) AS high,
  'w' || (i % 7) AS low,
  TIMESTAMP '2023-01-01' + to_seconds((hash(i * 17) % 31536000)::BIGINT) AS ts
FROM range(20000) t(i);
CHECKPOINT
"""


def build_synthetic(path: Path) -> Path:
    """Write the database to ``path`` (which must not exist) and return the path."""
    con = duckdb.connect(str(path), config={"threads": 1})
    con.execute(_CREATE)
    con.close()
    return path


def synthetic_statements() -> list[Statement]:
    """The whole suite, each query once, in a fixed order. Queries of one generator share a template name."""
    seen: dict[str, Statement] = {}
    for family, sqls in (
        ("window", _windows()),
        ("order", _orders()),
        ("group", _groups()),
        ("aggregate", _aggregates()),
        ("join", _joins()),
        ("non_equi_join", _pair_joins()),
        ("list", _lists()),
        ("cte", _tables()),
        ("filter", _filters()),
        ("project", _projections()),
        ("set_operation", _set_operations()),
    ):
        for sql in sqls:
            seen.setdefault(sql, Statement(SYNTHETIC, family, f"synthetic_{family}", sql))
    return list(seen.values())


def _windows() -> Iterator[str]:
    functions = (
        "row_number() rank() dense_rank() ntile(4) percent_rank() lag(d) first_value(d) last_value(low) sum(d) avg(m) count(*) max(d) "
        "min(high) median(d) sum(g1k) stddev(d) list(g1k) arg_max(id,d)"
    ).split()
    ranking = {"row_number()", "rank()", "dense_rank()", "ntile(4)", "percent_rank()", "lag(d)"}
    overs = (
        "PARTITION BY g1k",
        "PARTITION BY g30k ORDER BY ts",
        "PARTITION BY low ORDER BY d",
        "ORDER BY ts",
        "ORDER BY d ROWS BETWEEN 10 PRECEDING AND CURRENT ROW",
        "PARTITION BY g1k ORDER BY id ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING",
        "PARTITION BY g1k ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW",
        "ORDER BY high",
        "PARTITION BY mid ORDER BY id",
        "",
    )
    for function in functions:
        for over in overs:
            if function in ranking and "BETWEEN" in over:
                continue
            if function.startswith("list") and ("PARTITION" not in over or "RANGE" in over or "low" in over):
                continue
            yield f"SELECT max(w) FROM (SELECT {function} OVER ({over}) AS w FROM facts)"
    for function in ("cume_dist()", "lead(d)", "nth_value(d, 3)", "fill(d)"):
        for over in ("PARTITION BY g30k ORDER BY id", "PARTITION BY low ORDER BY d", "ORDER BY id"):
            yield f"SELECT max(w) FROM (SELECT {function} OVER ({over}) AS w FROM facts)"
    for table in ("facts", "(SELECT * FROM facts LIMIT 40000)"):
        for over in ("PARTITION BY g30k ORDER BY ts", "ORDER BY d, id"):
            yield f"SELECT *, row_number() OVER ({over}) AS rn FROM {table} QUALIFY rn <= 2"
            yield f"SELECT id, sum(d) OVER ({over}) AS a, lag(d) OVER ({over}) AS b FROM {table}"


def _orders() -> Iterator[str]:
    for rows in (2000, 30000, 250000):
        for key in ("d", "id", "low", "high", "mid, d", "g1k, ts", "m DESC"):
            for columns in ("id", "id, d, ts", "*"):
                source = f"(SELECT * FROM facts LIMIT {rows})" if rows < 250000 else "facts"
                yield f"SELECT {columns} FROM {source} ORDER BY {key}"
                yield f"SELECT {columns} FROM {source} ORDER BY {key} LIMIT 50"
    for limit in (500, 5000, 50000):
        yield f"SELECT * FROM facts ORDER BY d LIMIT {limit}"
        yield f"SELECT id, ts FROM facts ORDER BY ts DESC LIMIT {limit} OFFSET 100"


def _groups() -> Iterator[str]:
    aggregates = (
        "count(*)", "sum(d)", "sum(g1k), avg(m), max(ts)", "min(high)", "median(d)", "list(d)", "count(DISTINCT g1k)", "arg_max(id, d)",
        "string_agg(low, ',')", "mode(g1k)", "array_agg(d ORDER BY ts)", "count(*) FILTER (d > 5000), sum(g1k) FILTER (g1k < 300)",
        "sum(CASE WHEN g1k < 500 THEN d ELSE 0 END)", "approx_count_distinct(high)", "quantile_cont(d, 0.9)", "histogram(low)",
        "any_value(low)", "stddev(d), corr(d, g1k)", "max(high)",
    )  # fmt: skip
    for key in ("g1k", "g30k", "g200k", "low", "mid", "high", "g1k, low", "mid, low", "id"):
        for aggregate in aggregates:
            if aggregate.startswith("histogram") and key in ("high", "id", "g200k"):
                continue
            yield f"SELECT {key}, {aggregate} FROM facts GROUP BY {key}"
        yield f"SELECT DISTINCT {key} FROM facts"
        yield f"SELECT count(DISTINCT {key.split(',')[0]}) FROM facts"
    yield "SELECT low, g1k % 5 AS z, sum(d) FROM facts GROUP BY ROLLUP (1, 2)"
    yield "SELECT low, g1k, count(*) FROM facts GROUP BY CUBE (1, 2)"


def _aggregates() -> Iterator[str]:
    for aggregate in (
        "count(*)", "sum(d)", "sum(g1k)", "max(high)", "min(low)", "median(d)", "list(d)", "array_agg(d ORDER BY ts)", "mode(g1k)",
        "string_agg(low, ',')", "arg_max(id, d)", "count(*) FILTER (d > 5000)", "sum(m)", "avg(m)", "stddev(d)",
        "approx_count_distinct(high)", "histogram(g1k)", "sum(d * 2 + g1k), sum(m * 2)",
    ):  # fmt: skip
        yield f"SELECT {aggregate} FROM facts WHERE d >= 0"


def _joins() -> Iterator[str]:
    conditions = (
        "a.id = b.id", "a.g1k = b.id", "a.g30k = b.id", "a.mid = b.mid", "a.high = b.high", "a.id = b.id AND a.low = b.low", "a.g1k = b.g1k"
    )  # fmt: skip
    for condition in conditions:
        for join in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"):
            for output in ("count(*)", "sum(a.d)", "*"):
                fans_out = condition == "a.g1k = b.g1k"
                left = "(SELECT * FROM facts WHERE id < 20000) a" if fans_out else "facts a"
                if fans_out and output == "*":
                    continue
                yield f"SELECT {output} FROM {left} {join} dims b ON {condition}"
                if join in ("SEMI JOIN", "ANTI JOIN"):
                    yield f"SELECT {output.replace('a.', 'b.')} FROM dims b {join} {left} ON {condition}"
    yield "SELECT count(*) FROM facts a JOIN facts b ON a.id = b.id"
    yield "SELECT sum(a.d + b.d) FROM facts a JOIN facts b ON a.g200k = b.g200k"
    yield "SELECT a.low, sum(b.d) FROM facts a JOIN facts b ON a.high = b.high GROUP BY 1"
    yield "SELECT count(*) FROM facts a JOIN dims b ON lower(a.high) = upper(b.high)"


def _pair_joins() -> Iterator[str]:
    conditions = (
        "x.d > y.d", "x.d > y.d AND x.low <> y.low", "x.d < y.d AND x.ts > y.ts", "x.low <> y.low OR x.g1k = y.id",
        "contains(x.high, y.low)", "x.g1k + y.g1k = 77", "x.ts BETWEEN y.ts AND y.ts + INTERVAL 2 DAY", "x.d * y.d > 1e7",
        "length(x.high || y.high) < 10", "x.high LIKE y.low || '%'", "true", "x.g1k = y.g1k OR x.mid = y.mid", "abs(x.d - y.d) < 3",
    )  # fmt: skip
    for rows in (200, 1000, 3000):
        left, right = f"(SELECT * FROM facts WHERE id < {rows}) x", f"(SELECT * FROM dims WHERE id < {rows}) y"
        for condition in conditions:
            yield f"SELECT count(*) FROM {left} JOIN {right} ON {condition}"
        yield f"SELECT count(*) FROM {left} LEFT JOIN {right} ON x.d < y.d AND x.g1k <> y.g1k"
        many = f"(SELECT * FROM facts WHERE id < {rows * 30}) x"
        yield f"SELECT count(*) FROM {many} ASOF JOIN dims y ON x.g1k = y.g1k AND x.ts >= y.ts"
        yield f"SELECT count(*) FROM {many} ASOF JOIN dims y ON x.ts >= y.ts"
        yield f"SELECT x.id, (SELECT count(*) FROM dims y WHERE y.d < x.d) FROM facts x WHERE x.id < {rows}"
        yield f"SELECT x.id, (SELECT count(*) FROM facts y WHERE y.g1k = x.g1k AND y.ts < x.ts) FROM dims x WHERE x.id < {rows * 4}"


def _lists() -> Iterator[str]:
    functions = (
        "len(l)", "list_sort(l)", "list_distinct(l)", "list_unique(l)", "l[1:3]", "l[1]", "list_contains(l, NULL)", "list_reverse_sort(l)",
        "list_max(l)", "list_filter(l, lambda x: x IS NOT NULL)", "list_transform(l, lambda x: x)", "array_to_string(l, ',')",
    )  # fmt: skip
    for made in ("list(d)", "list(g1k)", "list(low)", "list(high)"):
        for function in functions:
            for key in ("g1k", "g30k"):
                yield f"SELECT g, {function} AS v FROM (SELECT {key} AS g, {made} AS l FROM facts GROUP BY 1)"
    for size in (3, 10, 40):
        yield f"SELECT count(u) FROM (SELECT unnest(range(g1k % {size})) AS u FROM facts)"
        yield f"SELECT id, unnest(range(g1k % {size})) AS u FROM facts WHERE id < 50000"
        yield f"SELECT sum(list_sum(list_transform(range(g1k % {size}), lambda x: x * 3))) FROM facts"
        yield f"SELECT sum(len(list_filter(range(g1k % {size}), lambda x: x % 2 = 0))) FROM facts"
    yield "SELECT count(*) FROM dims, unnest(string_split(high, 'a')) u(x)"
    yield "SELECT id, u FROM (SELECT id, unnest(string_split(high, '7')) AS u FROM facts)"


def _tables() -> Iterator[str]:
    for mode in ("MATERIALIZED", ""):
        for threshold in (10, 300, 900):
            yield (
                f"WITH c AS {mode} (SELECT * FROM facts WHERE g1k < {threshold}) "
                "SELECT (SELECT count(*) FROM c WHERE d > 5), (SELECT sum(d) FROM c), (SELECT max(high) FROM c)"
            )
        yield f"WITH c AS {mode} (SELECT g30k, sum(d) AS s FROM facts GROUP BY 1) SELECT count(*) FROM c x JOIN c y ON x.g30k = y.g30k + 1"
        yield (
            f"WITH c AS {mode} (SELECT id, d, low FROM facts) "
            "SELECT low, count(*) FROM c GROUP BY 1 UNION ALL SELECT 'all', count(*) FROM c"
        )
    for rows in (1000, 100000, 3000000):
        yield f"SELECT sum(i * 2) FROM range({rows}) r(i)"


def _filters() -> Iterator[str]:
    predicates = (
        "d > 5000", "low = 'k3'", "high < '8'", "ts >= TIMESTAMP '2023-06-01'", "ordered_ts >= TIMESTAMP '2023-06-01'", "g1k IN (1, 2, 3)",
        "d > 5000 AND low = 'k3'", "low LIKE '%3'", "high LIKE '%a7%'", "high LIKE 'ab%'", "m * 2 > 500", "g1k + g30k > 5000",
        "regexp_matches(low, 'k[0-9]')", "regexp_matches(high, 'a[0-9]+b')", "length(high) > 4 AND d < 100", "g1k % 2 = 0",
        "d IS NOT NULL", "abs(d - 500) < 9", "upper(low) = 'K3'", "substr(mid, 2, 2) = 'ab'", "mid IN ('a', 'b', 'c')",
        "g1k BETWEEN 100 AND 200", "cast(g1k AS VARCHAR) = '77'", "strftime(ts, '%m') = '03'", "month(ts) = 3",
        "low = 'k1' OR d < 5 OR g1k = 7", "ts + INTERVAL 3 DAY > TIMESTAMP '2023-12-01'", "high > mid", "m / 2 > 100 AND g1k < 100",
    )  # fmt: skip
    for predicate in predicates:
        for output in ("count(*)", "sum(d)", "*", "id, high", "max(high)"):
            yield f"SELECT {output} FROM facts WHERE {predicate}"


def _projections() -> Iterator[str]:
    for columns in (
        "*", "id", "id, d", "high", "low", "mid", "ts, m", "high, low, mid", "id + 1, d * 2, m + m, g1k % 7", "low || high",
        "md5(high), id", "cast(d AS VARCHAR)", "cast(ts AS VARCHAR), cast(id AS VARCHAR)", "CASE WHEN d > 5000 THEN 'a' ELSE 'b' END, id",
        "date_trunc('month', ts), low", "id, d, m, ts, g1k, g30k, g200k",
    ):  # fmt: skip
        yield f"SELECT {columns} FROM facts"
        yield f"SELECT {columns} FROM facts LIMIT 3000"


def _set_operations() -> Iterator[str]:
    for operation in ("UNION", "UNION ALL", "EXCEPT", "INTERSECT"):
        for columns in ("id", "low", "high", "g30k, low", "d"):
            yield f"SELECT {columns} FROM facts WHERE g1k < 600 {operation} SELECT {columns} FROM facts WHERE g1k > 300"
