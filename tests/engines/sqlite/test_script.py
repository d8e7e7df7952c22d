from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sql_optim_env.engines.sqlite import Caps, build_database, look, read_rows, run_script, table_names
from sql_optim_env.engines.sqlite.script import MAX_STATEMENTS
from sql_optim_env.errors import AgentError, ErrorCode

DDL = ("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER)", "CREATE TABLE u (x, y)", "CREATE INDEX t_a ON t(a)")
DATABASE = build_database(DDL, {"t": [(i, f"a{i}", (i - 1) % 7 + 1) for i in range(1, 61)], "u": [(1, 2)]})
SMALL = Caps(max_vm_steps=3_000_000, max_rows=20_000)

CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "script.yaml").read_text(encoding="utf-8"))
REFUSED = [(code, script, number) for code, scripts in CORPUS["refused"].items() for script, number in scripts]


def refusal(script: str, caps: Caps = SMALL) -> AgentError:
    pristine = bytes(bytearray(DATABASE))
    with pytest.raises(AgentError) as caught:
        run_script(DATABASE, script, caps=caps)
    assert pristine == DATABASE
    return caught.value


@pytest.mark.parametrize(("script", "query", "rows"), CORPUS["runs"], ids=[script for script, *_ in CORPUS["runs"]])
def test_an_honest_script_is_kept_whole(script: str, query: str, rows: Sequence[Sequence[object]]) -> None:
    assert [list(row) for row in look(run_script(DATABASE, script).database, query).rows] == rows


@pytest.mark.parametrize(("code", "script", "number"), REFUSED, ids=[script for _, script, _ in REFUSED])
def test_a_script_that_fails_says_where_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, script: str, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal(script)
    assert error.code == code
    assert error.message.startswith(f"statement {number}: ")
    assert len(error.message) < 2_100
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "script"),
    [
        ("empty_sql", ""),
        ("empty_sql", " ;; -- nothing\n ; /* at all"),
        ("sql_too_long", "SELECT 1;" * 100_000),
        ("sql_too_long", "SELECT '" + "x" * 5_000_000 + "'"),
        ("sql_too_long", ";" * 5_000_000),
        ("syntax_error", "DELETE FROM t; SELECT '\0'"),
        ("syntax_error", "DELETE FROM t; SELECT '\udfff'"),
        ("execution_error", "BEGIN; DELETE FROM t"),
    ],
    ids=ascii,
)
def test_a_script_can_fail_as_a_whole(code: str, script: str) -> None:
    error = refusal(script)
    assert error.code == code
    assert not error.message.startswith("statement")


def test_statements_are_counted_up_to_the_limit() -> None:
    assert run_script(DATABASE, "SELECT 1;" * MAX_STATEMENTS).statements == MAX_STATEMENTS
    error = refusal("DELETE FROM u;" + "SELECT 1;" * MAX_STATEMENTS)
    assert (error.code, error.message) == (ErrorCode.REFUSED_SYNTAX, "statement 201: a script may have 200 statements at most")
    assert run_script(DATABASE, "SELECT 1; ; -- x\n", max_statements=1).statements == 1


def test_a_refusal_says_what_to_do_instead() -> None:
    assert "write the change itself" in refusal("CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END").message
    assert "write the date or time as a literal" in refusal("UPDATE u SET x = CURRENT_DATE").message
    assert "end it with COMMIT" in refusal("BEGIN; DELETE FROM t").message
    assert "is one of ALTER, ANALYZE, BEGIN" in refusal("MERGE INTO t USING u").message


def test_the_last_result_is_shown() -> None:
    run = run_script(DATABASE, "SELECT 1; SELECT id, a AS name FROM t ORDER BY id; DELETE FROM u", max_rows=2)
    assert run.last_select is not None
    assert (run.last_select.columns, run.last_select.rows) == (("id", "name"), ((1, "a1"), (2, "a2")))
    assert (run.last_select.row_count, run.last_select.truncated) == (60, True)
    returned = run_script(DATABASE, "DELETE FROM t WHERE id < 3 RETURNING id; PRAGMA foreign_keys = 0").last_select
    assert returned is not None
    assert returned.rows == ((1,), (2,))
    assert run_script(DATABASE, "SELECT 1 WHERE 0").last_select is not None
    assert run_script(DATABASE, "DELETE FROM u").last_select is None


def test_returning_stops_no_change() -> None:
    after = run_script(DATABASE, "UPDATE t SET b = 0 RETURNING id", max_rows=1).database
    assert look(after, "SELECT sum(b) FROM t").rows == ((0,),)


def test_what_a_script_remembers_ends_with_it() -> None:
    after = run_script(DATABASE, "CREATE TEMP TABLE k (x); CREATE TEMP VIEW w AS SELECT 1; PRAGMA foreign_keys = 1").database
    assert table_names(after) == ("t", "u")
    assert look(after, "PRAGMA foreign_keys").rows == ((0,),)


def test_foreign_keys_may_be_broken_until_the_commit() -> None:
    begin = "PRAGMA foreign_keys = 1; CREATE TABLE c (t INTEGER REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED); BEGIN; "
    after = run_script(DATABASE, begin + "INSERT INTO c VALUES (99); UPDATE c SET t = 9; COMMIT").database
    assert read_rows(after, "c", ["t"]) == ((9,),)
    assert refusal(begin + "INSERT INTO c VALUES (99); COMMIT").message == "statement 5: FOREIGN KEY constraint failed"


@pytest.mark.parametrize(
    "step",
    [
        "SELECT x.a FROM v{0} x, v{0} y",
        "SELECT a FROM v{0} UNION ALL SELECT a FROM 'v{0}'",
        'SELECT (SELECT a FROM "v{0}") + (SELECT a FROM [v{0}]) AS a',
        "WITH k AS (SELECT a FROM V{0}) SELECT k.a FROM k, v{0}",
    ],
)
def test_views_that_double_are_refused_when_they_are_made(step: str) -> None:
    script = "CREATE VIEW v0 AS SELECT id AS a FROM t;" + "".join(f"CREATE VIEW v{i + 1} AS {step.format(i)};" for i in range(60))
    error = refusal(script)
    assert error.code is ErrorCode.REFUSED_SYNTAX
    assert error.message.startswith("statement 8: views stand for more than 200 views")


def test_a_database_with_views_that_multiply_values_can_still_be_looked_at() -> None:
    steps = "".join(f"CREATE VIEW v{i + 1} AS SELECT a + a AS a FROM v{i};" for i in range(60))
    after = run_script(DATABASE, "CREATE VIEW v0 AS SELECT id AS a FROM t;" + steps).database
    assert look(after, "SELECT count(a) FROM t").rows == ((60,),)
    assert read_rows(after, "u", ["x"]) == ((1,),)
    for sql in ("SELECT a FROM v60", "PRAGMA table_list"):
        with pytest.raises(AgentError) as caught:
            look(after, sql)
        assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    with pytest.raises(AgentError, match="more than 200 views"):
        look(after, "SELECT 1 FROM " + ", ".join(["v40"] * 6))


def test_the_steps_of_all_statements_are_counted_together() -> None:
    once = "UPDATE t SET b = (SELECT count(*) FROM t p, t q WHERE p.id <> t.id);"
    assert run_script(DATABASE, once, caps=Caps(max_vm_steps=1_000_000)).statements == 1
    error = refusal(once * 10, Caps(max_vm_steps=1_000_000))
    assert (error.code, error.message[:12]) == (ErrorCode.TIMEOUT, "statement 3:")
    small = "UPDATE u SET x = x + 1;"  # fewer steps than lie between two looks at the budget
    assert refusal(small * 150, Caps(max_vm_steps=5_000)).code is ErrorCode.TIMEOUT


def test_a_deadline_holds_for_the_whole_script() -> None:
    began = time.monotonic()
    with pytest.raises(AgentError, match=r"the script was stopped: it did not finish within 0\.3 s") as caught:
        run_script(
            DATABASE,
            "UPDATE t SET b = (SELECT max(instr(printf('%.99000c', 'a'), printf('%.49000c', 'a') || p.id)) FROM t p);" * 9,
            deadline_s=0.3,
        )
    assert caught.value.code is ErrorCode.TIMEOUT
    assert time.monotonic() - began < 5


def test_growth_is_bounded_for_the_script_and_for_its_temporary_tables() -> None:
    for table in ("TABLE", "TEMP TABLE"):
        error = refusal(f"CREATE {table} k (x);" + "INSERT INTO k SELECT zeroblob(90000) FROM t;" * 100, Caps())
        assert error.code is ErrorCode.OUT_OF_MEMORY


WORDS = """
    SELECT INSERT INTO UPDATE DELETE FROM CREATE TABLE VIEW INDEX DROP ALTER RENAME COLUMN TO ADD ON t u n a b x y * , ; ( ) = 1 2 'q' NULL
    SET VALUES WHERE AS WITH RECURSIVE UNION ALL GROUP BY PRAGMA table_info BEGIN COMMIT TEMP random() date('now') -- /* */ " ' [ EXISTS NOT
    IF RETURNING REPLACE OR DEFAULT CHECK PRIMARY KEY WITHOUT ROWID TRIGGER VACUUM ATTACH sqlite_schema rowid
""".split()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_text_ends_as_a_database_or_as_an_error_of_the_agent(words: list[str]) -> None:
    script = " ".join(words)
    outcomes = []
    for _ in range(2):
        try:
            run = run_script(DATABASE, script, caps=SMALL)
            outcomes.append((run.database, run.statements, run.last_select))
        except AgentError as error:
            outcomes.append(error.args)
    assert outcomes[0] == outcomes[1]


_AGAIN = """
import hashlib, sys, yaml
from sql_optim_env.engines.sqlite import Caps, run_script
from sql_optim_env.errors import AgentError
database, corpus = open(sys.argv[1], "rb").read(), yaml.safe_load(open(sys.argv[2], encoding="utf-8"))
for script, *_ in corpus["runs"] + [item for items in corpus["refused"].values() for item in items]:
    try:
        run = run_script(database, script, caps=Caps(max_vm_steps=1_000_000, max_rows=20_000))
        print(hashlib.sha256(run.database).hexdigest(), run.statements, run.last_select)
    except AgentError as error:
        print(error)
"""


def test_a_script_does_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "base.db").write_bytes(DATABASE)
    command = [sys.executable, "-c", _AGAIN, str(tmp_path / "base.db"), str(Path(__file__).parent / "script.yaml")]
    outputs = {
        subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == len(CORPUS["runs"]) + len(REFUSED)
