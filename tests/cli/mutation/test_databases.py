from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from sql_optim_env.cli.mutation import shop_databases
from sql_optim_env.cli.mutation.databases import Verdict
from sql_optim_env.cli.mutation.shop_databases import ShopDatabase, ShopDatabases
from sql_optim_env.cli.mutation.tune_databases import TuneDatabases
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.tasks.catalogue import catalogue

REWRITE = catalogue().get("task_6_segment_revenue")
TUNE = catalogue().get("tune_beehives")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[ShopDatabases]:
    yield ShopDatabases(REWRITE, DatasetStore(tmp_path))
    shop_databases._engine.cache_clear()


def test_a_mutant_is_given_the_types_and_names_of_the_original_so_that_only_rows_can_tell(shop: ShopDatabases) -> None:
    doubled = REWRITE.sql.replace("COUNT(*) AS orders", "SUM(2) AS n")
    fitted = shop.fitted(doubled)
    assert fitted is not None
    assert 'CAST("n" AS BIGINT) AS "orders"' in fitted
    assert shop.fitted(REWRITE.sql) == REWRITE.sql
    assert shop.fitted("SELECT nothing FROM orders") is None
    mixed = ShopDatabase("mixed", 100)
    assert shop.verdict(REWRITE.sql, mixed) == Verdict(False)
    assert shop.verdict(fitted, mixed) == Verdict(True)


def test_a_failure_while_it_runs_is_a_difference_and_running_out_of_time_is_none(
    shop: ShopDatabases, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = ShopDatabase("mixed", 100)
    assert shop.verdict("SELECT region, 1::BIGINT AS orders, (email::INTEGER)::DECIMAL(38,2) AS revenue FROM users", mixed).differs
    monkeypatch.setattr(shop_databases, "DEADLINE_S", 0.1)
    endless = (
        "SELECT count(*) AS orders FROM orders a, orders b, orders c, orders d, orders e WHERE hash(a.id + b.id, c.id, d.id + e.id) = 7"
    )
    assert shop.verdict(endless, mixed) == Verdict(False, undecided=True)


def test_databases_around_the_literals_of_a_mutant_are_tried_only_when_it_has_others(shop: ShopDatabases) -> None:
    assert list(shop.searched_for(REWRITE.sql)) == []
    around = list(shop.searched_for(REWRITE.sql.replace("2024-01-01", "2024-01-02")))
    assert len(around) > 10
    assert all("2024-01-02" in database.payload for database in around)
    assert len({(database.profile, database.seed) for database in shop.searched()}) > 100


def test_the_small_instances_that_grade_a_rewrite_are_all_there(shop: ShopDatabases) -> None:
    names = [database.profile for database in shop.grading()]
    assert {"mixed", "ties", "empty", "dense", "bursts"} <= set(names)
    assert not {"full", "half", "mirrored"} & set(names)


def test_tune_databases_tell_a_wrong_submission_from_a_right_one(tmp_path: Path) -> None:
    databases = TuneDatabases(TUNE, DatasetStore(tmp_path))
    reference = TUNE.tune.reference_sql
    wrong = databases.fitted(reference.replace("'foulbrood'", "'foulbrood '").replace("i.hive", "i.hive AS other"))
    assert wrong is not None
    assert '"other" AS "hive"' in wrong
    tried = list(islice(databases.searched(), 30))
    assert any(databases.verdict(wrong, key).differs for key in tried)
    assert not any(databases.verdict(reference, key).differs for key in tried)
    assert databases.fitted(reference.replace("i.hive", "i.honey")) is None
