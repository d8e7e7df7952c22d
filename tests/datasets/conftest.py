from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.datasets import Dataset, DatasetStore, Instance, default_data_dir, get_dataset
from sql_optim_env.datasets.shop import adversarial, edge, schema, small

Capture = tuple[tuple[str, ...], tuple[str, ...], Counter[str]]


@pytest.fixture(scope="session")
def shop() -> Dataset:
    return get_dataset("shop")


@pytest.fixture(scope="session")
def shared_store() -> DatasetStore:
    """A store that outlives the test run; tests only ever read what it holds."""
    return DatasetStore(default_data_dir())


@pytest.fixture(scope="module")  # closed again: a process cannot hold a file open under two configurations
def public(shop: Dataset, shared_store: DatasetStore) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(shared_store.ensure(shop.instances[0])), read_only=True, config={"threads": 1}) as con:
        yield con


@pytest.fixture(scope="module")  # closed again: a process cannot hold a file open under two configurations
def twin(shop: Dataset, shared_store: DatasetStore) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(shared_store.ensure(shop.instances[1])), read_only=True, config={"threads": 1}) as con:
        yield con


@pytest.fixture(scope="session")
def filled() -> Callable[[Instance], duckdb.DuckDBPyConnection]:
    """A small instance in memory: the generator's rows behind the real DDL, without a file. Instances share an engine, each in a schema."""
    engine = duckdb.connect(config={"threads": 1})
    ready: dict[Instance, str] = {}

    def fill(instance: Instance) -> duckdb.DuckDBPyConnection:
        if instance not in ready:
            ready[instance] = f"s{len(ready)}"
            engine.execute(f"CREATE SCHEMA {ready[instance]}; SET schema = '{ready[instance]}'")
            engine.execute(schema.DDL)
            if instance.role == "edge":
                small.insert(engine, edge.rows(instance.profile, instance.seed, instance.payload))
            else:
                small.insert(engine, adversarial.rows(instance.profile, instance.seed))
        engine.execute(f"SET schema = '{ready[instance]}'")
        return engine

    return fill


@pytest.fixture(scope="session")
def adversarial_instances(shop: Dataset) -> tuple[Instance, ...]:
    """The small ones."""
    return tuple(instance for instance in shop.instances if instance.profile in adversarial.PROFILES)


@pytest.fixture(scope="session")
def capture() -> Callable[[duckdb.DuckDBPyConnection, str], Capture]:
    """Names, types and the multiset of rows of a result: two captures are equal when a grader would call them equal."""

    def run(con: duckdb.DuckDBPyConnection, sql: str) -> Capture:
        result = con.sql(sql)
        return tuple(result.columns), tuple(map(str, result.types)), Counter(map(repr, result.fetchall()))

    return run


@pytest.fixture(scope="session")
def scalar() -> Callable[[duckdb.DuckDBPyConnection, str], Any]:
    def run(con: duckdb.DuckDBPyConnection, sql: str) -> Any:
        rows = con.sql(sql).fetchall()
        assert len(rows) == 1 and len(rows[0]) == 1
        return rows[0][0]

    return run


def _cases(name: str) -> list[dict[str, str]]:
    cases: list[dict[str, str]] = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return cases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument ``careless`` or ``edge_query`` runs once for each case of the file of that name."""
    for argument, name in (("careless", "careless.json"), ("edge_query", "edge_queries.json")):
        if argument in metafunc.fixturenames:
            cases = _cases(name)
            metafunc.parametrize(argument, cases, ids=[case["name"] for case in cases])
