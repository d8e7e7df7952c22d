"""Every hazard stands somewhere among a dataset's hidden instances, as far as its constraints allow it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import apsw
import duckdb
import pytest

from sql_optim_env.datasets import Dataset, Instance
from sql_optim_env.datasets.edges import extract
from sql_optim_env.datasets.shop import bulk, schema
from sql_optim_env.datasets.tune import TuneDataset, tune_datasets
from sql_optim_env.datasets.tune.edges import table_info
from sql_optim_env.tasks.catalogue import catalogue

Rows = Sequence[tuple[Any, ...]]


@dataclass
class Hidden:
    """The rows of the small hidden instances of a dataset, and what its schema says."""

    columns: Mapping[str, tuple[str, ...]]
    nullable: Mapping[str, frozenset[str]]
    unique: Mapping[str, frozenset[str]]
    """Columns whose values cannot repeat."""
    references: Mapping[str, str]
    """``table.column`` → the table whose ids it holds and that a declared foreign key does not guard."""
    guarded: frozenset[str] = frozenset()
    """Columns under a foreign key or a CHECK."""
    rows: list[Mapping[str, Rows]] = field(default_factory=list)
    """For each instance, the rows of each table."""

    def values(self, table: str, column: str) -> Iterator[list[Any]]:
        at = self.columns[table].index(column)
        for instance in self.rows:
            yield [row[at] for row in instance[table]]

    def every(self, table: str, column: str) -> list[Any]:
        return [value for values in self.values(table, column) for value in values]

    def keys(self) -> Iterator[tuple[str, str]]:
        """Every column that may repeat."""
        for table, columns in self.columns.items():
            yield from ((table, column) for column in columns if column not in self.unique[table])


@pytest.fixture(scope="module")
def shop_hidden(filled: Callable[[Instance], duckdb.DuckDBPyConnection], adversarial_instances: tuple[Instance, ...]) -> Hidden:
    con = filled(adversarial_instances[0])
    described = {table: con.sql(f"DESCRIBE {table}").fetchall() for table in schema.TABLES}
    hidden = Hidden(
        columns={table: tuple(row[0] for row in rows) for table, rows in described.items()},
        nullable={table: frozenset(row[0] for row in rows if row[2] == "YES") for table, rows in described.items()},
        unique={table: frozenset({"id", "email"} if table == "users" else {"id"}) for table in schema.TABLES},
        references={},
        guarded=frozenset({"orders.customer_id", "orders.product_id", "events.user_id", *(f"{t}.{c}" for t, c in CHECKED)}),
    )
    for instance in adversarial_instances:
        con = filled(instance)
        hidden.rows.append({table: con.sql(f"SELECT * FROM {table}").fetchall() for table in schema.TABLES})
    return hidden


CHECKED = (("users", "tier"), ("users", "plan"), ("orders", "status"), ("events", "event_type"))


@pytest.fixture(scope="module", params=tune_datasets(), ids=lambda dataset: dataset.name)
def tune(request: pytest.FixtureRequest) -> TuneDataset:
    dataset: TuneDataset = request.param
    return dataset


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TuneDataset], Hidden]:
    """The edge instances of a tune dataset, built once a run."""
    return cache(lambda dataset: _edges(dataset, tmp_path_factory.mktemp(dataset.name)))


def _edges(dataset: TuneDataset, directory: Path) -> Hidden:
    connections = []
    for instance in dataset.instances:
        if instance.role == "edge":
            dataset.build(instance, directory / instance.name)
            connections.append(apsw.Connection(str(directory / instance.name)))
    infos = {table: table_info(connections[0], table) for table in dataset.tables}
    hidden = Hidden(
        columns={table: info.columns for table, info in infos.items()},
        nullable={table: info.nullable for table, info in infos.items()},
        unique={table: info.fixed for table, info in infos.items()},
        references=dataset.references,
        guarded=frozenset(f"{table}.{column}" for table, info in infos.items() for column in info.checked),
    )
    for con in connections:
        hidden.rows.append({table: con.execute(f"SELECT * FROM {table}").fetchall() for table in dataset.tables})
        con.close()
    return hidden


@pytest.fixture
def tune_hidden(tune: TuneDataset, grown: Callable[[TuneDataset], Hidden]) -> Hidden:
    return grown(tune)


@pytest.fixture(params=[None, *tune_datasets()], ids=lambda dataset: "shop" if dataset is None else dataset.name)
def hidden(request: pytest.FixtureRequest, shop_hidden: Hidden, grown: Callable[[TuneDataset], Hidden]) -> Hidden:
    return shop_hidden if request.param is None else grown(request.param)


def test_every_nullable_column_is_null_somewhere(hidden: Hidden) -> None:
    for table, columns in hidden.nullable.items():
        for column in columns:
            values = hidden.every(table, column)
            assert None in values and any(value is not None for value in values), f"{table}.{column}"


def test_rows_repeat_but_for_their_id(hidden: Hidden) -> None:
    for table, columns in hidden.columns.items():
        if hidden.unique[table] != {columns[0]}:
            continue  # something else than the id must not repeat
        counts = (Counter(row[1:] for row in instance[table]) for instance in hidden.rows)
        assert any(count > 1 for counted in counts for count in counted.values()), table


def test_every_sortable_key_has_ties_and_every_grouping_groups_of_one(hidden: Hidden) -> None:
    for table, column in hidden.keys():
        counts = [Counter(value for value in values if value is not None) for values in hidden.values(table, column)]
        assert any(count > 1 for counted in counts for count in counted.values()), f"ties of {table}.{column}"
        assert any(count == 1 for counted in counts for count in counted.values()), f"a group of one by {table}.{column}"


def test_every_table_is_empty_somewhere_and_filled_elsewhere(hidden: Hidden) -> None:
    tables = list(hidden.columns)
    assert any(not any(instance.values()) for instance in hidden.rows)
    for table in tables:
        assert any(instance[table] for instance in hidden.rows), table
    for table in tables[1:]:  # nothing can hang on an empty parent where the schema guards keys
        assert any(not instance[table] and any(instance.values()) for instance in hidden.rows), table


def test_keys_dangle_where_nothing_guards_them_and_parents_are_without_children(hidden: Hidden) -> None:
    for reference, parent in hidden.references.items():
        table, column = reference.split(".")
        ids = [set(values) for values in hidden.values(parent, hidden.columns[parent][0])]
        keys = [{value for value in values if value is not None} for values in hidden.values(table, column)]
        assert any(key - known for key, known in zip(keys, ids, strict=True)), f"{reference} never dangles"
        assert any(known - key for key, known in zip(keys, ids, strict=True)), f"every {parent} has a {reference}"


def test_numbers_are_zero_and_negative_where_nothing_forbids_it(hidden: Hidden) -> None:
    for table, column in hidden.keys():
        numbers = [value for value in hidden.every(table, column) if isinstance(value, int | Decimal)]
        if not numbers or f"{table}.{column}" in hidden.guarded | hidden.references.keys():
            continue
        assert 0 in numbers, f"{table}.{column}"
        assert min(numbers) < 0 or column == "price", f"{table}.{column}"  # a CHECK forbids it there


def test_texts_come_in_other_cases_with_blanks_empty_and_beyond_ascii(hidden: Hidden) -> None:
    for table, column in hidden.keys():
        texts = {value for value in hidden.every(table, column) if isinstance(value, str)}
        if not texts or f"{table}.{column}" in hidden.guarded:
            continue
        folded = Counter(text.casefold() for text in texts)
        assert max(folded.values()) > 1 or not any(text[:2].isalpha() for text in texts), f"cases of {table}.{column}"
        assert any(text != text.strip() and text.strip() in texts for text in texts), f"blanks of {table}.{column}"
        assert "" in texts, f"{table}.{column} is never empty"
        assert any(not text.isascii() for text in texts), f"{table}.{column} is ASCII only"


TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(("table", "column"), schema.TIME_COLUMNS)
def test_shop_times_stand_on_and_beside_boundaries_leap_days_and_clock_changes(shop_hidden: Hidden, table: str, column: str) -> None:
    times = set(shop_hidden.every(table, column))
    boundaries = [datetime(2024, month, 1) for month in range(1, 13)] + [datetime(2025, 1, 1)]
    # Users are few: not each of them has every boundary, but each side of some.
    least = len(boundaries) if table != "users" else 6
    for shift in (-TICK, timedelta(), TICK):
        assert len({boundary + shift for boundary in boundaries} & times) >= least, shift
    assert {moment.date() for moment in times} >= {date(2024, 2, 29), date(2023, 2, 28), date(2024, 12, 31)}
    changes = {date(2024, 3, 10), date(2024, 3, 31), date(2024, 10, 27), date(2024, 11, 3)}
    assert len({moment.date() for moment in times if moment.hour < 3} & changes) >= (4 if table != "users" else 2)
    new_year = datetime(2025, 1, 1)
    assert any(timedelta() < new_year - moment <= timedelta(hours=6) for moment in times)
    assert any(timedelta() < moment - new_year <= timedelta(hours=6) for moment in times)


def test_the_values_that_a_tune_query_compares_with_stand_there_and_on_both_sides(tune: TuneDataset, tune_hidden: Hidden) -> None:
    (task,) = (task for task in catalogue().hand_made() if task.family == "tune" and task.dataset == tune.name)
    for name, text in extract([task.sql, task.tune.reference_sql], "sqlite").numbers:
        for table, column in tune_hidden.keys():
            if column == name and f"{table}.{column}" in tune.hot:
                numbers = {value for value in tune_hidden.every(table, column) if isinstance(value, int)}
                number = int(text)
                assert number in numbers, (table, column, number)
                assert min(numbers) < number < max(numbers), (table, column, number)
                assert {number - 1, number + 1} & numbers, (table, column, number)


def test_another_instance_has_the_public_size_under_another_seed_with_the_skew_of_the_shop_reversed(shop: Dataset) -> None:
    public, other = (next(instance for instance in shop.instances if instance.name == name) for name in ("public", "mirrored"))
    assert other.seed != public.seed
    assert replace(bulk.MIRRORED, mirrored=False) == bulk.FULL
    small = bulk.BulkProfile(users=1_000, products=300, orders=5_000, events=8_000, id_step=1)
    usual, reversed_ = (duckdb.connect() for _ in range(2))
    for con, profile in ((usual, small), (reversed_, replace(small, mirrored=True))):
        con.execute(schema.DDL)
        bulk.fill(con, profile, public.seed)
    for table, column in (*CHECKED, ("users", "region"), ("products", "category")):
        query = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1"
        first, last = (con.execute(query).fetchall() for con in (usual, reversed_))
        frequent = {value for (value,) in first[: len(first) // 2]}
        assert last[0][0] not in frequent, f"{table}.{column}"
        assert first[0][0] not in {value for (value,) in last[: len(last) // 2]}, f"{table}.{column}"


def test_the_twins_of_a_tune_dataset_have_the_public_size_and_what_is_rare_there_is_common_on_an_edge(
    tune: TuneDataset, tune_hidden: Hidden
) -> None:
    twins = [instance for instance in tune.instances if instance.role == "twin"]
    assert {instance.profile for instance in twins} == {tune.public.profile}
    assert len({instance.seed for instance in (*twins, tune.public)}) == len(twins) + 1
    usual = tune.rows(Random(tune.name), {key: min(size, 2_000) for key, size in tune.sizes.items()})
    for hot in tune.hot:
        table, column = hot.split(".")
        at = tune_hidden.columns[table].index(column)
        ordinary = Counter(row[at] for row in usual[table]).most_common(1)[0]
        common = [Counter(values).most_common(1)[0][0] for values in tune_hidden.values(table, column) if values]
        assert any(value != ordinary[0] for value in common), hot
