from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import apsw
import pytest

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import TuneDataset
from sql_optim_env.datasets.tune.edges import PROFILES, TableInfo, table_info

Rows = Callable[[str, str], list[tuple[object, ...]]]

_FILLED = [name for name, profile in PROFILES.items() if profile.rows > 30]


@pytest.fixture
def rows(bakery: TuneDataset, built: Callable[[TuneDataset, Instance], bytes], opened: Callable[[bytes], apsw.Connection]) -> Rows:
    """What a query finds in an edge instance of the bakery."""
    instances = {instance.profile: instance for instance in bakery.instances}

    def fetch(profile: str, sql: str) -> list[tuple[object, ...]]:
        return opened(built(bakery, instances[profile])).execute(sql).fetchall()

    return fetch


def test_the_schema_tells_which_columns_may_hold_what(
    bakery: TuneDataset, built: Callable[[TuneDataset, Instance], bytes], opened: Callable[[bytes], apsw.Connection]
) -> None:
    con = opened(built(bakery, bakery.public))
    loaf, stamp = table_info(con, "loaf"), table_info(con, "stamp")
    assert loaf == TableInfo(("id", "oven_id", "grams", "crust"), frozenset({"oven_id", "crust"}), frozenset({"id"}), 0)
    assert stamp == TableInfo(("code", "loaf_id"), frozenset({"code"}), frozenset({"code", "loaf_id"}), None)


@pytest.mark.parametrize("profile", _FILLED)
def test_a_filled_edge_instance_is_small_and_holds_every_hazard(rows: Rows, profile: str) -> None:
    ((loaves, nulls, distinct, dangling),) = rows(
        profile,
        """SELECT COUNT(*), SUM(crust IS NULL), COUNT(DISTINCT grams), SUM(oven_id NOT IN (SELECT id FROM oven)) FROM loaf""",
    )
    assert isinstance(loaves, int) and isinstance(nulls, int) and isinstance(distinct, int) and isinstance(dangling, int)
    assert 40 <= loaves <= 150
    assert 0 < nulls < loaves
    assert 0 < dangling < loaves
    assert distinct < loaves


@pytest.mark.parametrize("profile", _FILLED)
def test_what_the_query_asks_for_is_common(rows: Rows, profile: str) -> None:
    halls = Counter(hall for (hall,) in rows(profile, "SELECT hall FROM oven"))
    assert halls["north"] > 0 or profile == "reversed"
    assert halls["north"] + halls["North"] >= 3


def test_each_profile_exaggerates_its_own_hazard(rows: Rows) -> None:
    def share(profile: str, condition: str) -> float:
        ((value,),) = rows(profile, f"SELECT AVG({condition}) FROM loaf l")
        assert isinstance(value, float)
        return value

    for profile, condition in {
        "nulls": "crust IS NULL",
        "dangling": "oven_id NOT IN (SELECT id FROM oven)",
        "ties": "grams IN (SELECT grams FROM loaf GROUP BY grams HAVING COUNT(*) > 5)",
        "repeats": "EXISTS (SELECT 1 FROM loaf o WHERE o.id <> l.id AND (o.grams, o.crust, o.oven_id) IS (l.grams, l.crust, l.oven_id))",
    }.items():
        assert share(profile, condition) > 1.5 * max(
            share(other, condition) for other in ("mixed", "nulls", "dangling") if other != profile
        )


def test_what_must_be_unique_stays_unique_and_what_is_declared_a_key_does_not_dangle(rows: Rows) -> None:
    assert rows("repeats", "SELECT COUNT(*), COUNT(DISTINCT code) FROM stamp") == [(40, 40)]
    assert rows("dangling", "SELECT COUNT(*) FROM stamp WHERE loaf_id NOT IN (SELECT id FROM loaf)") == [(0,)]


def test_copies_of_a_parent_have_children(rows: Rows) -> None:
    ((parents,),) = rows(
        "repeats", "SELECT COUNT(*) FROM oven o WHERE id > (SELECT MAX(id) FROM oven) / 2 AND id IN (SELECT oven_id FROM loaf)"
    )
    assert isinstance(parents, int)
    assert parents > 2


def test_tables_are_empty_as_the_profile_says(rows: Rows) -> None:
    def counts(profile: str) -> list[bool]:
        return [rows(profile, f"SELECT COUNT(*) FROM {table}") != [(0,)] for table in ("oven", "loaf", "stamp")]

    assert counts("empty") == [False, False, False]
    assert counts("first_empty") == [False, True, True]
    assert counts("others_empty") == [True, False, False]
