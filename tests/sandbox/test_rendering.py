from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb.admission import policy_for
from sql_optim_env.engines.duckdb.database import Database
from sql_optim_env.grading.evidence import JsonValue
from sql_optim_env.sandbox.rendering import MAX_TEXT, Renderer


class Shower:
    """Runs a statement as the sandbox does and renders its rows."""

    def __init__(self, database: Database, renderer: Renderer) -> None:
        self._database, self._renderer = database, renderer

    def rows(self, sql: str) -> tuple[tuple[JsonValue, ...], ...]:
        statement = self._database.admit(sql, policy_for(sql, ()))
        capture = self._database.run(statement, max_rows=10, max_bytes=1 << 20, priced=False).capture
        return self._renderer.rows(capture.columns, capture.table)


@pytest.fixture
def shower(tmp_path: Path) -> Iterator[Shower]:
    duckdb.connect(str(tmp_path / "t.duckdb")).close()
    renderer = Renderer()
    with Database(tmp_path / "t.duckdb", temp_dir=tmp_path / "spill") as database:
        yield Shower(database, renderer)
    renderer.close()


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("NULL", None),
        ("true", True),
        ("7", 7),
        ("9007199254740992", 9007199254740992),
        ("-9007199254740993", "-9007199254740993"),
        ("18446744073709551615::UBIGINT", "18446744073709551615"),
        ("sum(170141183460469231731687303715884105727::HUGEINT)", "170141183460469231731687303715884105727"),
        ("sum(3)", "3"),
        ("0.1::DOUBLE", 0.1),
        ("'nan'::DOUBLE", "nan"),
        ("'-inf'::DOUBLE", "-inf"),
        ("12.50::DECIMAL(10, 2)", "12.50"),
        ("'text'", "text"),
        ("DATE '2024-02-29'", "2024-02-29"),
        ("TIMESTAMP '2024-02-29 12:34:56.789'", "2024-02-29 12:34:56.789"),
        ("TIME '01:02:03'", "01:02:03"),
        ("INTERVAL 3 DAYS", "3 days"),
        ("'\\xAB\\x01'::BLOB", "\\xAB\\x01"),
        ("[1, NULL, 3]", "[1, NULL, 3]"),
        ("{'a': 1, 'b': DATE '2024-01-01'}", "{'a': 1, 'b': 2024-01-01}"),
    ],
)
def test_a_value_is_itself_where_json_holds_it_exactly_and_the_engines_text_elsewhere(shower: Shower, sql: str, value: object) -> None:
    ((shown,),) = shower.rows(f"SELECT {sql} AS v")
    assert shown == value
    assert type(shown) is type(value)
    assert json.loads(json.dumps(shown, allow_nan=False)) == value


def test_rows_keep_their_order_and_columns_theirs_also_when_names_repeat(shower: Shower) -> None:
    assert shower.rows("SELECT * FROM (VALUES (2, 'b'), (1, NULL)) AS t(x, y)") == ((2, "b"), (1, None))
    assert shower.rows("SELECT 1 AS x, 2 AS x") == ((1, 2),)
    assert shower.rows("SELECT 1 AS x WHERE false") == ()


def test_a_long_text_is_cut_and_says_how_much_is_missing(shower: Shower) -> None:
    text = "x" * 5_000
    ((shown,),) = shower.rows(f"SELECT '{text}' AS v")
    assert isinstance(shown, str)
    assert len(shown) <= MAX_TEXT
    assert shown == "x" * (MAX_TEXT - 40) + f"… [{5_000 - MAX_TEXT + 40:,} characters left out]"
