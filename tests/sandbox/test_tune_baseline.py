from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox import tune_baseline as module
from sql_optim_env.sandbox.tune_baseline import LEAST_GAIN, TuneBench, TunePrepared, tune_digest, tune_instances
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

TASK = catalogue().get("tune_seed_bank")


@pytest.fixture
def bench(depot: Path, monkeypatch: pytest.MonkeyPatch) -> TuneBench:
    """A bench in this process, where no deadline runs."""
    monkeypatch.setattr(module, "remaining_s", lambda: 60.0)
    return TuneBench(DatasetStore(depot))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that were measured since."""
    seen: list[str] = []
    real = module.measure

    def measure(database: bytes, sql: str, **options: Any) -> Any:
        seen.append(sql)
        return real(database, sql, **options)

    monkeypatch.setattr(module, "measure", measure)
    return seen


def with_grader(task: Task = TASK, **changes: Any) -> Task:
    return replace(task, grader=replace(task.tune, **changes))


def test_public_comes_first_then_the_small_ones_then_the_twins() -> None:
    roles = [instance.role for instance in tune_instances(TASK)]
    assert roles == ["public"] + ["edge"] * 12 + ["twin"] * 2


def test_every_instance_has_the_pages_of_both_and_the_reference_gains_enough(bench: TuneBench) -> None:
    baseline = TunePrepared(bench, TASK).baseline
    assert baseline.task_id == TASK.id
    assert [item.instance for item in baseline.instances] == [instance.name for instance in tune_instances(TASK)]
    for item in baseline.instances:
        assert item.role == "edge" or item.original_pages >= LEAST_GAIN * item.reference_pages > 0
        assert 0 < item.reference_vm_steps <= TASK.tune.max_vm_steps
        assert item.reference_spill_bytes <= TASK.tune.max_spill_bytes


def test_what_was_measured_by_this_build_is_not_measured_again(bench: TuneBench, measured: list[str]) -> None:
    first = TunePrepared(bench, TASK).baseline
    assert measured == []
    assert TunePrepared(bench, TASK).baseline == first


@pytest.mark.parametrize("part", ["engine", "caps", "indexes", "tables"])
def test_figures_of_another_build_or_task_are_never_found(
    bench: TuneBench, measured: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str
) -> None:
    # A build that no earlier run of the tests has left figures of.
    monkeypatch.setattr(module, "tune_digest", lambda: f"{tmp_path}")
    first = TunePrepared(bench, TASK).baseline
    measured.clear()
    task = TASK
    if part == "engine":
        monkeypatch.setattr(module, "tune_digest", lambda: f"{tmp_path} another")
    elif part == "caps":
        task = with_grader(max_vm_steps=TASK.tune.max_vm_steps + 1)
    elif part == "indexes":
        task = replace(TASK, max_indexes=TASK.max_indexes + 1)
    else:
        task = replace(TASK, tables=("ACCESSION",))
    assert TunePrepared(bench, task).baseline == first
    assert TASK.tune.reference_sql in measured


def test_the_digest_names_the_engine_and_its_compile_options() -> None:
    assert tune_digest().startswith("sqlite-3.54.1+")
    assert len(tune_digest().split()) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference_sql": TASK.sql.replace("SUM(seeds)", "MAX(seeds)")}, "its reference differs on instance public"),
        ({"reference_sql": TASK.sql + ", 2"}, "its reference gains too little on instance public"),
        ({"reference_sql": TASK.tune.wrong[0].sql}, "its reference differs on instance edge_"),
        ({"reference_sql": "SELECT missing FROM accession"}, "its reference fails on instance public (binding_error)"),
        ({"reference_ddl": ("CREATE INDEX i ON accession(taxon, seeds)",)}, "its reference fails on instance public (refused_syntax)"),
        ({"max_vm_steps": 300_000}, "its reference fails on instance public (timeout)"),
    ],
)
def test_a_broken_task_is_our_fault_and_says_what_is_wrong(bench: TuneBench, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InfraError) as fault:
        TunePrepared(bench, with_grader(**change))
    assert f"task tune_seed_bank is broken: {message}" in str(fault.value)


@pytest.mark.parametrize(("role", "least"), [("twin", 2), ("edge", 5)])
def test_a_dataset_with_too_few_instances_of_a_role_cannot_grade(monkeypatch: pytest.MonkeyPatch, role: str, least: int) -> None:
    class Poor:
        instances = tuple(
            instance
            for count, instance in enumerate(sorted(tune_instances(TASK), key=lambda found: found.role != role))
            if instance.role != role or count < least - 1
        )

    monkeypatch.setattr(module, "get_dataset", lambda name: Poor)
    with pytest.raises(InfraError, match="cannot grade a tune task"):
        tune_instances(TASK)


def test_another_engine_than_the_expected_one_is_refused(bench: TuneBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.1.4")
    with pytest.raises(InfraError, match=r"SQLite is 3\.1\.4, expected 3\.54\.1"):
        TunePrepared(bench, TASK)


def test_databases_are_kept_as_bytes_up_to_a_bound(bench: TuneBench, monkeypatch: pytest.MonkeyPatch) -> None:
    public, *_, twin = tune_instances(TASK)
    first = bench.database(public)
    assert first.startswith(b"SQLite format 3\0")
    assert bench.database(public) is first
    monkeypatch.setattr(module, "_CACHED_BYTES", len(first))
    bench.database(twin)
    assert bench.database(public) is not first
    assert bench.database(public) == first


def test_a_damaged_file_is_rebuilt_before_it_is_read(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path)
    edge = next(instance for instance in tune_instances(TASK) if instance.role == "edge")
    content = TuneBench(store).database(edge)
    path = store.path(edge)
    assert path.suffix == ".sqlite"
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert TuneBench(DatasetStore(tmp_path)).database(edge) == content


def test_the_last_copy_is_remembered_by_its_path(bench: TuneBench, tmp_path: Path) -> None:
    one, two = tmp_path / "1.sqlite", tmp_path / "2.sqlite"
    one.write_bytes(b"one")
    assert bench.copy(one) == b"one"
    bench.keep_copy(two, b"two")
    assert bench.copy(two) == b"two"
    one.write_bytes(b"read again")
    assert bench.copy(one) == b"read again"
    bench.release()
    with pytest.raises(InfraError, match=r"2\.sqlite cannot be read: No such file"):
        bench.copy(two)


def test_a_kept_figure_is_plain_json(bench: TuneBench, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Path] = []
    real = bench.store.derived

    def derived(instance: Any, key: str, suffix: str, make: Callable[[Path], None]) -> Path:
        kept.append(real(instance, key, suffix, make))
        assert tune_digest() in key
        return kept[-1]

    monkeypatch.setattr(bench.store, "derived", derived)
    prepared = TunePrepared(bench, TASK)
    assert json.loads(kept[1].read_text())["original_pages"] == prepared.baseline.instances[0].original_pages
