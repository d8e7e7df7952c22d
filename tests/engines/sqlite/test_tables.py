from __future__ import annotations

import time

import pytest

from sql_optim_env.engines.sqlite import Caps, build_database, declared_types, read_rows, run_script, table_names
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

DATABASE = build_database(
    (
        "CREATE TABLE Sale (id INTEGER PRIMARY KEY, Amount TEXT, note)",
        "CREATE TABLE stock (n INTEGER)",
        "CREATE INDEX by_note ON sale(note)",
    ),
    {"Sale": [(3, "1.50", None), (1, "2", b"\x00"), (2, "", 2.5)], "stock": [(i,) for i in range(300)]},
)


def after(script: str) -> bytes:
    return run_script(DATABASE, script).database


def test_tables_are_named_as_declared_oldest_first_without_views_and_the_engines_own() -> None:
    made = after(
        "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIEW v AS SELECT 1; ANALYZE; DROP TABLE stock; CREATE TABLE B (x)"
    )
    assert table_names(DATABASE) == ("Sale", "stock")
    assert table_names(made) == ("Sale", "a", "B")


def test_rows_are_read_with_their_own_types_in_the_tables_order() -> None:
    assert read_rows(DATABASE, "sale", ["AMOUNT", "id"]) == (("2", 1), ("", 2), ("1.50", 3))
    assert read_rows(DATABASE, "Sale", ["note", "note"]) == ((b"\x00", b"\x00"), (2.5, 2.5), (None, None))
    assert read_rows(after("DELETE FROM sale"), "sale", ["id"]) == ()


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("DROP TABLE sale", None),
        ("ALTER TABLE sale RENAME TO other", None),
        ("ALTER TABLE sale RENAME TO other; CREATE VIEW sale AS SELECT * FROM other", None),
        ("DROP TABLE sale; CREATE TEMP TABLE sale AS SELECT 1 AS id, 2 AS amount", None),
        ("ALTER TABLE sale DROP COLUMN amount", None),
        ("ALTER TABLE sale RENAME COLUMN amount TO sum", None),
        ("ALTER TABLE sale RENAME TO old; CREATE TABLE sale (amount, id)", ()),
        ("DROP TABLE sale; CREATE TABLE sale (id, amount, PRIMARY KEY (amount)) WITHOUT ROWID; INSERT INTO sale VALUES (2, 'b'), (1, 'a')",
         ((1, "a"), (2, "b"))),
        ("DROP TABLE sale; CREATE TABLE sale (id, amount AS (id * 2)); INSERT INTO sale VALUES (4)", ((4, 8),)),
        ("ALTER TABLE sale ADD COLUMN more DEFAULT 7; DELETE FROM sale WHERE id > 1", ((1, "2"),)),
        ("DROP TABLE sale; CREATE TABLE sale (id INTEGER, amount REAL) STRICT; INSERT INTO sale VALUES ('1', 2)", ((1, 2.0),)),
        ("CREATE INDEX cover ON sale(amount, id); DELETE FROM sale WHERE id = 2", ((1, "2"), (3, "1.50"))),
    ],
)  # fmt: skip
def test_only_a_table_with_all_columns_has_rows(script: str, rows: object) -> None:
    assert read_rows(after(script), "sale", ["id", "amount"]) == rows


@pytest.mark.parametrize(
    ("table", "columns"), [("nosuch", ["id"]), ("sqlite_schema", ["sql"]), ("sale", []), ("sale", ["id", "rowid"]), ("by_note", ["note"])]
)
def test_what_is_no_column_of_a_table_has_none(table: str, columns: list[str]) -> None:
    assert read_rows(DATABASE, table, columns) is None


def test_names_with_quotes_are_names() -> None:
    made = after('CREATE TABLE "a""; DROP TABLE sale; --" ("x"" y" TEXT); INSERT INTO "a""; DROP TABLE sale; --" VALUES (\'v\')')
    assert read_rows(made, 'a"; DROP TABLE sale; --', ['X" y']) == (("v",),)
    assert declared_types(made, 'a"; DROP TABLE sale; --') == {'x" y': "TEXT"}


def test_reading_is_bounded() -> None:
    assert len(read_rows(DATABASE, "stock", ["n"], Caps(max_rows=300)) or ()) == 300
    for caps in (Caps(max_rows=299), Caps(max_bytes=2_000)):
        with pytest.raises(AgentError) as caught:
            read_rows(DATABASE, "stock", ["n"], caps)
        assert caught.value.code is ErrorCode.RESULT_TOO_LARGE


def test_generated_columns_that_work_without_end_are_stopped() -> None:
    slow = "instr(printf('%.99000c', 'a'), printf('%.49000c', 'a') || n)"
    made = after("CREATE TABLE g (n, " + ", ".join(f"c{i} AS ({slow} + {i})" for i in range(6)) + "); INSERT INTO g (n) VALUES (1);")
    began = time.monotonic()
    with pytest.raises(AgentError, match=r"reading of the table was stopped: it did not finish within 0\.1 s"):
        read_rows(made, "g", [f"c{i}" for i in range(6)], Caps(deadline_s=0.1))
    assert time.monotonic() - began < 8
    assert read_rows(made, "g", ["n"]) == ((1,),)
    with pytest.raises(AgentError, match=r"reading of the table was stopped after 100 steps"):
        read_rows(DATABASE, "stock", ["n"], Caps(max_vm_steps=100))


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("CAST(x'ff' AS TEXT)", "a table cannot be read: a TEXT value of the result is not valid UTF-8"),
        ("json('{')", "a table cannot be read: malformed JSON"),
        ("replace(printf('%.999c', 'a'), 'a', printf('%.999c', id))", "a table cannot be read: string or blob too big"),
    ],
)
def test_values_that_cannot_be_read_are_the_scripts_fault(expression: str, says: str) -> None:
    made = after(f"ALTER TABLE sale DROP COLUMN amount; ALTER TABLE sale ADD COLUMN amount AS ({expression})")
    with pytest.raises(AgentError, match=says) as caught:
        read_rows(made, "sale", ["amount"])
    assert caught.value.code is ErrorCode.EXECUTION_ERROR
    assert read_rows(made, "sale", ["id"]) == ((1,), (2,), (3,))


def test_declared_types_are_affinities() -> None:
    made = after(
        "CREATE TABLE k (a INT, b VARCHAR(9), c CLOB, d, e BLOB, f DOUBLE PRECISION, g FLOAT, h DECIMAL(9, 2), i DATE, j BOOLEAN,"
        " k CHARINT, l REAL AS (f) STORED, m STRING)"
    )
    assert declared_types(made, "K") == {
        "a": "INTEGER", "b": "TEXT", "c": "TEXT", "d": "BLOB", "e": "BLOB", "f": "REAL", "g": "REAL", "h": "NUMERIC", "i": "NUMERIC",
        "j": "NUMERIC", "k": "INTEGER", "l": "REAL", "m": "NUMERIC",
    }  # fmt: skip
    assert declared_types(after("CREATE TABLE c AS SELECT id, amount, note, id + 1 AS n, 1.5 AS r FROM sale"), "c")["Amount"] == "TEXT"
    assert declared_types(DATABASE, "nosuch") == {}
    assert declared_types(after("CREATE VIEW v AS SELECT id FROM sale"), "v") == {}


@pytest.mark.parametrize(
    "name", ["INTEGER", "VARCHAR(10)", "", "BLOB", "DOUBLE", "DECIMAL(10,2)", "CHARINT", "FLOATING POINT", "STRING", "xBLOBx", "DATETIME"]
)
def test_an_affinity_is_what_the_engine_makes_of_the_type(name: str) -> None:
    made = after(f"CREATE TABLE k (x {name}); INSERT INTO k VALUES ('1.0'), (1.5), (7)")
    affinity = declared_types(made, "k")["x"]
    kept: dict[str, tuple[object, ...]] = {"TEXT": ("1.0", "1.5", "7"), "BLOB": ("1.0", 1.5, 7), "REAL": (1.0, 1.5, 7.0)}
    stored = kept.get(affinity, (1, 1.5, 7))
    rows = read_rows(made, "k", ["x"])
    assert rows is not None
    assert [(value, type(value)) for (value,) in rows] == [(value, type(value)) for value in stored]


def test_other_bytes_are_our_trouble() -> None:
    for ask in (table_names, lambda database: read_rows(database, "t", ["x"]), lambda database: declared_types(database, "t")):
        with pytest.raises(InfraError):
            ask(b"not a database" * 1_000)
