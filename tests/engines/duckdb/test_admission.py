from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sql_optim_env.engines.duckdb import AdmissionPolicy, Database, policy_for
from sql_optim_env.engines.duckdb.admission import MAX_SQL_LENGTH
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.models import MAX_SQL_LENGTH as PUBLISHED_LENGTH

# The fixture file holds a lone surrogate, which PyYAML refuses to read raw but accepts escaped.
CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "admission.yaml").read_text())
REFUSED = [(code, sql) for code, statements in CORPUS["refused"].items() for sql in statements]
LIMITS = {"max_rows": 10_000, "max_bytes": 1 << 24}


def refusal(database: Database, sql: str, policy: AdmissionPolicy) -> AgentError:
    with pytest.raises(AgentError) as caught:
        database.admit(sql, policy)
    return caught.value


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS["accepted"]) + len(REFUSED) + len(CORPUS["policy"]) >= 150


@pytest.mark.parametrize("sql", CORPUS["accepted"])
def test_accepted_statements_are_admitted_unchanged_and_run(database: Database, policy: AdmissionPolicy, sql: str) -> None:
    statement = database.admit(sql, policy)
    assert statement.sql == sql
    assert database.run(statement, **LIMITS).execution.row_count >= 0


@pytest.mark.parametrize(("code", "sql"), REFUSED)
def test_refused_statements_carry_their_code(database: Database, policy: AdmissionPolicy, code: str, sql: str) -> None:
    error = refusal(database, sql, policy)
    assert error.code == code
    assert len(error.message) > 10


@pytest.mark.parametrize("case", CORPUS["policy"], ids=lambda case: case["sql"])
def test_a_task_admits_what_its_own_query_uses_and_nothing_more(database: Database, case: dict[str, str]) -> None:
    policy = policy_for(case["task"], ["users", "orders", "products", "events"])
    if "code" in case:
        assert refusal(database, case["sql"], policy).code == case["code"]
    else:
        assert database.run(database.admit(case["sql"], policy), **LIMITS).execution.row_count > 0


def test_the_policy_of_a_plain_query_adds_nothing() -> None:
    assert policy_for("SELECT range(10), repeat('a', 3) FROM users", ["USERS"]) == AdmissionPolicy(frozenset({"users"}))


def test_a_task_cannot_waive_volatile_functions() -> None:
    with pytest.raises(AgentError, match="random"):
        policy_for("SELECT random()", ["users"])


def test_length_is_checked_first_and_is_the_published_limit(database: Database, policy: AdmissionPolicy) -> None:
    assert MAX_SQL_LENGTH == PUBLISHED_LENGTH
    assert database.admit("SELECT 1".ljust(MAX_SQL_LENGTH), policy).sql.startswith("SELECT 1")
    error = refusal(database, "\0" * (MAX_SQL_LENGTH + 1), policy)
    assert error.code is ErrorCode.SQL_TOO_LONG
    assert "20,000" in error.message


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT random()", "changes from run to run"),
        ("SELECT * FROM nowhere", "events, orders, products, users"),
        ("SELECT lenght(tier) FROM users", "length"),
        ("SELECT len(range(id)) FROM users", "at most 10,000 elements"),
        ("SELECT tier -> 'a' FROM users", "lambda x: x + 1"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("SELECT age(created_at) FROM users", "age(timestamp, timestamp)"),
        ("INSERT INTO users VALUES (1)", "insert"),
    ],
)
def test_a_refusal_says_how_to_mend_it(database: Database, policy: AdmissionPolicy, sql: str, says: str) -> None:
    assert says in refusal(database, sql, policy).message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
        "SELECT " + "(SELECT " * 2_000 + "1" + ")" * 2_000,
        "SELECT 1" + " EXCEPT SELECT 1" * 1_200,
        "WITH c AS (" * 900 + "SELECT 1" + ") SELECT 1" * 900,
        "SELECT 1 FROM users" + ", users" * 2_000,
        "SELECT " + "CASE WHEN true THEN " * 700 + "1" + " END" * 700,
        "SELECT 1" + "+1" * 300,
        "SELECT " + "[" * 9_000 + "]" * 9_000,
    ],
    ids=lambda sql: sql[:30],
)
def test_deep_nesting_is_a_refusal_and_not_a_recursion_error(database: Database, policy: AdmissionPolicy, sql: str) -> None:
    error = refusal(database, sql, policy)
    assert error.code is ErrorCode.REFUSED_SYNTAX
    assert "nested too deeply" in error.message


def test_150_operators_in_a_row_and_thousands_of_terms_side_by_side_are_not_deep(database: Database, policy: AdmissionPolicy) -> None:
    database.admit("SELECT 1" + "+1" * 150, policy)
    database.admit("SELECT id FROM users WHERE id=1" + " OR id=1" * 2_000, policy)
    database.admit("SELECT id IN (" + ",".join(["1"] * 5_000) + ") FROM users", policy)


def test_a_name_with_thousands_of_parts_does_not_reach_the_binder(database: Database, policy: AdmissionPolicy) -> None:
    assert refusal(database, "SELECT a" + ".a" * 9_000 + " FROM users", policy).code is ErrorCode.REFUSED_SYNTAX


def test_every_view_of_the_catalogue_is_refused_as_a_table_and_as_a_cte(database: Database, policy: AdmissionPolicy) -> None:
    with duckdb.connect() as con:
        views = con.execute("SELECT DISTINCT schema_name, view_name FROM duckdb_views()").fetchall()
    assert len(views) > 30
    for schema, view in views:
        assert refusal(database, f'SELECT * FROM "{schema}"."{view}"', policy).code is ErrorCode.REFUSED_TABLE
        assert refusal(database, f'SELECT * FROM "{view}"', policy).code is ErrorCode.REFUSED_TABLE


def test_every_name_that_the_engine_resolves_to_the_session_is_refused(database: Database, policy: AdmissionPolicy) -> None:
    with duckdb.connect() as con:
        con.execute("CREATE TABLE users (id INTEGER)")
        names = {row[0] for row in con.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()}
        names |= {row[0] for row in con.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()}
        names |= {"current_time", "current_timestamp", "localtime", "localtimestamp", "system_user", "sysdate", "current_path"}
        resolved = []
        for name in names:
            quoted = name.replace('"', '""')
            try:
                con.execute(f'SELECT "{quoted}" FROM users').fetchall()
            except duckdb.Error:
                continue
            resolved.append(quoted)
    assert {"current_date", "current_timestamp", "user"} <= set(resolved)
    for name in resolved:
        assert refusal(database, f'SELECT "{name}" FROM users', policy).code is ErrorCode.REFUSED_FUNCTION


def test_a_refused_statement_leaves_the_connection_usable(database: Database, policy: AdmissionPolicy) -> None:
    for sql in ("SELEC", "SELECT random()", "WITH d AS (DELETE FROM users RETURNING *) SELECT * FROM d"):
        refusal(database, sql, policy)
    assert database.run(database.admit("SELECT count(*) FROM users", policy), **LIMITS).capture.table["c0"].to_pylist() == [6]


FRAGMENTS = re.findall(r"\w+|[^\w\s]|\s+", " ".join([*CORPUS["accepted"], *(sql for _, sql in REFUSED)]))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)))
def test_any_text_is_either_admitted_or_refused_with_a_code(database: Database, policy: AdmissionPolicy, text: str) -> None:
    try:
        assert database.admit(text, policy).sql == text
    except AgentError as error:
        assert error.message
