from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.card import Card, build_card


def test_a_card_counts_rows_and_knows_every_column(card: Card) -> None:
    assert {name: table.rows for name, table in card.tables.items()} == {"users": 2000, "products": 200, "orders": 30_000, "empty_table": 0}
    assert list(card.tables["orders"].columns) == ["id", "customer_id", "product_id", "status", "total", "created_at"]


def test_kinds_lengths_and_distinct_counts_come_from_the_data(card: Card) -> None:
    users = card.tables["users"].columns
    assert (users["email"].kind, users["email"].distinct) == ("string", 2000)
    assert users["email"].length == pytest.approx(20.447, abs=0.01)
    assert (users["tier"].kind, users["tier"].distinct) == ("string", 3)
    assert card.tables["orders"].columns["total"].kind == "decimal"


def test_a_low_cardinality_dictionary_saves_work_and_a_unique_column_does_not(card: Card) -> None:
    users = card.tables["users"].columns
    assert users["tier"].fresh == pytest.approx(3 / 2000)
    assert users["email"].fresh == 1.0


def test_ascending_storage_is_recognised(card: Card) -> None:
    assert card.tables["orders"].columns["id"].ascending
    assert not card.tables["orders"].columns["created_at"].ascending


def test_a_card_survives_json_and_its_json_is_canonical(card: Card) -> None:
    text = card.to_json()
    assert Card.from_json(text) == card
    assert Card.from_json(text).to_json() == text


def test_building_twice_gives_the_same_bytes(shop: duckdb.DuckDBPyConnection, card: Card) -> None:
    assert build_card(shop).to_json() == card.to_json()


def test_the_file_part_of_a_table_name_does_not_matter(card: Card) -> None:
    assert card.table("small-shop.main.orders") is card.table("other.main.orders") is card.tables["orders"]
    assert card.table("small-shop.main.unknown") is None


def test_odd_names_lists_and_nulls_are_described(tmp_path: Path) -> None:
    con = duckdb.connect(str(tmp_path / "odd.duckdb"), config={"threads": 1})
    con.execute("""CREATE TABLE "it's ""odd" ("a b" VARCHAR, tags INTEGER[], pair STRUCT(x INTEGER), gone INTEGER)""")
    con.execute("""INSERT INTO "it's ""odd" SELECT NULL, [1, 2, 3], {'x': 1}, NULL FROM range(100)""")
    con.execute("CHECKPOINT")
    columns = build_card(con).tables["it's \"odd"].columns
    con.close()
    assert (columns["a b"].length, columns["a b"].distinct) == (0.0, 0)
    assert (columns["tags"].kind, columns["tags"].length) == ("list", 3.0)
    assert columns["pair"].kind == "list"
    assert columns["gone"].ascending


def test_skew_is_one_for_keys_and_grows_with_the_share_of_frequent_values(tmp_path: Path) -> None:
    con = duckdb.connect(str(tmp_path / "skew.duckdb"), config={"threads": 1})
    con.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 10 AS even, CASE WHEN i < 900 THEN 0 ELSE i END AS odd, NULL::INTEGER AS gone, "
        "CASE WHEN i < 900 THEN 'a' ELSE 'b' || i END AS text FROM range(1000) t(i)"
    )
    con.execute("CHECKPOINT")
    columns = build_card(con).tables["t"].columns
    con.close()
    assert (columns["id"].skew, columns["even"].skew, columns["gone"].skew) == (1.0, 1.0, 1.0)
    # 101 values; a random row shares its value with (900 * 900 + 100) / 1000 rows instead of 1000 / 101.
    assert columns["odd"].skew == columns["text"].skew == pytest.approx(810.1 / (1000 / 101), abs=0.001)
