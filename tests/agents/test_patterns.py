from __future__ import annotations

import pytest

from sql_optim_env.agents.patterns import find_issues
from sql_optim_env.tasks.vocabulary import IssueType


def _found(sql: str) -> set[tuple[IssueType, int]]:
    return {(finding.issue_type, finding.line) for finding in find_issues(sql, "duckdb")}


@pytest.mark.parametrize(
    ("sql", "kind", "line"),
    [
        ("SELECT n FROM\n(SELECT * FROM orders) AS o", IssueType.SELECT_STAR, 2),
        ("SELECT n FROM (SELECT\no.* FROM orders AS o) AS o", IssueType.SELECT_STAR, 2),
        ("SELECT id\nFROM users\nWHERE email LIKE '%.org'", IssueType.LEADING_WILDCARD, 3),
        ("SELECT id FROM users\nWHERE regexp_matches(tier, '^a$')", IssueType.REGEX_FOR_SIMPLE_MATCH, 2),
        ("SELECT u.id FROM users AS u\nCROSS JOIN orders AS o", IssueType.CROSS_JOIN, 2),
        ("SELECT u.id FROM users AS u,\norders AS o WHERE o.customer_id = u.id", IssueType.IMPLICIT_JOIN, 2),
        ("SELECT u.id FROM users AS u JOIN orders AS o\nON o.customer_id = u.id OR o.id = u.id", IssueType.OR_IN_JOIN, 2),
        ("SELECT u.id FROM users AS u JOIN orders AS o\nON CAST(o.customer_id AS VARCHAR) = u.email", IssueType.IMPLICIT_CAST, 2),
        ("SELECT id FROM orders\nWHERE CAST(created_at AS DATE) = DATE '2024-01-01'", IssueType.NON_SARGABLE_PREDICATE, 2),
        ("SELECT id FROM users\nWHERE lower(email) = 'a'", IssueType.FUNCTION_ON_COLUMN, 2),
        ("SELECT id FROM users\nUNION\nSELECT id FROM orders", IssueType.UNION_INSTEAD_OF_UNION_ALL, 3),
        ("SELECT id FROM (SELECT id FROM orders\nORDER BY created_at) AS o", IssueType.UNNECESSARY_SORT, 2),
        (
            "SELECT u.id,\n(SELECT COUNT(*) FROM orders AS o WHERE o.customer_id = u.id) AS n\nFROM users AS u",
            IssueType.CORRELATED_SUBQUERY,
            2,
        ),
        (
            "SELECT (SELECT MAX(total) FROM orders) AS a,\n(SELECT MAX(total) FROM orders) AS b FROM users",
            IssueType.REPEATED_SUBQUERY,
            2,
        ),
    ],
)
def test_a_pattern_is_found_on_its_line(sql: str, kind: IssueType, line: int) -> None:
    assert (kind, line) in _found(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders",
        "SELECT COUNT(*) FROM orders",
        "SELECT id FROM users WHERE email LIKE 'a%' AND created_at >= TIMESTAMP '2024-01-01'",
        "SELECT u.id FROM users AS u JOIN orders AS o ON o.customer_id = u.id ORDER BY u.id",
        "SELECT id FROM (SELECT id FROM orders ORDER BY created_at LIMIT 3) AS o",
        "SELECT id FROM users UNION ALL SELECT id FROM orders",
        "SELECT id, (SELECT AVG(total) FROM orders WHERE status = 'paid') AS a FROM users",
    ],
)
def test_a_clean_query_is_not_accused(sql: str) -> None:
    assert _found(sql) == set()


def test_a_query_that_cannot_be_parsed_yields_nothing() -> None:
    assert find_issues("SELECT FROM WHERE (", "duckdb") == ()
