from __future__ import annotations

import duckdb
import pytest

from sql_optim_env.agents.heuristic import HeuristicPlayer
from sql_optim_env.models import ExecutionInfo, ObservationError, SQLOptimObservation

DDL = """\
-- 10 rows
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    email VARCHAR NOT NULL UNIQUE CHECK (email = lower(email))
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES users (id),
    created_at TIMESTAMP
);
"""
SQL = """\
SELECT u.id,
       (SELECT COUNT(*) FROM orders AS o WHERE o.customer_id = u.id) AS n
FROM users AS u"""


def _seen(sql: str, **fields: object) -> SQLOptimObservation:
    return SQLOptimObservation(sql_query=sql, dialect="duckdb", schema_info=DDL, **fields)


def test_it_rewrites_and_names_what_its_patterns_find() -> None:
    action = HeuristicPlayer().act(_seen(SQL))
    assert action.optimized_query != SQL
    assert "JOIN" in action.optimized_query
    assert [(s.issue_type, s.line, s.severity) for s in action.suggestions] == [("correlated_subquery", 2, "high")]
    assert action.summary == "Found: correlated subquery."
    assert action.approved is False


def test_its_rewrite_gives_the_same_rows() -> None:
    with duckdb.connect() as database:
        database.execute(DDL)
        database.execute("INSERT INTO users SELECT i, 'u' || i FROM range(10) AS r(i)")
        database.execute("INSERT INTO orders SELECT i, i % 7, NULL FROM range(50) AS r(i)")
        rewritten = database.sql(HeuristicPlayer().act(_seen(SQL)).optimized_query).fetchall()
        assert sorted(rewritten) == sorted(database.sql(SQL).fetchall())


def test_it_approves_a_query_in_which_it_finds_nothing() -> None:
    action = HeuristicPlayer().act(_seen("SELECT id FROM users"))
    assert (action.optimized_query, action.suggestions, action.approved) == ("SELECT id FROM users", [], True)
    assert "optimal" in action.summary


@pytest.mark.parametrize(
    "fields",
    [{"error": ObservationError(code="binding_error", message="no such column")}, {"last_execution": ExecutionInfo(equal=False)}],
)
def test_after_a_failure_it_keeps_the_query_and_its_review(fields: dict[str, object]) -> None:
    action = HeuristicPlayer().act(_seen(SQL, **fields))
    assert action.optimized_query == SQL
    assert len(action.suggestions) == 1


def test_a_query_that_sqlglot_cannot_resolve_stays_as_it_is() -> None:
    sql = "SELECT n FROM (SELECT * FROM missing_table) AS t"
    assert HeuristicPlayer().act(_seen(sql)).optimized_query == sql
