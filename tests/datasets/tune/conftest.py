from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import apsw
import pytest

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import TuneDataset, tune_datasets
from sql_optim_env.datasets.tune.draws import gapped_ids
from sql_optim_env.datasets.tune.edges import Row, Value


class Bakery(TuneDataset):
    """A shape for tests of what all shapes share: every kind of column that matters to the edge instances."""

    name: ClassVar[str] = "tune_test_bakery"
    ddl: ClassVar[str] = """\
CREATE TABLE oven (
    id   INTEGER PRIMARY KEY,
    hall TEXT
);

CREATE TABLE loaf (
    id      INTEGER PRIMARY KEY,
    oven_id INTEGER,
    grams   INTEGER NOT NULL,
    crust   TEXT
);

CREATE TABLE stamp (
    code    TEXT UNIQUE,
    loaf_id INTEGER NOT NULL REFERENCES loaf (id)
);

CREATE INDEX loaf_oven ON loaf(oven_id);
"""
    tables: ClassVar[tuple[str, ...]] = ("oven", "loaf", "stamp")
    sizes: ClassVar[Mapping[str, int]] = {"oven": 12, "loaf": 300, "stamp": 90}
    references: ClassVar[Mapping[str, str]] = {"loaf.oven_id": "oven"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"oven.hall": ("north", "North")}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        ovens: list[Row] = [(number, f"hall {number}") for number in gapped_ids(dice, sizes["oven"])]
        loaves: list[Row] = [
            (number, dice.choice(ovens)[0], dice.randrange(1_000_000), f"crust {dice.randrange(1_000_000)}")
            for number in gapped_ids(dice, sizes["loaf"] if ovens else 0)
        ]
        stamps: list[Row] = [(f"code {k}", dice.choice(loaves)[0]) for k in range(sizes["stamp"] if loaves else 0)]
        return {"oven": ovens, "loaf": loaves, "stamp": stamps}


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A tune task as its files say it."""

    path: Path
    toml: Mapping[str, Any]

    @property
    def grader(self) -> Mapping[str, Any]:
        grader: Mapping[str, Any] = self.toml["grader"]
        return grader

    def sql(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8").rstrip()


def _folders() -> list[TaskFolder]:
    root = Path(str(files("sql_optim_env.tasks.builtin")))
    paths = sorted(path for path in root.iterdir() if path.name.startswith("tune_"))
    return [TaskFolder(path, tomllib.loads((path / "task.toml").read_text(encoding="utf-8"))) for path in paths]


@pytest.fixture(scope="session")
def bakery() -> TuneDataset:
    return Bakery()


@pytest.fixture(scope="session")
def datasets() -> Mapping[str, TuneDataset]:
    return {dataset.name: dataset for dataset in tune_datasets()}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TuneDataset, Instance], bytes]:
    """The bytes of an instance; each is built once a run."""
    known: dict[Instance, bytes] = {}

    def build(dataset: TuneDataset, instance: Instance) -> bytes:
        if instance not in known:
            path = tmp_path_factory.mktemp("tune") / "built.sqlite"
            dataset.build(instance, path)
            known[instance] = path.read_bytes()
            path.unlink()
        return known[instance]

    return build


@pytest.fixture(scope="session")
def opened() -> Callable[[bytes], apsw.Connection]:
    def connect(database: bytes) -> apsw.Connection:
        con = apsw.Connection(":memory:")
        con.deserialize("main", database)
        return con

    return connect


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument ``dataset`` runs once a dataset, one with an argument ``task`` once a task folder."""
    if "dataset" in metafunc.fixturenames:
        found = tune_datasets()
        metafunc.parametrize("dataset", found, ids=[dataset.name for dataset in found])
    if "task" in metafunc.fixturenames:
        folders = _folders()
        metafunc.parametrize("task", folders, ids=[folder.path.name for folder in folders])
