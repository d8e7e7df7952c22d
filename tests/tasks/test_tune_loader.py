from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sql_optim_env.errors import InfraError
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.loader import TaskFormatError, load_task
from sql_optim_env.tasks.task import TuneVariant

TOML = """\
name = "Parcels of a hub"
family = "tune"
split = "train"
difficulty = "easy"
dataset = "tune_depot"
dialect = "sqlite"
tables = ["hub", "parcel"]
max_steps = 1
max_explorations = 12
max_indexes = 2
description = "How many parcels wait at each hub?"

[grader]
max_vm_steps = 1_000_000
max_spill_bytes = 0
reference_ddl = ["CREATE INDEX parcel_hub ON parcel(hub)"]

[[grader.variants]]
name = "rewrite_only"
sql = "reference.sql"
ddl = []
why = "Half of it."

[[grader.wrong]]
name = "inner_join"
sql = "variants/inner_join.sql"
ddl = ["ANALYZE"]
why = "Loses hubs."
"""
ORIGINAL = "SELECT h.name, (SELECT COUNT(*) FROM parcel p WHERE p.hub = h.id) AS n\nFROM hub h\n"
REFERENCE = "SELECT h.name, COUNT(p.id) AS n FROM hub h LEFT JOIN parcel p ON p.hub = h.id GROUP BY h.id\n"
INNER = "SELECT h.name, COUNT(p.id) AS n FROM hub h JOIN parcel p ON p.hub = h.id GROUP BY h.id\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a sound task folder and then the given files over it; None leaves one out."""

    def write(files: dict[str, str | None] | None = None) -> Path:
        folder = tmp_path / "tune_depot"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "variants").mkdir(parents=True)
        sound = {"task.toml": TOML, "original.sql": ORIGINAL, "reference.sql": REFERENCE, "variants/inner_join.sql": INNER}
        for name, text in {**sound, **(files or {})}.items():
            if text is not None:
                (folder / name).write_text(text)
        return folder

    return write


def test_a_sound_folder_becomes_a_task(write: Write) -> None:
    task = load_task(write())
    assert (task.id, task.family, task.max_steps, task.max_explorations, task.max_indexes) == ("tune_depot", "tune", 1, 12, 2)
    grader = task.tune
    assert (grader.reference_sql, grader.reference_ddl) == (REFERENCE.rstrip(), ("CREATE INDEX parcel_hub ON parcel(hub)",))
    assert grader.variants == (TuneVariant("rewrite_only", REFERENCE.rstrip(), (), "Half of it."),)
    assert grader.wrong == (TuneVariant("inner_join", INNER.rstrip(), ("ANALYZE",), "Loses hubs."),)
    assert (grader.max_vm_steps, grader.max_spill_bytes) == (1_000_000, 0)
    with pytest.raises(InfraError, match="is not a rewrite task"):
        _ = task.rewrite


def test_the_reference_may_be_the_original_query_with_indexes(write: Write) -> None:
    toml = TOML.replace('sql = "reference.sql"', 'sql = "variants/inner_join.sql"')
    assert load_task(write({"reference.sql": ORIGINAL, "task.toml": toml})).tune.reference_sql == ORIGINAL.rstrip()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_steps = 1", "max_steps = 3", "max_steps must be 1, not 3"),
        ("max_indexes = 2\n", "", "max_indexes is missing"),
        ("max_indexes = 2", "max_indexes = 11", "max_indexes must be 0 to 10, not 11"),
        ("max_vm_steps = 1_000_000", "max_vm_steps = 0", "grader.max_vm_steps must be 1 to 1000000000, not 0"),
        ("max_spill_bytes = 0", "max_spill_bytes = -1", "grader.max_spill_bytes must be 0 to 1000000000, not -1"),
        ("max_spill_bytes = 0", 'summary = "x"', "grader.summary is not a field; there are max_spill_bytes, max_vm_steps, reference_ddl"),
        ('reference_ddl = ["CREATE INDEX parcel_hub ON parcel(hub)"]', 'reference_ddl = [""]', "grader.reference_ddl must be a list of at"),
        ('name = "rewrite_only"', 'name = "reference"', "grader.variants[0].name 'reference' is taken"),
        ('name = "inner_join"', 'name = "rewrite_only"', "grader.wrong[0].name 'rewrite_only' is taken"),
        ('sql = "reference.sql"', 'sql = "original.sql"', "grader.variants[0] is the same submission as 'original'"),
        ('why = "Half of it."', "", "grader.variants[0].why is missing"),
        ('why = "Half of it."', 'why = "x"\nscore = 1', "grader.variants[0].score is not a field; there are ddl, name, sql, why"),
        ("[[grader.wrong]]", "[grader.wrong]", "grader.wrong must be a list"),
    ],
)
def test_a_fault_in_the_table_is_named_with_its_field(write: Write, old: str, new: str, message: str) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(TaskFormatError) as fault:
        load_task(write({"task.toml": TOML.replace(old, new)}))
    assert f"tune_depot/task.toml: {message}" in str(fault.value)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"reference.sql": None}, "reference.sql: is missing"),
        ({"variants/inner_join.sql": None}, "variants/inner_join.sql: is missing"),
        ({"variants/other.sql": INNER}, "variants/other.sql: is used by no variant"),
        (
            {"reference.sql": ORIGINAL, "task.toml": TOML.replace('["CREATE INDEX parcel_hub ON parcel(hub)"]', "[]")},
            "reference.sql: is the original query, without DDL",
        ),
    ],
)
def test_a_fault_in_the_files_is_named_with_the_file(write: Write, files: dict[str, str | None], message: str) -> None:
    with pytest.raises(TaskFormatError) as fault:
        load_task(write(files))
    assert str(fault.value) == f"infra_error: tune_depot/{message}"


def test_every_task_of_the_package_knows_halves_and_wrong_answers() -> None:
    tasks = catalogue().select(family="tune")
    assert len(tasks) >= 12
    for task in tasks:
        assert (task.dialect, task.dataset, task.max_steps) == ("sqlite", task.id, 1)
        assert len(task.tune.variants) >= 3
        assert len(task.tune.wrong) >= 2
        # Enough for every index, statistics, and a few looks at the query after each.
        assert task.max_explorations >= 3 * (task.max_indexes + 1)
