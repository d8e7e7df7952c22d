from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sql_optim_env.engines.sqlite import Caps, Run, measure
from sql_optim_env.engines.sqlite.admission import QueryRules
from sql_optim_env.engines.sqlite.statement import MAX_SQL_LENGTH
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.models import MAX_SQL_LENGTH as PUBLISHED_LENGTH

CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "admission.yaml").read_text(encoding="utf-8"))
REFUSED = [(code, sql) for code, statements in CORPUS["refused"].items() for sql in statements]
FAILING = [(code, sql) for code, statements in CORPUS["failing"].items() for sql in statements]


def refusal(database: bytes, sql: str, tables: tuple[str, ...] = ("parcel", "hub", "route"), caps: Caps | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        measure(database, sql, tables=tables, caps=caps)
    return caught.value


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS["accepted"]) + len(REFUSED) + len(CORPUS["clock"]) + len(FAILING) >= 160


@pytest.mark.parametrize("sql", CORPUS["accepted"])
def test_admitted_queries_run(small: bytes, run: Callable[[bytes, str], Run], sql: str) -> None:
    assert run(small, sql).capture.names


@pytest.mark.parametrize(("code", "sql"), REFUSED)
def test_refused_queries_carry_their_code(small: bytes, code: str, sql: str) -> None:
    error = refusal(small, sql)
    assert error.code == code
    assert len(error.message) > 10


@pytest.mark.parametrize("sql", CORPUS["clock"])
def test_a_query_that_reads_the_clock_is_refused_however_it_does(small: bytes, sql: str) -> None:
    error = refusal(small, sql)
    assert error.code is ErrorCode.REFUSED_FUNCTION
    assert "clock" in error.message


@pytest.mark.parametrize(("code", "sql"), FAILING)
def test_failing_queries_carry_their_code(small: bytes, code: str, sql: str) -> None:
    assert refusal(small, sql).code == code


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT random()", "random() is refused because its result changes from run to run"),
        ("SELECT * FROM secret", "secret is not one of the task's tables (hub, parcel, route)"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("EXPLAIN SELECT 1", "begins with EXPLAIN"),
        ("WITH d AS (SELECT 1) DELETE FROM parcel", "would DELETE"),
        ("SELECT missing FROM parcel", "no such column: missing"),
        ("SELECT ?", "write the values into the statement"),
        ("SELECT * FROM json_each('[]')", "json_each"),
    ],
)
def test_a_refusal_says_what_is_wrong(small: bytes, sql: str, says: str) -> None:
    assert says in refusal(small, sql).message


def test_long_names_are_not_repeated_in_full(small: bytes) -> None:
    for sql in (f"WITH x AS (SELECT 1) SELECT {'f' * 15_000}(1) FROM x", f"{'x' * 15_000} 1", f"SELECT * FROM pragma_{'t' * 15_000}"):
        assert len(refusal(small, sql).message) < 2_100


def test_tables_are_those_of_the_task_in_any_case(small: bytes) -> None:
    assert measure(small, 'SELECT answer FROM "SECRET"', tables=("Secret",)).capture.rows == (("hidden",),)
    assert refusal(small, "SELECT id FROM parcel", ("secret",)).code is ErrorCode.REFUSED_TABLE


def test_an_index_of_another_table_is_no_way_to_its_data(small: bytes) -> None:
    assert refusal(small, "SELECT count(*) FROM secret INDEXED BY secret_answer").code is ErrorCode.REFUSED_TABLE


def test_statistics_cannot_be_read(small: bytes) -> None:
    con = apsw.Connection(":memory:")
    con.deserialize("main", small)
    con.execute("ANALYZE")
    analysed = con.serialize("main")
    for sql in ("SELECT stat FROM sqlite_stat1", "SELECT count(*) FROM sqlite_stat4", "SELECT 1 FROM main.sqlite_stat1 LIMIT 1"):
        assert refusal(analysed, sql).code is ErrorCode.REFUSED_TABLE


def test_length_is_the_published_limit(small: bytes, run: Callable[[bytes, str], Run]) -> None:
    assert MAX_SQL_LENGTH == PUBLISHED_LENGTH
    assert run(small, "SELECT 1".ljust(MAX_SQL_LENGTH)).capture.rows == ((1,),)
    assert run(small, ("SELECT '" + "😀" * MAX_SQL_LENGTH)[: MAX_SQL_LENGTH - 1] + "'").capture.row_count == 1
    error = refusal(small, "SELECT 1".ljust(MAX_SQL_LENGTH + 1))
    assert error.code is ErrorCode.SQL_TOO_LONG
    assert "20,000" in error.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
        "SELECT " + "(SELECT " * 1_000 + "1" + ")" * 1_000,
        "SELECT 1" + "+1" * 5_000,
        "SELECT 1" + " UNION ALL SELECT 1" * 1_000,
        "SELECT abs(" + ",".join(["1"] * 200) + ")",
        "SELECT " + ",".join(["1"] * 300),
        "SELECT 1 FROM hub" + ", hub" * 70,
    ],
    ids=lambda sql: sql[:24],
)
def test_what_is_too_deep_or_too_wide_is_a_refusal(small: bytes, sql: str) -> None:
    assert refusal(small, sql).code is ErrorCode.REFUSED_SYNTAX


def test_half_a_surrogate_pair_is_a_syntax_error(small: bytes) -> None:
    assert refusal(small, "SELECT '\ud800'").code is ErrorCode.SYNTAX_ERROR


FRAGMENTS = re.findall(r"\w+|[^\w\s]|\s+", " ".join([*CORPUS["accepted"], *(sql for _, sql in REFUSED)]))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)))
def test_any_text_is_either_run_or_refused_with_a_code(small: bytes, text: str) -> None:
    try:
        assert measure(small, text, tables=("parcel", "hub"), caps=Caps(max_vm_steps=1_000_000)).pages >= 0
    except AgentError as error:
        assert error.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM secret",
        "SELECT count(*) FROM secret",
        "SELECT id FROM parcel WHERE id IN (SELECT id FROM secret)",
        "SELECT answer FROM secret WHERE answer > ''",
        "SELECT name FROM sqlite_schema",
        "SELECT * FROM sqlite_sequence",
        "SELECT * FROM json_each('[1]')",
        "SELECT count(*) FROM pragma_table_list",
        "SELECT * FROM dbstat",
    ],
)
def test_the_program_gives_away_what_the_authorizer_would_miss(small: bytes, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(QueryRules, "__call__", lambda *args: apsw.SQLITE_OK)
    assert refusal(small, sql).code is ErrorCode.REFUSED_TABLE


@pytest.mark.parametrize(
    "statement", ["INSERT INTO hub VALUES (99, 'x')", "UPDATE parcel SET grams = 1", "DELETE FROM parcel WHERE id = 2"]
)
def test_the_program_gives_away_a_write(small: bytes, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    monkeypatch.setattr(QueryRules, "__call__", lambda *args: apsw.SQLITE_OK)
    assert refusal(small, f"WITH d AS (SELECT 1) {statement}").code is ErrorCode.NOT_ONE_SELECT
