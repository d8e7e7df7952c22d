"""What every dataset of the family must have, whatever it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import apsw

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import TuneDataset
from sql_optim_env.datasets.tune.edges import PROFILES, table_info

Built = Callable[[TuneDataset, Instance], bytes]
Opened = Callable[[bytes], apsw.Connection]


def test_datasets_are_found_by_their_names(datasets: Mapping[str, TuneDataset]) -> None:
    assert len(datasets) >= 12
    assert all(name.startswith("tune_") for name in datasets)
    assert datasets["tune_seed_bank"].tables == ("accession",)


def test_a_generator_is_a_pure_function_of_its_dice(dataset: TuneDataset) -> None:
    sizes = {key: min(size, 60) for key, size in dataset.sizes.items()}
    first, again, other = (dataset.rows(Random(seed), sizes) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert tuple(first) == dataset.tables


def test_a_measured_instance_has_as_many_rows_as_its_sizes_say(dataset: TuneDataset) -> None:
    rows = dataset.rows(Random(f"{dataset.name}:fresh"), dataset.sizes)
    assert {table: len(rows[table]) for table in dataset.tables} == {table: dataset.sizes[table] for table in dataset.tables}


def test_references_and_hot_values_name_columns_that_exist(dataset: TuneDataset, built: Built, opened: Opened) -> None:
    con = opened(built(dataset, dataset.instances[3]))
    columns = {f"{table}.{column}" for table in dataset.tables for column in table_info(con, table).columns}
    assert {*dataset.references, *dataset.hot} <= columns
    assert set(dataset.references.values()) <= set(dataset.tables)


def test_no_value_is_a_float(dataset: TuneDataset, built: Built, opened: Opened) -> None:
    con = opened(built(dataset, next(instance for instance in dataset.instances if instance.profile == "mixed")))
    for table in dataset.tables:
        for column in table_info(con, table).columns:
            assert con.execute(f"SELECT COUNT(*) FROM {table} WHERE typeof({column}) = 'real'").fetchall() == [(0,)]


def test_every_nullable_column_is_null_somewhere(dataset: TuneDataset, built: Built, opened: Opened) -> None:
    con = opened(built(dataset, next(instance for instance in dataset.instances if instance.profile == "nulls")))
    for table in dataset.tables:
        info = table_info(con, table)
        for column in info.nullable - info.fixed:
            ((nulls, rows),) = con.execute(f"SELECT SUM({column} IS NULL), COUNT(*) FROM {table}")
            assert 0 < nulls < rows, f"{table}.{column}"


def test_ids_have_gaps(dataset: TuneDataset, built: Built, opened: Opened) -> None:
    con = opened(built(dataset, next(instance for instance in dataset.instances if instance.profile == "mixed")))
    for table in dataset.tables:
        if table_info(con, table).rowid is not None:
            ((greatest, count),) = con.execute(f"SELECT MAX(rowid), COUNT(*) FROM {table}")
            assert greatest > count


def test_edge_instances_are_small(dataset: TuneDataset, built: Built) -> None:
    for instance in dataset.instances:
        if instance.role == "edge":
            assert len(built(dataset, instance)) < 1_000_000
    assert sum(instance.role == "edge" for instance in dataset.instances) == len(PROFILES)
