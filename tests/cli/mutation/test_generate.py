from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest
import sqlglot

from sql_optim_env.cli.mutation import mutants
from sql_optim_env.cli.mutation.constants import PublicResult, constants
from sql_optim_env.tasks.catalogue import catalogue


def texts(sql: str, kind: str, dialect: str = "duckdb") -> set[str]:
    return {mutant.sql for mutant in mutants(sql, dialect) if mutant.kind == kind}


@pytest.mark.parametrize(
    ("kind", "sql", "expected"),
    [
        ("join type", "SELECT a.x AS x FROM a LEFT JOIN b ON b.k = a.k", ["SELECT a.x AS x FROM a JOIN b ON b.k = a.k"]),
        (
            "join type",
            "SELECT a.x AS x FROM a LEFT JOIN b ON b.k = a.k AND b.n = 1",
            ["SELECT a.x AS x FROM a LEFT JOIN b ON b.k = a.k WHERE b.n = 1"],
        ),
        (
            "predicate dropped",
            "SELECT 1 AS x FROM a WHERE (p = 1 OR q = 2) AND r IN (1, 2)",
            [
                "SELECT 1 AS x FROM a WHERE (FALSE OR q = 2) AND r IN (1, 2)",
                "SELECT 1 AS x FROM a WHERE (p = 1 OR q = 2) AND TRUE",
                "SELECT 1 AS x FROM a WHERE (p = 1 OR q = 2) AND r IN (1)",
            ],
        ),
        (
            "predicate dropped",
            "SELECT COUNT(*) FILTER(WHERE p = 1) AS n FROM a HAVING MAX(q) > 2",
            [
                "SELECT COUNT(*) FILTER(WHERE TRUE) AS n FROM a HAVING MAX(q) > 2",
                "SELECT COUNT(*) FILTER(WHERE p = 1) AS n FROM a HAVING TRUE",
            ],
        ),
        (
            "boundary moved",
            "SELECT p FROM a WHERE t < CAST('2024-03-01' AS TIMESTAMP)",
            [
                "SELECT p FROM a WHERE t <= CAST('2024-03-01' AS TIMESTAMP)",
                "SELECT p FROM a WHERE t < CAST('2024-02-29' AS TIMESTAMP)",
                "SELECT p FROM a WHERE t < CAST('2024-03-02' AS TIMESTAMP)",
            ],
        ),
        ("boundary moved", "SELECT p FROM a WHERE p > 0", ["SELECT p FROM a WHERE p >= 0", "SELECT p FROM a WHERE p > -1"]),
        (
            "boundary moved",
            "SELECT p FROM a WHERE p BETWEEN 3 AND 5",
            [
                "SELECT p FROM a WHERE (p > 3 AND p <= 5)",
                "SELECT p FROM a WHERE (p >= 3 AND p < 5)",
                "SELECT p FROM a WHERE p BETWEEN 3 AND 6",
            ],
        ),
        ("distinct", "SELECT DISTINCT p FROM a", ["SELECT p FROM a"]),
        ("distinct", "SELECT COUNT(DISTINCT p) AS n FROM a", ["SELECT COUNT(p) AS n FROM a"]),
        ("distinct", "SELECT SUM(p) AS n FROM a", ["SELECT SUM(DISTINCT p) AS n FROM a"]),
        ("count", "SELECT q, COUNT(*) AS n FROM a GROUP BY q", ["SELECT q, COUNT(q) AS n FROM a GROUP BY q"]),
        ("count", "SELECT COUNT(p) AS n FROM a", ["SELECT COUNT(*) AS n FROM a"]),
        (
            "window",
            "SELECT SUM(p) OVER (PARTITION BY q ORDER BY r) AS s FROM a",
            [
                "SELECT SUM(p) OVER (ORDER BY r) AS s FROM a",
                "SELECT SUM(p) OVER (PARTITION BY q) AS s FROM a",
                "SELECT SUM(p) OVER (PARTITION BY q ORDER BY r ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM a",
            ],
        ),
        ("window", "SELECT RANK() OVER (ORDER BY r) AS k FROM a", ["SELECT ROW_NUMBER() OVER (ORDER BY r) AS k FROM a"]),
        (
            "order key",
            "SELECT p FROM a ORDER BY q, p LIMIT 3",
            ["SELECT p FROM a ORDER BY q DESC, p LIMIT 3", "SELECT p FROM a ORDER BY q LIMIT 3", "SELECT p FROM a ORDER BY p LIMIT 3"],
        ),
        (
            "set operation",
            "SELECT p FROM a UNION SELECT p FROM b",
            ["SELECT p FROM a UNION ALL SELECT p FROM b", "SELECT p FROM a INTERSECT SELECT p FROM b"],
        ),
        ("set operation", "SELECT p FROM a EXCEPT SELECT p FROM b", ["SELECT p FROM a EXCEPT ALL SELECT p FROM b"]),
        ("null handling", "SELECT COALESCE(p, 0) AS p FROM a", ["SELECT p AS p FROM a"]),
        ("null handling", "SELECT 1 AS x FROM a WHERE p IS NULL", ["SELECT 1 AS x FROM a WHERE (NOT p IS NULL)"]),
        (
            "null handling",
            "SELECT 1 AS x FROM a WHERE NOT p IN (SELECT q FROM b)",
            ["SELECT 1 AS x FROM a WHERE NOT EXISTS(SELECT 1 FROM (SELECT q FROM b) AS listed WHERE listed.q = p)"],
        ),
        (
            "null handling",
            "SELECT 1 AS x FROM a WHERE NOT EXISTS(SELECT 1 FROM b WHERE b.k = a.k AND b.n > 1)",
            ["SELECT 1 AS x FROM a WHERE NOT a.k IN (SELECT b.k FROM b WHERE TRUE AND b.n > 1)"],
        ),
        ("null handling", "SELECT p FROM a", ["SELECT COALESCE(p, 0) AS p FROM a"]),
        ("aggregate swapped", "SELECT MIN(p) AS n FROM a", ["SELECT MAX(p) AS n FROM a"]),
        ("aggregate swapped", "SELECT ARG_MAX(p, q) AS n FROM a", ["SELECT ARG_MIN(p, q) AS n FROM a"]),
        (
            "limit moved",
            "SELECT p FROM (SELECT p FROM a ORDER BY p LIMIT 3) AS t WHERE p > 1",
            [
                "SELECT p FROM (SELECT p FROM a ORDER BY p LIMIT 4) AS t WHERE p > 1",
                "SELECT p FROM (SELECT p FROM a ORDER BY p) AS t WHERE p > 1",
                "SELECT p FROM (SELECT p FROM a ORDER BY p) AS t WHERE p > 1 LIMIT 3",
                "SELECT p FROM (SELECT p FROM a ORDER BY p LIMIT 3 OFFSET 1) AS t WHERE p > 1",
            ],
        ),
        ("arithmetic", "SELECT p + q AS s FROM a", ["SELECT (p - q) AS s FROM a"]),
        ("text compared loosely", "SELECT 1 AS x FROM a WHERE p = 'Rook'", ["SELECT 1 AS x FROM a WHERE LOWER(p) = LOWER('Rook')"]),
        ("text compared loosely", "SELECT 1 AS x FROM a WHERE p LIKE '%@b'", ["SELECT 1 AS x FROM a WHERE p LIKE '%b'"]),
    ],
)
def test_an_operator_makes_its_mutants(kind: str, sql: str, expected: Sequence[str]) -> None:
    assert set(expected) <= texts(sql, kind)


def test_an_order_that_decides_nothing_is_left_alone() -> None:
    assert texts("SELECT p FROM a ORDER BY p", "order key") == set()


def test_no_mutant_is_the_query_itself_and_none_comes_twice() -> None:
    for task in catalogue().hand_made():
        if task.family in ("rewrite", "tune"):
            sql = task.rewrite.reference_sql if task.family == "rewrite" else task.tune.reference_sql
            made = [mutant.sql for mutant in mutants(sql, task.dialect)]
            assert len(set(made)) == len(made) >= 8
            assert sqlglot.parse_one(sql, dialect=task.dialect).sql(dialect=task.dialect) not in made


def test_a_text_that_is_no_query_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be mutated"):
        mutants("SELECT FROM WHERE", "duckdb")


PUBLIC = PublicResult(("k", "n"), (("'a'", "2"), ("'b'", "2")), {"t": 4})


def test_constants_are_right_on_the_public_data_only() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t(k VARCHAR); INSERT INTO t VALUES ('a'), ('a'), ('b'), ('b')")
    sql = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
    made = {(mutant.kind, tuple(sorted(con.sql(mutant.sql).fetchall()))) for mutant in constants(sql, PUBLIC)}
    right = (("a", 2), ("b", 2))
    assert ("constant result", right) in made
    assert ("fingerprint branch", right) in made
    con.execute("INSERT INTO t VALUES ('c')")
    fingerprint, constant = (
        next(mutant for mutant in constants(sql, PUBLIC) if mutant.kind == kind and "known" in mutant.sql)
        for kind in ("fingerprint branch", "constant result")
    )
    assert sorted(con.sql(fingerprint.sql).fetchall()) == [("a", 2), ("b", 2), ("c", 1)]
    assert sorted(con.sql(constant.sql).fetchall()) == list(right)


def test_a_result_that_is_too_long_to_be_written_down_is_not() -> None:
    long = PublicResult(("k",), tuple((f"'{'x' * 500}{k}'",) for k in range(60)), {"t": 60})
    assert all(len(mutant.sql) < 20_000 for mutant in constants("SELECT k FROM t", long))
