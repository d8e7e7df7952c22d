from __future__ import annotations

import hashlib
import subprocess
import sys

import apsw
import pytest

from sql_optim_env.engines.sqlite import build_database, look, read_rows
from sql_optim_env.engines.sqlite.capture import Value
from sql_optim_env.errors import InfraError

DDL = ("CREATE TABLE a (id INTEGER PRIMARY KEY, b REFERENCES b(id), v)", 'CREATE TABLE "b c" (x TEXT)', "CREATE INDEX a_v ON a(v)")
ROWS: dict[str, list[tuple[Value, ...]]] = {"a": [(2, 99, "é"), (1, None, 1.5)], "b c": [("x",)]}


def test_rows_arrive_as_they_are_and_in_their_order() -> None:
    database = build_database(DDL, ROWS | {"b c": [("last",), ("first",)]})
    assert read_rows(database, "a", ["id", "b", "v"]) == ((1, None, 1.5), (2, 99, "é"))
    assert read_rows(database, "b c", ["x"]) == (("last",), ("first",))
    assert look(database, "SELECT name FROM pragma_index_list('a')").rows == (("a_v",),)


def test_pages_hold_4096_bytes_whatever_is_in_them() -> None:
    database = build_database(DDL, {})
    assert int.from_bytes(database[16:18], "big") == 4096
    assert len(database) == 4 * 4096
    assert look(database, "PRAGMA encoding").rows == (("UTF-8",),)
    assert database[18:20] == b"\x01\x01"  # rollback journal, the one kind that can be opened from memory


def test_the_bytes_are_the_same_every_time_and_in_every_process() -> None:
    here = hashlib.sha256(build_database(DDL, ROWS)).hexdigest()
    assert here == hashlib.sha256(build_database(list(DDL), dict(ROWS))).hexdigest()
    call = f"print(hashlib.sha256(build_database({DDL!r}, {ROWS!r})).hexdigest())"
    code = f"import hashlib; from sql_optim_env.engines.sqlite import build_database; {call}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == here
    assert here != hashlib.sha256(build_database(DDL, ROWS | {"b c": []})).hexdigest()


@pytest.mark.parametrize(
    ("ddl", "rows"),
    [
        (("CREATE TABLE a (",), {}),
        (DDL, {"nosuch": [(1,)]}),
        (DDL, {"b c": [("x", "y")]}),
        (DDL, {"b c": [("x",), ("y", "z")]}),
        (DDL, {"a": [(1, 2, 3), (1, 2, 3)]}),
        (DDL, {"b c": [(object(),)]}),
        (("ATTACH 'x.db' AS x",), {}),
    ],
)
def test_a_content_that_does_not_fit_is_our_trouble(ddl: tuple[str, ...], rows: dict[str, list[tuple[Value, ...]]]) -> None:
    with pytest.raises(InfraError, match="a database cannot be built"):
        build_database(ddl, rows)


def test_building_leaves_no_memory_behind() -> None:
    build_database(DDL, ROWS)
    before = apsw.memory_used()
    for _ in range(5):
        build_database(DDL, ROWS)
    assert abs(apsw.memory_used() - before) < 50_000
