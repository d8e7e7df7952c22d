from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from random import Random

import apsw
import pytest

from sql_optim_env.datasets.generate.tune import COUNTS, generated_dataset, make_plan, numbers_of, plan_of, task_name
from sql_optim_env.datasets.generate.tune.plan import SHAPES
from sql_optim_env.datasets.generate.tune.shape import with_gaps
from sql_optim_env.datasets.registry import dataset_names, get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.datasets.tune import tune_datasets
from sql_optim_env.errors import InvalidArgumentError

PLANS = {split: [make_plan(split, index) for index in range(count)] for split, count in COUNTS.items()}
ONE_A_SHAPE = [task_name("train", index) for index in range(len(SHAPES))]


def test_there_are_two_hundred_to_train_and_forty_to_test() -> None:
    assert COUNTS == {"train": 200, "test": 40}


@pytest.mark.parametrize("split", COUNTS)
def test_every_shape_meets_every_domain_of_its_split_once(split: str) -> None:
    pairs = {(plan.shape, plan.domain.owner) for plan in PLANS[split]}
    assert len(pairs) == len(PLANS[split])
    assert {shape for shape, _ in pairs} == set(SHAPES)


def test_no_table_of_the_test_split_is_in_the_train_split() -> None:
    tables = {split: {table for plan in plans for table in get_dataset(plan.name).tables} for split, plans in PLANS.items()}
    assert not tables["train"] & tables["test"]
    assert not {plan.domain.setting for plan in PLANS["train"]} & {plan.domain.setting for plan in PLANS["test"]}


def test_names_are_plain_identifiers_that_collide_nowhere() -> None:
    for plan in (*PLANS["train"], *PLANS["test"]):
        d = plan.domain
        tables = [d.owner, d.record, d.link.table, *(child.table for child in d.children)]
        columns = ["id", d.owner_id, d.record_id, d.label, d.group, d.leaflet, d.kind, d.when, d.first, d.second, d.note]
        aliases = [d.records, *(child.plural for child in d.children)]
        for names in (tables, columns, aliases, d.kinds):
            assert len(set(names)) == len(names), d
            assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names), d


def test_a_dataset_is_found_by_the_name_of_its_task_and_not_listed() -> None:
    dataset = get_dataset("tune_g_train_0007")
    assert dataset.name == "tune_g_train_0007"
    assert dataset is get_dataset("tune_g_train_0007")
    assert dataset.dialect == "sqlite"
    assert [instance.role for instance in dataset.instances[:4]] == ["public", "twin", "twin", "edge"]
    assert dataset.instances[0].dataset == "tune_g_train_0007"
    assert not set(dataset_names()) & {plan.name for plan in PLANS["train"]}


@pytest.mark.parametrize("name", ["tune_g_train_0200", "tune_g_test_0040", "tune_g_train_7", "tune_g_dev_0000", "tune_g_train_0007 "])
def test_a_name_that_no_generated_task_has_is_refused(name: str) -> None:
    assert plan_of(name) is None
    assert generated_dataset(name) is None
    with pytest.raises(InvalidArgumentError, match=r"tune_g_train_0000 to tune_g_train_0199, tune_g_test_0000 to tune_g_test_0039$"):
        get_dataset(name)


def test_a_plan_outside_its_split_is_refused() -> None:
    with pytest.raises(IndexError, match="test has 40 generated tasks"):
        make_plan("test", 40)


@pytest.mark.parametrize("name", ONE_A_SHAPE)
def test_the_same_instance_is_the_same_file_and_is_there_within_a_second(name: str, tmp_path: Path) -> None:
    dataset = get_dataset(name)
    digests, seconds = [], []
    for copy in ("one", "two"):
        began = time.process_time()
        counts = dataset.build(dataset.public, tmp_path / copy)
        seconds.append(time.process_time() - began)
        digests.append(hashlib.sha256((tmp_path / copy).read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    assert min(seconds) < 1
    assert (tmp_path / "one").stat().st_size <= 6_000_000
    assert all(f"-- {count:,} rows" in dataset.schema_info(counts) for count in counts.values())
    dataset.build(dataset.instances[1], tmp_path / "twin")
    assert hashlib.sha256((tmp_path / "twin").read_bytes()).hexdigest() != digests[0]


@pytest.mark.parametrize("name", ONE_A_SHAPE)
def test_every_edge_instance_can_be_built_and_holds_what_it_is_named_for(name: str, tmp_path: Path) -> None:
    dataset = get_dataset(name)
    for instance in dataset.instances[3:]:
        counts = dataset.build(instance, tmp_path / instance.name)
        con = apsw.Connection(str(tmp_path / instance.name), flags=apsw.SQLITE_OPEN_READONLY)
        found = {table: con.execute(f"SELECT count(*) FROM {table}").get for table in dataset.tables}
        con.close()
        assert found == counts
        filled = [table for table in dataset.tables if counts[table]]
        expected = {
            "edge_empty": [],
            "edge_first_empty": list(dataset.tables[1:]),
            "edge_others_empty": [dataset.tables[0]],
        }
        assert filled == expected.get(instance.name, list(dataset.tables))


def test_a_page_deep_in_the_list_is_there_on_edge_instances_too(tmp_path: Path) -> None:
    plan = next(plan for plan in PLANS["test"] if plan.shape == "page")
    dataset, numbers = get_dataset(plan.name), numbers_of(plan)
    edge = next(instance for instance in dataset.instances if instance.profile == "nulls")
    assert dataset.build(edge, tmp_path / "edge")[plan.domain.record] >= numbers["skipped"] + numbers["length"]


def test_generated_datasets_may_be_kept_in_a_directory_of_their_own(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "built", generated=tmp_path / "later")
    edge = get_dataset("tune_g_test_0003").instances[3]
    assert store.ensure(edge).is_relative_to(tmp_path / "later" / "tune_g_test_0003")
    assert store.derived(edge, "key", "txt", lambda path: path.write_text("x") and None).is_relative_to(tmp_path / "later")
    assert store.path(get_dataset("shop").public).is_relative_to(tmp_path / "built")
    assert DatasetStore(tmp_path / "built").path(edge).is_relative_to(tmp_path / "built")


def test_generated_datasets_share_a_version_that_others_do_not() -> None:
    versions = {get_dataset(name).version for name in ONE_A_SHAPE}
    assert len(versions) == 1
    assert not versions & {dataset.version for dataset in tune_datasets()}


def test_ids_with_gaps_are_even_but_for_exact_shares_of_none_and_nobody() -> None:
    deck = with_gaps(Random(3), [10, 20], 100, missing=8, dangling=12)
    assert len(deck) == 100
    assert [deck.count(value) for value in (None, 10, 20)] == [8, 40, 40]
    assert all(value is None or value in (10, 20) or value > 20 for value in deck)
    assert with_gaps(Random(3), [], 4, missing=0, dangling=0).count(None) == 0


def test_a_task_draws_the_same_numbers_every_time_and_others_than_its_neighbours() -> None:
    plans = [*PLANS["train"], *PLANS["test"]]
    assert all(numbers_of(plan) == numbers_of(plan) for plan in plans)
    assert len({str(numbers_of(plan)) for plan in plans}) == len(plans)
