from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest
import yaml

from sql_optim_env.engines.sqlite import Caps, build_database, column_facts, look, profile_sql, run_script
from sql_optim_env.engines.sqlite.capture import Value
from sql_optim_env.engines.sqlite.connection import HEAP_LIMIT, open_database
from sql_optim_env.errors import AgentError, ErrorCode

DDL = (
    "CREATE TABLE Client (id INTEGER PRIMARY KEY, name TEXT, town TEXT COLLATE NOCASE)",
    "CREATE TABLE bill (no INTEGER PRIMARY KEY, client INTEGER REFERENCES Client(id), sum, paid TEXT, name TEXT)",
    "CREATE TABLE slot (room TEXT, day TEXT, hour INTEGER, who TEXT, PRIMARY KEY (hour, room)) WITHOUT ROWID",
    "CREATE TABLE loose (x, y, double AS (x * 2) VIRTUAL, z)",
    "CREATE TABLE backwards (id INTEGER PRIMARY KEY DESC, v)",
    "CREATE INDEX bill_client ON bill(client)",
    "CREATE INDEX bill_paid ON bill(lower(paid), sum)",
)
ROWS: dict[str, list[tuple[Value, ...]]] = {
    "Client": [(i, f"name {i}", "Ulm") for i in range(1, 21)],
    "bill": [(i, i % 25, float(i) if i % 2 else str(i), None if i % 4 else "2024-05-01", f"name {i}") for i in range(1, 101)],
    "slot": [(f"r{i}", "mon", i, "me") for i in range(10)],
    "loose": [(i, i + 1, i + 2) for i in range(10)],
    "backwards": [(i, i) for i in range(3)],
}
BILL = {("bill", column) for column in ("no", "client", "sum", "paid", "name")}
CLIENT = {("client", column) for column in ("id", "name", "town")}


@pytest.fixture(scope="module")
def books() -> bytes:
    content = {table: rows for table, rows in ROWS.items() if table != "loose"}
    plain = build_database(DDL, content)
    return run_script(plain, "INSERT INTO loose(x, y, z) VALUES (1, 2, 3); CREATE VIEW owed AS SELECT client, sum FROM bill").database


def refusal(database: bytes, sql: str, caps: Caps | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        look(database, sql, caps=caps)
    return caught.value


READS: list[tuple[str, set[tuple[str, str]]]] = [
    ("SELECT * FROM bill", BILL),
    ("SELECT b.* FROM bill AS b", BILL),
    ("SELECT b.sum AS other FROM bill b", {("bill", "sum")}),
    ('SELECT "SUM" FROM [BILL]', {("bill", "sum")}),
    ("WITH c AS (SELECT paid FROM bill) SELECT * FROM c", {("bill", "paid")}),
    ("WITH bill(sum) AS (SELECT 1) SELECT sum FROM bill", set()),
    ("WITH bill AS (SELECT 1) SELECT count(*) FROM bill", set()),
    ("WITH unused AS (SELECT * FROM bill) SELECT 1", set()),
    ("SELECT x.paid FROM (SELECT paid FROM bill) x", {("bill", "paid")}),
    ("SELECT sum FROM owed", {("bill", "client"), ("bill", "sum")}),
    ("SELECT 1 FROM bill b JOIN client c ON c.id = b.client", {("bill", "client"), ("client", "id")}),
    ("SELECT count(*) FROM bill JOIN client USING (name)", {("bill", "name"), ("client", "name")}),
    ("SELECT count(*) FROM bill NATURAL JOIN client", {("bill", "name"), ("client", "name")}),
    ("SELECT count(*) FROM bill a JOIN bill b USING (client)", {("bill", "client")}),
    ("SELECT count(*) FROM bill a JOIN bill b USING (no)", {("bill", "no")}),
    ("SELECT count(*) FROM slot a JOIN slot b USING (hour)", {("slot", "hour")}),
    ("SELECT count(*) FROM loose a JOIN loose b USING (z)", {("loose", "z")}),
    ("SELECT count(*) FROM bill WHERE EXISTS (SELECT 1 FROM client WHERE id = client)", {("bill", "client"), ("client", "id")}),
    ("SELECT count(*) FROM bill WHERE client NOT IN (SELECT id FROM client)", {("bill", "client"), ("client", "id")}),
    ("SELECT (SELECT town FROM client c WHERE c.id = b.client) FROM bill b", {("bill", "client"), ("client", "id"), ("client", "town")}),
    ("SELECT 1 FROM bill GROUP BY paid ORDER BY sum", {("bill", "paid"), ("bill", "sum")}),
    ("SELECT row_number() OVER (PARTITION BY client) FROM bill", {("bill", "client")}),
    ("SELECT count(*) FROM bill", set()),
    ("SELECT count(*), 'bill.sum' AS sum FROM bill -- sum, paid", set()),
    ("SELECT 1 /* bill.sum */ FROM bill WHERE 'sum' = 'paid'", set()),
    ("SELECT rowid FROM bill", {("bill", "no")}),
    ("SELECT oid FROM client", {("client", "id")}),
    ("SELECT rowid FROM loose", set()),
    ("SELECT rowid FROM backwards", set()),
    ("SELECT double FROM loose", {("loose", "double"), ("loose", "x")}),
    ("SELECT who FROM slot WHERE hour = 1 AND room = 'r1'", {("slot", "hour"), ("slot", "room"), ("slot", "who")}),
    ("SELECT 1 FROM bill WHERE lower(paid) = 'x'", {("bill", "paid")}),
    ("EXPLAIN SELECT sum FROM bill", set()),
    ("EXPLAIN QUERY PLAN SELECT sum FROM bill", set()),
    ("EXPLAIN PRAGMA foreign_key_check", set()),
    ("PRAGMA table_list", set()),
    ("SELECT name FROM pragma_table_list", set()),
    ("PRAGMA table_info(owed)", set()),
    ("SELECT name FROM pragma_table_xinfo('owed')", set()),
    ("PRAGMA integrity_check", set()),
    ("PRAGMA foreign_key_check", {("bill", "client"), ("client", "id")}),
    ("PRAGMA foreign_key_check(Bill)", {("bill", "client"), ("client", "id")}),
    ("SELECT count(*) FROM pragma_foreign_key_check('bill')", {("bill", "client"), ("client", "id")}),
    ("PRAGMA foreign_key_check(client)", set()),
    ("SELECT sql FROM sqlite_schema", set()),
    ("VALUES (1), (2)", set()),
]


@pytest.mark.parametrize(("sql", "columns"), READS, ids=[sql for sql, _ in READS])
def test_a_look_reads_the_columns_whose_values_it_uses(books: bytes, sql: str, columns: set[tuple[str, str]]) -> None:
    assert look(books, sql).reads_columns == columns


STRUCTURES: list[tuple[str, set[str]]] = [
    ("PRAGMA table_info(bill)", {"bill"}),
    ("PRAGMA main.table_xinfo('CLIENT')", {"client"}),
    ("PRAGMA table_info = bill", {"bill"}),
    ("PRAGMA foreign_key_list(bill)", {"bill"}),
    ("PRAGMA foreign_key_list(client)", set()),
    ("PRAGMA index_list(bill)", {"bill"}),
    ("PRAGMA index_info(bill_client)", {"bill"}),
    ("PRAGMA index_xinfo(Bill_Client)", {"bill"}),
    ("PRAGMA table_list", {"*"}),
    ("PRAGMA table_list(bill)", {"bill"}),
    ("PRAGMA table_info(nosuch)", set()),
    ("PRAGMA table_info", set()),
    ("PRAGMA table_info(owed)", set()),
    ("SELECT * FROM pragma_table_info('bill')", {"bill"}),
    ("SELECT * FROM pragma_table_info('bill') WHERE name = 'none'", set()),
    ("SELECT p.name FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.name = 'bill'", {"*", "bill"}),
    ("SELECT sql FROM sqlite_schema", {"*"}),
    ("SELECT name FROM sqlite_master WHERE type = 'table'", {"*"}),
    ("SELECT sql FROM sqlite_schema WHERE 0", set()),
    ("SELECT count(*) FROM sqlite_schema", set()),
    ("SELECT rootpage FROM sqlite_schema", set()),
    ("EXPLAIN SELECT sql FROM sqlite_schema", set()),
    ("EXPLAIN SELECT * FROM pragma_table_info('bill')", set()),
    ("PRAGMA database_list", set()),
    ("SELECT 'sqlite_schema' /* PRAGMA table_info(bill) */", set()),
    ("SELECT * FROM bill", set()),
]


@pytest.mark.parametrize(("sql", "structures"), STRUCTURES, ids=[sql for sql, _ in STRUCTURES])
def test_a_look_shows_the_structure_of_what_it_names_when_a_row_comes_back(books: bytes, sql: str, structures: set[str]) -> None:
    assert look(books, sql).structures == structures


def test_rows_are_shown_up_to_the_cap_and_counted_beyond(books: bytes) -> None:
    found = look(books, "SELECT no, sum FROM bill ORDER BY no", max_rows=2)
    assert (found.columns, found.types) == (("no", "sum"), ("INTEGER", "REAL/TEXT"))
    assert (found.rows, found.row_count, found.truncated) == (((1, 1.0), (2, "2")), 100, True)
    assert len(look(books, "SELECT no FROM bill").rows) == 50
    assert not look(books, "SELECT no FROM bill LIMIT 50").truncated


def test_the_steps_tell_a_glance_from_going_through_the_table(books: bytes) -> None:
    assert look(books, "SELECT sum FROM bill WHERE 0").vm_steps < 10
    assert look(books, "SELECT sum FROM bill LIMIT 5").vm_steps < 100
    assert look(books, "SELECT count(sum) FROM bill").vm_steps >= 100
    assert look(books, "PRAGMA foreign_key_check").vm_steps >= 100


CORPUS: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "investigate.yaml").read_text(encoding="utf-8"))
REFUSED = [(code, sql) for code, statements in CORPUS.items() for sql in statements]
REFUSED += [
    ("refused_syntax", "SELECT " + "1+" * 600 + "1"),
    ("syntax_error", "SELECT 1 \0"),
    ("syntax_error", "SELECT '\ud800'"),
    ("sql_too_long", "SELECT 1" + " " * 20_000),
    ("sql_too_long", ";" * 5_000_000),
]


@pytest.mark.parametrize(("code", "sql"), REFUSED, ids=lambda text: ascii(text[:60]))
def test_everything_else_is_refused_with_its_code(
    books: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal(books, sql)
    assert error.code == code
    assert 10 < len(error.message) < 2_100
    assert list(tmp_path.iterdir()) == []


def test_a_time_zone_is_a_modifier_only_inside_a_date_function(books: bytes) -> None:
    sql = "SELECT datetime('2024-05-01', '+2 hours') WHERE 'UTC' IN ('CET', 'UTC') OR upper('utc') = 'UTC'"
    assert look(books, sql).rows == (("2024-05-01 02:00:00",),)


COUNT = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) "


def doubling(step: str) -> str:
    """A query that is short to write and doubles forty times while it is prepared."""
    return (
        "WITH v0 AS (SELECT no a FROM bill)" + "".join(f", v{i + 1} AS ({step.format(f'v{i}')})" for i in range(40)) + " SELECT a FROM v40"
    )


ENDLESS: dict[str, tuple[str, str]] = {
    "recursion": ("timeout", COUNT + "SELECT max(i) FROM n"),
    "rows by recursion": ("result_too_large", COUNT + "SELECT i FROM n"),
    "rows by joining": ("result_too_large", "SELECT a.no FROM bill a, bill b, bill c"),
    "joining": ("timeout", "SELECT count(*) FROM bill a, bill b, bill c, bill d"),
    "sorting": ("out_of_memory", COUNT + "SELECT i FROM n ORDER BY printf('%.90000c', 'a') || i"),
    "doubling expressions": ("out_of_memory", doubling("SELECT a + a a FROM {0}")),
    "doubling joins": ("binding_error", doubling("SELECT x.a FROM {0} x, {0} y")),
    "doubling unions": ("binding_error", doubling("SELECT a FROM {0} UNION ALL SELECT a FROM {0}")),
    "doubling subqueries": ("binding_error", doubling("SELECT (SELECT a FROM {0}) + (SELECT a FROM {0}) a")),
}


@pytest.mark.parametrize(("code", "sql"), ENDLESS.values(), ids=ENDLESS)
def test_work_without_end_is_ended(books: bytes, code: str, sql: str) -> None:
    assert refusal(books, sql, Caps(max_vm_steps=3_000_000, max_rows=20_000)).code == code


def test_a_slow_function_is_noticed_between_two_calls(books: bytes) -> None:
    slow = COUNT + "SELECT max(instr(printf('%.99000c', 'a'), printf('%.49000c', 'a') || i)) FROM n"
    with pytest.raises(AgentError, match=r"within 0\.2 s"):
        look(books, slow, deadline_s=0.2)


def test_a_look_gives_the_other_families_their_memory_back(books: bytes, small: bytes) -> None:
    look(books, "SELECT 1")
    with open_database(small, "measure"):
        assert apsw.hard_heap_limit(-1) == HEAP_LIMIT


def test_a_column_is_described_by_one_query(books: bytes) -> None:
    facts, found, sql = column_facts(books, "BILL", "Paid")
    assert (facts.table, facts.column, facts.declared_type) == ("bill", "paid", "TEXT")
    assert (facts.row_count, facts.null_count, facts.distinct_count) == (100, 75, 1)
    assert (facts.minimum, facts.maximum, facts.types) == ("2024-05-01", "2024-05-01", (("NULL", 75), ("TEXT", 25)))
    assert sql == profile_sql(books, "bill", "paid")
    assert found == look(books, sql)
    assert found.reads_columns == {("bill", "paid")}
    assert found.vm_steps >= 100
    mixed = column_facts(books, "bill", "sum")[0]
    assert (mixed.minimum, mixed.maximum, mixed.types) == (1.0, "98", (("REAL", 50), ("TEXT", 50)))
    assert column_facts(books, "slot", "hour")[0].types == (("INTEGER", 10),)


def test_an_empty_table_and_odd_names_are_described_too() -> None:
    database = build_database(['CREATE TABLE "a ""b"" c" ("x y" BLOB, "select" INTEGER)'], {})
    facts = column_facts(database, 'a "b" c', "x y")[0]
    assert (facts.row_count, facts.null_count, facts.distinct_count, facts.minimum, facts.maximum, facts.types) == (0, 0, 0, None, None, ())
    assert column_facts(database, 'A "B" C', "SELECT")[0].declared_type == "INTEGER"


@pytest.mark.parametrize(
    ("table", "column", "says"),
    [
        ("nosuch", "x", "there is no table nosuch; there are: Client, bill, slot, loose, backwards"),
        ("", "x", "there is no table (no name); there are: "),
        ("owed", "sum", "there is no table owed"),
        ("sqlite_schema", "sql", "there is no table sqlite_schema"),
        ("bill", "nosuch", "table bill has no column nosuch; its columns are: no, client, sum, paid, name"),
        ("bill", "", "table bill has no column (no name)"),
        ("bill", "sum) FROM bill; --", "table bill has no column sum) FROM bill; --"),
        ("bill\ud800", "sum", "there is no table"),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_those_that_do(books: bytes, table: str, column: str, says: str) -> None:
    for ask in (profile_sql, column_facts):
        with pytest.raises(AgentError) as caught:
            ask(books, table, column)
        assert caught.value.code is ErrorCode.BINDING_ERROR
        assert says in caught.value.message


_AGAIN = """
import sys
from sql_optim_env.engines.sqlite import look
for sql in sys.stdin.read().split("\\n"):
    found = look(open(sys.argv[1], "rb").read(), sql)
    print(found.rows, found.row_count, sorted(found.reads_columns), sorted(found.structures), found.vm_steps)
"""


def test_a_look_is_the_same_in_every_process(books: bytes, tmp_path: Path) -> None:
    (tmp_path / "books.db").write_bytes(books)
    asked = "\n".join(sql for sql, _ in READS + STRUCTURES)
    outputs = set()
    for seed in "12":
        done = subprocess.run(
            [sys.executable, "-c", _AGAIN, str(tmp_path / "books.db")],
            input=asked,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == len(READS + STRUCTURES)
