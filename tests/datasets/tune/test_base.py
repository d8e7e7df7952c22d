from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import TuneDataset
from sql_optim_env.datasets.tune.base import PAGE_SIZE


def _instance(dataset: TuneDataset, name: str) -> Instance:
    return next(instance for instance in dataset.instances if instance.name == name)


def test_the_instances_are_a_public_one_two_twins_and_edges(bakery: TuneDataset) -> None:
    assert [(instance.name, instance.role) for instance in bakery.instances[:3]] == [
        ("public", "public"),
        ("twin_1", "twin"),
        ("twin_2", "twin"),
    ]
    assert {instance.role for instance in bakery.instances[3:]} == {"edge"}
    assert len({instance.seed for instance in bakery.instances}) == len(bakery.instances)


@pytest.mark.parametrize("name", ["twin_1", "edge_mixed"])
def test_an_instance_is_the_same_bytes_every_time(bakery: TuneDataset, tmp_path: Path, name: str) -> None:
    instance = _instance(bakery, name)
    bakery.build(instance, tmp_path / "one.sqlite")
    bakery.build(instance, tmp_path / "another.sqlite")
    assert (tmp_path / "one.sqlite").read_bytes() == (tmp_path / "another.sqlite").read_bytes()


def test_twins_are_of_the_same_size_and_hold_other_rows(bakery: TuneDataset, built: Callable[[TuneDataset, Instance], bytes]) -> None:
    first, second = (built(bakery, _instance(bakery, name)) for name in ("public", "twin_1"))
    assert len(first) == len(second)
    assert first != second


def test_a_file_has_small_pages_a_rollback_journal_and_no_statistics(
    bakery: TuneDataset, built: Callable[[TuneDataset, Instance], bytes], opened: Callable[[bytes], apsw.Connection]
) -> None:
    database = built(bakery, bakery.public)
    con = opened(database)
    assert int.from_bytes(database[16:18], "big") == con.pragma("page_size") == PAGE_SIZE
    assert database[18:20] == b"\x01\x01"  # file format versions: 2 would be write-ahead logging, which cannot be deserialised
    assert con.execute("SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL").fetchall() == [
        ("table", "oven"),
        ("table", "loaf"),
        ("table", "stamp"),
        ("index", "loaf_oven"),
    ]


def test_build_counts_the_rows_and_leaves_one_file(bakery: TuneDataset, tmp_path: Path) -> None:
    assert bakery.build(bakery.public, tmp_path / "it.sqlite") == {"oven": 12, "loaf": 300, "stamp": 90}
    assert [path.name for path in tmp_path.iterdir()] == ["it.sqlite"]


def test_statistics_ship_when_the_schema_says_so(bakery: TuneDataset, tmp_path: Path, opened: Callable[[bytes], apsw.Connection]) -> None:
    class Analysed(type(bakery)):
        ddl = bakery.ddl + "\nANALYZE;\n"

    Analysed().build(bakery.public, tmp_path / "it.sqlite")
    con = opened((tmp_path / "it.sqlite").read_bytes())
    assert con.execute("SELECT stat FROM sqlite_stat1 WHERE idx = 'loaf_oven'").fetchall() == [("300 25",)]


def test_schema_info_is_the_schema_with_row_counts(bakery: TuneDataset) -> None:
    text = bakery.schema_info({"oven": 1, "loaf": 1_300})
    assert "-- 1 row\nCREATE TABLE oven (" in text
    assert "-- 1,300 rows\nCREATE TABLE loaf (" in text
    assert "\n\nCREATE TABLE stamp (" in text
    assert text.endswith("\n\nCREATE INDEX loaf_oven ON loaf(oven_id);\n")
    assert text.replace("-- 1 row\n", "").replace("-- 1,300 rows\n", "") == bakery.ddl


def test_a_dataset_adds_no_instances_for_a_task(bakery: TuneDataset) -> None:
    assert bakery.edge_instances(["SELECT 1"]) == ()


def test_the_versions_name_the_generator_and_the_engine(bakery: TuneDataset, datasets: dict[str, TuneDataset]) -> None:
    assert bakery.engine_version == apsw.sqlite_lib_version()
    versions = [bakery.version, *(dataset.version for dataset in datasets.values())]
    assert len(set(versions)) == len(versions)
