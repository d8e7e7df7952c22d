from __future__ import annotations

import time
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.engines.sqlite import build_database, look, read_rows, run_script
from sql_optim_env.engines.sqlite.bounded import replace_unbounded

PLAIN, REPLACED = apsw.Connection(":memory:"), apsw.Connection(":memory:")
replace_unbounded(REPLACED)

VALUES = st.one_of(
    st.none(), st.text("ab é'\0", max_size=8), st.integers(-999, 999), st.floats(-99, 99), st.sampled_from([b"", b"ab", b"b a"])
)


@given(st.sampled_from(["trim", "ltrim", "rtrim"]), VALUES, VALUES)
def test_it_trims_as_the_engine_does(name: str, value: Any, characters: Any) -> None:
    sql = f"SELECT quote({name}(?, ?)), {name}(?)"
    assert REPLACED.execute(sql, (value, characters, value)).fetchall() == PLAIN.execute(sql, (value, characters, value)).fetchall()


def test_long_texts_are_trimmed_at_once() -> None:
    began = time.process_time()
    (row,) = REPLACED.execute("SELECT length(trim(?, ?))", ("a" * 99_000 + "c", "b" * 99_000 + "a")).fetchall()
    assert row == (1,)
    assert time.process_time() - began < 1


def test_schemas_may_use_it() -> None:
    table = "CREATE TABLE t (x, y AS (trim(x, '-')) STORED, CHECK (rtrim(x, '-') <> ''))"
    database = run_script(build_database((), {}), f"{table}; CREATE INDEX i ON t(ltrim(x, '-')); INSERT INTO t VALUES ('-a-')").database
    assert read_rows(database, "t", ["y"]) == (("a",),)
    assert look(database, "SELECT count(*) FROM t WHERE ltrim(x, '-') = 'a-'").rows == ((1,),)
    assert look(database, "PRAGMA integrity_check").rows == (("ok",),)


@pytest.mark.parametrize("sql", ["SELECT trim(x'ff', 'a')", "SELECT trim(CAST(x'ff' AS TEXT), 'a')"])
def test_text_that_is_no_text_is_an_error(sql: str) -> None:
    with pytest.raises(UnicodeDecodeError):
        REPLACED.execute(sql).fetchall()
