from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
import yaml

from sql_optim_env.engines.sqlite import Caps, Run, explain_statement, run_statement
from sql_optim_env.engines.sqlite.connection import HEAP_LIMIT
from sql_optim_env.engines.sqlite.scratch import MAX_SHOWN, MAX_TEXT
from sql_optim_env.engines.sqlite.vfs import LOCKED_VFS
from sql_optim_env.errors import AgentError, ErrorCode

CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "scratch.yaml").read_text(encoding="utf-8"))
ACCEPTED = [(sql, changed) for key, changed in (("keeps", False), ("changes", True)) for sql in CORPUS[key]]
REFUSED = [(code, sql) for code, statements in CORPUS["refused"].items() for sql in statements]


def refusal(database: bytes, sql: str, caps: Caps | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        run_statement(database, sql, caps=caps)
    return caught.value


@pytest.mark.parametrize(("sql", "changed"), ACCEPTED)
def test_what_stays_in_the_copy_is_allowed(small: bytes, sql: str, changed: bool) -> None:
    done = run_statement(small, sql)
    assert (done.database is not None) is changed
    assert done.database != small
    json.dumps(done.rows, allow_nan=False)


@pytest.mark.parametrize(("code", "sql"), REFUSED)
def test_what_leaves_it_or_fails_carries_its_code(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal(small, sql)
    assert error.code == code
    assert len(error.message) > 10
    assert list(tmp_path.iterdir()) == []


def test_vacuum_into_is_refused_before_a_file_is_named(small: bytes) -> None:
    assert "VACUUM INTO are not admitted" in refusal(small, "VACUUM INTO 'copy.db'").message


def test_the_engines_memory_limit_is_out_of_reach(small: bytes) -> None:
    refusal(small, "PRAGMA hard_heap_limit = 1000")
    assert apsw.hard_heap_limit(-1) == HEAP_LIMIT


def test_a_change_is_there_for_the_next_statement(small: bytes) -> None:
    first = run_statement(small, "CREATE TABLE answer AS SELECT id FROM parcel WHERE id <= 6")
    assert first.database is not None
    second = run_statement(first.database, "INSERT INTO answer VALUES (7) RETURNING id AS new")
    assert (second.columns, second.rows) == (("new",), ((7,),))
    assert second.database is not None
    third = run_statement(second.database, "SELECT count(*) FROM answer")
    assert (third.rows, third.database) == (((4,),), None)


def test_a_failed_statement_leaves_no_half_of_itself(small: bytes) -> None:
    assert refusal(small, "UPDATE hub SET id = 1").code is ErrorCode.EXECUTION_ERROR
    assert run_statement(small, "SELECT count(DISTINCT id) FROM hub").rows == ((20,),)


def test_logical_reads_are_those_of_a_submission(depot: bytes, run: Callable[[bytes, str], Run]) -> None:
    for sql in ("SELECT id FROM parcel WHERE hub = 11", "SELECT story FROM parcel ORDER BY story LIMIT 3", "SELECT count(*) FROM hub"):
        assert run_statement(depot, sql).logical_reads == run(depot, sql).pages


def test_rows_beyond_the_cap_are_counted(small: bytes) -> None:
    done = run_statement(small, "SELECT id FROM parcel ORDER BY id", max_rows=2)
    assert (done.rows, done.row_count, done.truncated) == (((2,), (4,)), 30, True)
    assert not run_statement(small, "SELECT id FROM parcel", max_rows=30).truncated


def test_values_are_those_that_json_can_hold(small: bytes) -> None:
    done = run_statement(small, f"SELECT NULL, 1, 9007199254740993, 1.5, 9e999, 'é', x'00ff', printf('%.{MAX_TEXT + 1}c', 'a')")
    assert done.rows == ((None, 1, "9007199254740993", 1.5, "inf", "é", "x'00ff'", "a" * (MAX_TEXT - 1) + "…"),)


def test_shown_rows_are_bounded_in_size(small: bytes) -> None:
    done = run_statement(small, "SELECT printf('%.900c', 'a') FROM parcel a, parcel b", max_rows=900)
    assert done.row_count == 900
    assert MAX_SHOWN - 900 < sum(len(str(value)) for row in done.rows for value in row) <= MAX_SHOWN


def test_growth_time_and_steps_are_bounded(depot: bytes) -> None:
    grow = "CREATE TABLE big AS SELECT a.story FROM parcel a, hub b, hub c"
    assert refusal(depot, grow).code is ErrorCode.OUT_OF_MEMORY
    endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    assert refusal(depot, endless, Caps(deadline_s=0.05)).code is ErrorCode.TIMEOUT
    assert refusal(depot, endless, Caps(max_vm_steps=100_000)).code is ErrorCode.TIMEOUT


def test_many_databases_in_a_row_leave_no_memory_behind(depot: bytes) -> None:
    for _ in range(3):
        run_statement(depot, "VACUUM")
    before = apsw.memory_used()
    for _ in range(5):
        run_statement(depot, "VACUUM")
    assert abs(apsw.memory_used() - before) < 100_000


def test_a_plan_is_an_indented_tree(small: bytes) -> None:
    sql = "SELECT id FROM parcel p WHERE grams > (SELECT avg(grams) FROM parcel q WHERE q.hub = p.hub) ORDER BY sent"
    assert explain_statement(small, sql).splitlines() == [
        "SCAN p",
        "CORRELATED SCALAR SUBQUERY 1",
        "  SCAN q",
        "USE TEMP B-TREE FOR ORDER BY",
    ]
    assert explain_statement(small, f"EXPLAIN QUERY PLAN {sql};").startswith("SCAN p")


def test_explaining_runs_nothing(small: bytes) -> None:
    assert explain_statement(small, "DELETE FROM parcel WHERE grams = 5").startswith("SEARCH parcel USING")
    for code, sql in (("binding_error", "SELECT x FROM parcel"), ("not_one_select", "SELECT 1; SELECT 2"), ("empty_sql", "--")):
        with pytest.raises(AgentError) as caught:
            explain_statement(small, sql)
        assert caught.value.code == code


@pytest.mark.parametrize(
    "sql",
    [
        "VACUUM",
        "VACUUM INTO 'elsewhere.db'",
        "EXPLAIN QUERY PLAN VACUUM INTO 'elsewhere.db'",
        "BEGIN",
        "ROLLBACK",
        "SAVEPOINT here",
        "/* look */ CREATE VIRTUAL TABLE words USING fts5(word)",
        "CREATE INDEX parcel_hub ON parcel(hub)",
        "CREATE TABLE light AS SELECT * FROM parcel WHERE grams < 9",
        "EXPLAIN DROP TABLE parcel",
        "ANALYZE",
        "REINDEX",
        "PRAGMA user_version",
    ],
)
def test_what_has_no_plan_is_refused_with_what_has_one(small: bytes, sql: str) -> None:
    with pytest.raises(AgentError, match="has no plan: explain takes SELECT, WITH, VALUES, INSERT, REPLACE, UPDATE or DELETE") as caught:
        explain_statement(small, sql)
    assert caught.value.code == "refused_syntax"


@pytest.mark.parametrize(
    "sql",
    [
        "WITH light AS (SELECT * FROM parcel WHERE grams < 9) SELECT * FROM light",
        "VALUES (1), (2)",
        "insert into parcel (id, hub, grams) select id + 900000, hub, grams from parcel where grams < 9",
        "REPLACE INTO parcel (id, hub, grams) SELECT id, hub, 1 FROM parcel WHERE grams < 9",
        "-- heavier\nUPDATE parcel SET grams = grams + 1",
        "explain query plan delete from parcel where grams < 9",
    ],
)
def test_what_reads_or_changes_rows_has_a_plan(small: bytes, sql: str) -> None:
    assert explain_statement(small, sql) != ""


def test_long_plans_are_cut_and_say_so(small: bytes) -> None:
    plan = explain_statement(small, " UNION ALL ".join(["SELECT id FROM parcel a_rather_long_alias_of_the_table WHERE hub = 1"] * 100))
    assert plan.count("\n") > 50
    many = " UNION ALL ".join(["SELECT 1 FROM " + ",".join(f"hub {'t' * 20}{n}" for n in range(12))] * 50)
    assert explain_statement(small, many).endswith("lines are left out)")


def test_chance_and_the_clock_are_the_same_for_every_statement(small: bytes) -> None:
    shuffled = "SELECT group_concat(id) FROM (SELECT id FROM parcel ORDER BY random())"
    drawn = f"SELECT random(), random(), hex(randomblob(8)), datetime('now'), ({shuffled})"
    first = run_statement(small, drawn)
    assert first.rows[0][0] != first.rows[0][1]
    assert [run_statement(small, drawn).rows for _ in range(3)] == [first.rows] * 3
    # Beyond the largest rowid the engine draws rowids by chance.
    made = run_statement(small, "CREATE TABLE t AS SELECT 1 AS x").database
    full = run_statement(made or b"", "UPDATE t SET rowid = 9223372036854775807").database
    copies = {run_statement(full or b"", "INSERT INTO t SELECT id FROM parcel").database for _ in range(3)}
    assert len(copies) == 1
    assert None not in copies


def test_the_machines_chance_is_back_afterwards(small: bytes) -> None:
    seen = set()
    for _ in range(3):
        run_statement(small, "SELECT random()")
        seen.add(apsw.randomness(16))
    assert len(seen) == 3
    assert apsw.vfs_names()[0] != LOCKED_VFS
