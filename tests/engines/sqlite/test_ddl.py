from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
import yaml

from sql_optim_env.engines.sqlite import DdlError, Rule, apply_ddl
from sql_optim_env.engines.sqlite import ddl as module
from sql_optim_env.engines.sqlite.ddl import MAX_DDL_ITEMS
from sql_optim_env.errors import ErrorCode, InfraError

CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "ddl.yaml").read_text(encoding="utf-8"))
REFUSED = [(rule, item) for rule, items in CORPUS["refused"].items() for item in items]
FAILED = [(code, item) for code, items in CORPUS["failed"].items() for item in items]


def schema(database: bytes) -> dict[str, tuple[Any, ...]]:
    con = apsw.Connection(":memory:")
    con.deserialize("main", database)
    found: dict[str, tuple[Any, ...]] = {str(row[1]): row for row in con.execute("SELECT * FROM sqlite_schema")}
    con.close()
    return found


def refusal(database: bytes, items: list[str], tables: tuple[str, ...], max_indexes: int = 2) -> DdlError:
    with pytest.raises(DdlError) as caught:
        apply_ddl(database, items, tables=tables, max_indexes=max_indexes)
    return caught.value


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS["accepted"]) + len(REFUSED) + len(FAILED) >= 120


@pytest.mark.parametrize("case", CORPUS["accepted"], ids=lambda case: "; ".join(case["items"]))
def test_allowed_items_make_their_indexes_and_nothing_else(small: bytes, tables: tuple[str, ...], case: dict[str, list[str]]) -> None:
    after = apply_ddl(small, case["items"], tables=tables, max_indexes=2)
    before, now = schema(small), schema(after)
    assert sorted(now.keys() - before.keys() - {"sqlite_stat1", "sqlite_stat4"}) == sorted(case["new"])
    assert {name: now[name] for name in before} == before


@pytest.mark.parametrize(("rule", "item"), REFUSED)
def test_a_broken_rule_is_named(small: bytes, tables: tuple[str, ...], rule: str, item: str) -> None:
    error = refusal(small, [item], tables)
    assert error.rule == rule
    assert error.index == 0
    assert error.code in (ErrorCode.REFUSED_SYNTAX, ErrorCode.EMPTY_SQL, ErrorCode.NOT_ONE_SELECT)
    assert "ddl item 1: " in error.message and "(rule: " in error.message


@pytest.mark.parametrize(("code", "item"), FAILED)
def test_a_failing_item_carries_the_engines_message(small: bytes, tables: tuple[str, ...], code: str, item: str) -> None:
    error = refusal(small, [item], tables)
    assert error.code == code
    assert error.rule is None
    assert len(error.message) > len("ddl item 1: ") + 5


def test_the_database_that_was_handed_in_is_not_touched(small: bytes, tables: tuple[str, ...]) -> None:
    copy = bytes(bytearray(small))
    assert apply_ddl(small, ["CREATE INDEX i ON parcel(hub)", "ANALYZE"], tables=tables, max_indexes=1) != small
    assert small == copy
    assert apply_ddl(small, [], tables=tables, max_indexes=0) is small


def test_the_same_items_give_the_same_bytes(small: bytes, tables: tuple[str, ...]) -> None:
    items = ["CREATE INDEX i ON parcel(hub)", "ANALYZE"]
    assert apply_ddl(small, items, tables=tables, max_indexes=1) == apply_ddl(small, items, tables=tables, max_indexes=1)


def test_the_failing_item_is_told_apart(small: bytes, tables: tuple[str, ...]) -> None:
    error = refusal(small, ["ANALYZE", "CREATE INDEX i ON parcel(hub)", "DROP TABLE parcel"], tables)
    assert (error.index, error.rule) == (2, Rule.KIND)
    assert error.message.startswith("ddl item 3: only CREATE INDEX and ANALYZE are admitted; this begins with DROP TABLE (rule: ")


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_one_index_more_than_allowed_is_refused(small: bytes, tables: tuple[str, ...], allowed: int) -> None:
    items = [f"CREATE INDEX i{n} ON parcel(hub)" for n in range(allowed + 1)]
    apply_ddl(small, items[:allowed], tables=tables, max_indexes=allowed)
    error = refusal(small, items, tables, allowed)
    assert (error.index, error.rule) == (allowed, Rule.MAX_INDEXES)
    assert f"the task allows {allowed}" in error.message


def test_a_flood_of_items_is_refused_before_any_runs(small: bytes, tables: tuple[str, ...]) -> None:
    apply_ddl(small, ["ANALYZE hub"] * MAX_DDL_ITEMS, tables=tables, max_indexes=1)
    assert refusal(small, ["DROP TABLE parcel"] * (MAX_DDL_ITEMS + 1), tables).rule is Rule.MAX_INDEXES


def test_long_names_are_not_repeated_in_full(small: bytes, tables: tuple[str, ...]) -> None:
    error = refusal(small, [f"CREATE INDEX {'i' * 15_000} ON parcel(hub, fault)"], tables)
    assert error.rule is Rule.COMPOSITE
    assert len(error.message) < 300


def test_statistics_come_from_the_data(small: bytes, tables: tuple[str, ...]) -> None:
    con = apsw.Connection(":memory:")
    con.deserialize("main", apply_ddl(small, ["CREATE INDEX i ON hub(name)", "ANALYZE hub"], tables=tables, max_indexes=1))
    assert con.execute("SELECT * FROM sqlite_stat1").fetchall() == [("hub", "i", "20 1")]


def test_statistics_that_are_shipped_are_gathered_anew(small: bytes, tables: tuple[str, ...]) -> None:
    con = apsw.Connection(":memory:")
    con.deserialize("main", small)
    con.execute("ANALYZE; UPDATE sqlite_stat1 SET stat = '9 9' WHERE tbl = 'hub'; DELETE FROM hub WHERE id > 4")
    shipped = con.serialize("main")
    con.deserialize("main", apply_ddl(shipped, ["ANALYZE hub"], tables=tables, max_indexes=0))
    assert con.execute("SELECT stat FROM sqlite_stat1 WHERE tbl = 'hub'").fetchall() == [("5",)]


def test_a_deadline_stops_a_slow_item(depot: bytes, tables: tuple[str, ...]) -> None:
    assert refusal_with_deadline(depot, tables).code is ErrorCode.TIMEOUT


def refusal_with_deadline(database: bytes, tables: tuple[str, ...]) -> DdlError:
    with pytest.raises(DdlError) as caught:
        apply_ddl(database, ["CREATE INDEX i ON parcel(story)"], tables=tables, max_indexes=1, deadline_s=0.0)
    return caught.value


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("PRAGMA user_version = 5", Rule.HEADER),
        ("PRAGMA application_id = 5", Rule.HEADER),
        ("VACUUM", None),
        ("CREATE TABLE extra (a)", Rule.SCHEMA),
        ("DROP INDEX parcel_grams", Rule.SCHEMA),
        ("ALTER TABLE parcel ADD COLUMN c", Rule.SCHEMA),
        ("CREATE UNIQUE INDEX u ON hub(id)", Rule.UNIQUE),
    ],
)
def test_the_second_net_holds_without_the_first(
    small: bytes, tables: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, statement: str, rule: Rule | None
) -> None:
    """With keyword check and authorizer out of the way, what a statement has changed gives it away."""
    monkeypatch.setattr(module, "_kind", lambda item, index: "index")
    monkeypatch.setattr(module._DdlRules, "__call__", lambda *args: apsw.SQLITE_OK)
    if rule is None:
        # No table is attached here, so the engine itself refuses.
        assert refusal(small, [statement], tables).code is ErrorCode.EXECUTION_ERROR
    else:
        assert refusal(small, [statement], tables).rule is rule


def test_bytes_that_are_no_database_are_our_trouble(tables: tuple[str, ...]) -> None:
    with pytest.raises(InfraError, match="infra_error: a database cannot be read"):
        apply_ddl(b"no database" * 1_000, ["ANALYZE"], tables=tables, max_indexes=0)
