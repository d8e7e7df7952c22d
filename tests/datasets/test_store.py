from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.datasets import Dataset, DatasetStore, Instance, default_data_dir, get_dataset
from sql_optim_env.datasets import store as store_module
from sql_optim_env.datasets.shop import Shop
from sql_optim_env.errors import InfraError


@pytest.fixture
def instance(adversarial_instances: tuple[Instance, ...]) -> Instance:
    """The cheapest instance that has rows."""
    return next(instance for instance in adversarial_instances if instance.name == "single")


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, messages: list[str]) -> DatasetStore:
    return DatasetStore(tmp_path / "data", messages.append)


def rows(path: Path) -> list[Any]:
    with duckdb.connect(str(path), read_only=True) as con:
        return con.sql("FROM orders").fetchall()


def tree(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(root)): (path.stat().st_mtime_ns, path.stat().st_ino) for path in sorted(root.rglob("*"))}


def writes(text: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_text(text)

    return make


def manifest(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def test_an_instance_is_built_once_and_found_again(store: DatasetStore, instance: Instance, messages: list[str]) -> None:
    path = store.ensure(instance)
    assert len(rows(path)) == 1
    assert store.ensure(instance) == path == store.path(instance)
    assert DatasetStore(store.root, messages.append).ensure(instance) == path
    assert [message.split()[0] for message in messages] == ["building", "built"]
    assert messages[0] == "building shop/single"
    assert messages[1].startswith("built shop/single: 4 rows")


def test_the_path_is_known_before_anything_is_built(store: DatasetStore, instance: Instance) -> None:
    path = store.path(instance)
    assert path.relative_to(store.root).parts[0] == "shop"
    assert path.name == "single.duckdb"
    assert not store.root.exists()


def test_a_file_is_named_after_its_engine(store: DatasetStore) -> None:
    instance = get_dataset("tune_seed_bank").public
    assert store.path(instance).name == "public.sqlite"


def test_row_counts_come_with_the_instance(store: DatasetStore, instance: Instance) -> None:
    assert store.row_counts(instance) == {"users": 1, "products": 1, "orders": 1, "events": 1}


def test_ensure_all_keeps_the_order(store: DatasetStore, adversarial_instances: tuple[Instance, ...]) -> None:
    wanted = [instance for instance in adversarial_instances if instance.name in ("single", "empty")]
    assert store.ensure_all(wanted) == tuple(map(store.path, wanted))


@pytest.mark.parametrize("change", [{"seed": 1}, {"profile": "ties"}, {"payload": "{}"}, {"role": "edge"}, {"name": "other"}])
def test_every_field_of_an_instance_is_part_of_its_place(store: DatasetStore, instance: Instance, change: dict[str, Any]) -> None:
    assert store.path(replace(instance, **change)).parent != store.path(instance).parent


@pytest.mark.parametrize("fact", ["engine_version", "ddl"])
def test_engine_and_schema_are_part_of_the_place(
    store: DatasetStore, instance: Instance, fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.path(instance)
    monkeypatch.setattr(Shop, fact, "another")
    assert store.path(instance).parent != before.parent


def test_the_generator_is_part_of_the_place(
    store: DatasetStore, instance: Instance, shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.path(instance)
    monkeypatch.setitem(vars(shop), "version", "another")
    assert store.path(instance).parent != before.parent


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _garble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated": _truncate,
    "garbled": _garble,
    "emptied": lambda path: path.write_bytes(b""),
    "removed": lambda path: path.unlink(),
    "without manifest": lambda path: manifest(path).unlink(),
    "with a garbled manifest": lambda path: manifest(path).write_text("{"),
    "with a manifest of another form": lambda path: manifest(path).write_text('{"size": 1}'),
    "with a manifest that is no object": lambda path: manifest(path).write_text("[]"),
    "with the manifest of another file": lambda path: manifest(path).write_text(
        json.dumps({"size": path.stat().st_size, "checksum": "0" * 32, "row_counts": {}})
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_instance_is_built_again(
    store: DatasetStore, instance: Instance, messages: list[str], damage: Callable[[Path], None]
) -> None:
    path = store.ensure(instance)
    whole = path.read_bytes()
    damage(path)
    fresh = DatasetStore(store.root, messages.append)
    assert fresh.ensure(instance).read_bytes() == whole
    assert sum(message.startswith("building") for message in messages) == 2
    assert fresh.row_counts(instance)["orders"] == 1


def test_a_store_notices_damage_done_while_it_is_in_use(store: DatasetStore, instance: Instance) -> None:
    path = store.ensure(instance)
    whole = path.read_bytes()
    path.write_bytes(b"short")
    assert store.ensure(instance).read_bytes() == whole


def test_a_failed_build_leaves_nothing_behind(store: DatasetStore, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Shop, instance: Instance, path: Path) -> dict[str, int]:
        path.write_bytes(b"half a file")
        raise duckdb.IOException(f"no space left for {path}")

    with monkeypatch.context() as patch:
        patch.setattr(Shop, "build", fail)
        with pytest.raises(InfraError, match=r"^infra_error: cannot build shop/single: IOException$"):
            store.ensure(instance)
    path = store.path(instance)
    assert not path.exists() and not manifest(path).exists()
    assert not list(path.parent.glob("*draft*"))
    assert len(rows(store.ensure(instance))) == 1


def test_nothing_is_to_be_seen_until_the_build_is_complete(
    store: DatasetStore, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    build = Shop.build

    def watched(self: Shop, instance: Instance, path: Path) -> dict[str, int]:
        counts = build(self, instance, path)
        seen.append((store.path(instance).exists(), path.stat().st_dev == store.root.stat().st_dev))
        return counts

    monkeypatch.setattr(Shop, "build", watched)
    store.ensure(instance)
    assert seen == [(False, True)]


def test_drafts_of_a_killed_builder_are_cleared_away(store: DatasetStore, instance: Instance) -> None:
    path = store.path(instance)
    stale = path.parent / f".{path.name}.draft-killed"
    stale.mkdir(parents=True)
    (stale / path.name).write_bytes(b"half")
    store.ensure(instance)
    assert not stale.exists()


BUILDER = """
import sys
from pathlib import Path
from sql_optim_env.datasets import DatasetStore, get_dataset
store = DatasetStore(Path(sys.argv[1]), lambda message: print(message, flush=True))
instance = next(i for i in get_dataset("shop").instances if i.name == sys.argv[2])
print("ready", flush=True)
print(len(store.ensure(instance).read_bytes()), flush=True)
"""


def test_of_two_processes_that_start_together_one_builds_and_both_see_the_whole_file(tmp_path: Path, instance: Instance) -> None:
    store = DatasetStore(tmp_path)
    path = store.path(instance)
    path.parent.mkdir(parents=True)
    with store_module._locked(path):  # both wait here, so neither can be done before the other begins
        command = [sys.executable, "-c", BUILDER, str(tmp_path), instance.name]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert not path.exists()
    outputs = [process.communicate(timeout=60)[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    size = str(path.stat().st_size)
    assert sorted(map(len, outputs)) == [1, 3]  # the one that waited has nothing to say but the size
    assert [lines[-1] for lines in outputs] == [size, size]


@pytest.fixture
def untouchable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody may take a lock, make a directory or open a file for writing."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        patch.setattr(tempfile, "mkdtemp", refuse)
        patch.setattr(Path, "mkdir", refuse)
        patch.setattr(os, "open", refuse)
        yield


@pytest.fixture
def prebuilt(store: DatasetStore, instance: Instance) -> DatasetStore:
    store.ensure(instance)
    store.derived(instance, "size", "txt", writes("4"))
    return DatasetStore(store.root)


def test_a_data_directory_that_holds_everything_is_only_read(prebuilt: DatasetStore, instance: Instance, untouchable: None) -> None:
    before = tree(prebuilt.root)
    assert prebuilt.ensure(instance) == prebuilt.path(instance)
    assert prebuilt.row_counts(instance)["users"] == 1
    assert prebuilt.derived(instance, "size", "txt", lambda path: pytest.fail("made again")).read_text() == "4"
    assert tree(prebuilt.root) == before


def test_what_a_read_only_directory_lacks_is_reported_as_our_trouble(prebuilt: DatasetStore, instance: Instance, untouchable: None) -> None:
    with pytest.raises(InfraError, match=r"cannot write empty\.duckdb in the data directory: Read-only file system"):
        prebuilt.ensure(replace(instance, name="empty", profile="empty"))


def test_a_file_where_the_data_directory_should_be_is_our_trouble(tmp_path: Path, instance: Instance) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(InfraError, match="cannot write"):
        DatasetStore(tmp_path / "data").ensure(instance)


def test_derived_files_are_made_once_for_each_key(store: DatasetStore, instance: Instance) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text(f"{len(made)}")

    first = store.derived(instance, "weights 1", ".json", make)
    assert first.read_text() == "1" and first.suffix == ".json"
    assert store.derived(instance, "weights 1", "json", make) == first
    assert DatasetStore(store.root).derived(instance, "weights 1", "json", make) == first
    second = store.derived(instance, "weights 2", "json", make)
    assert second != first and second.read_text() == "2"
    assert len(made) == 2


def test_derived_files_of_two_instances_are_apart(store: DatasetStore, instance: Instance) -> None:
    other = replace(instance, seed=instance.seed + 1)
    first = store.derived(instance, "key", "txt", writes("a"))
    second = store.derived(other, "key", "txt", writes("b"))
    assert (first.read_text(), second.read_text()) == ("a", "b")


def test_a_damaged_derived_file_is_made_again(store: DatasetStore, instance: Instance) -> None:
    path = store.derived(instance, "key", "txt", writes("whole"))
    path.write_text("harmed")
    again = DatasetStore(store.root).derived(instance, "key", "txt", writes("whole"))
    assert again == path and path.read_text() == "whole"


def test_what_make_raises_is_passed_on_and_nothing_is_kept(store: DatasetStore, instance: Instance) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError, match="in the middle"):
        store.derived(instance, "key", "txt", fail)
    kept = [path.name for path in (store.path(instance).parent / "derived").iterdir()]
    assert [name for name in kept if not name.endswith(".lock")] == []


def test_the_default_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQL_OPTIM_DATA_DIR", str(tmp_path / "chosen"))
    assert default_data_dir() == tmp_path / "chosen"
    monkeypatch.delenv("SQL_OPTIM_DATA_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_data_dir() == tmp_path / "cache" / "sql_optim_env"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_data_dir() == tmp_path / ".cache" / "sql_optim_env"


def test_equal_instances_share_a_place(store: DatasetStore, shop: Dataset) -> None:
    sql = "SELECT id FROM orders WHERE total > 5"
    assert [store.path(one) for one in shop.edge_instances([sql])] == [store.path(one) for one in shop.edge_instances([sql, sql])]


def test_pruning_leaves_the_kept_instances_and_all_that_is_not_the_stores(store: DatasetStore, instance: Instance) -> None:
    kept, other = store.ensure(instance), store.ensure(replace(instance, seed=instance.seed + 1))
    derived = store.derived(instance, "k", "txt", writes("kept"))
    store.derived(replace(instance, seed=instance.seed + 1), "k", "txt", writes("gone"))
    mine = [
        store.root / instance.dataset / "notes.txt",
        store.root / "mine" / "notes" / "text.txt",
        other.parent.parent / "abc" / "text.txt",
    ]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    lost = sum(path.stat().st_size for path in other.parent.rglob("*") if path.is_file())
    assert store.prune([instance]) == lost > 0
    assert not other.parent.exists()
    assert [path.exists() for path in (kept, derived, *mine)] == [True] * 5
    before = tree(store.root)
    assert (store.prune([instance]), tree(store.root)) == (0, before)
    assert store.ensure(replace(instance, seed=instance.seed + 1)).exists()
