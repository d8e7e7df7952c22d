from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sql_optim_env.errors import InfraError
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.facts import KIND_FACTS
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.loader import TaskFormatError, load_task
from sql_optim_env.tasks.task import AuditGrader

TOML = """\
name = "Twice in the ledger"
family = "audit"
split = "test"
difficulty = "hard"
max_explorations = 12
max_fixes = 5
description = "Totals are twice what they should be."

[grader]
kind = "dedup_bug"
seed = 3
"""
HAND_MADE = [task for task in catalogue().hand_made() if task.family == "audit"]

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a task folder with this ``task.toml``."""

    def write(toml: str) -> Path:
        folder = tmp_path / "ledger"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "task.toml").write_text(toml)
        return folder

    return write


def test_a_sound_folder_becomes_a_task_without_a_dataset_and_without_a_query(write: Write) -> None:
    task = load_task(write(TOML))
    assert (task.id, task.name, task.family, task.split, task.difficulty) == ("ledger", "Twice in the ledger", "audit", "test", "hard")
    assert (task.dataset, task.dialect, task.sql, task.tables) == ("", "sqlite", "", ())
    assert (task.max_steps, task.max_explorations, task.max_fixes, task.attempts) == (1, 12, 5, 5)
    assert task.audit == AuditGrader("dedup_bug", 3, default_sizes=True)
    assert task.grader_name == "audit.repair"
    with pytest.raises(InfraError, match="is not a tune task"):
        _ = task.tune


def test_a_task_without_fixes_is_one_of_identification_with_one_attempt(write: Write) -> None:
    task = load_task(write(TOML.replace("max_fixes = 5", "max_fixes = 0").replace("dedup_bug", "null_audit")))
    assert (task.attempts, task.grader_name) == (1, "audit.identification")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_fixes = 5\n", "", "max_fixes is missing"),
        ("max_fixes = 5", "max_fixes = 11", "max_fixes must be 0 to 10, not 11"),
        ("max_explorations = 12", "max_explorations = 0", "max_explorations must be 1 to 100, not 0"),
        ("max_fixes = 5", 'max_fixes = 5\ndataset = "shop"', "dataset is not a field; there are description, difficulty, family, grader"),
        ('kind = "dedup_bug"', 'kind = "gremlin"', "grader.kind must be one of "),
        ("seed = 3", "seed = -1", "grader.seed must be 0 to 999999, not -1"),
        ("seed = 3", "seed = 3\nhint = 1", "grader.hint is not a field; there are kind, seed"),
        ("seed = 3\n", "", "grader.seed is missing"),
        ('family = "audit"', 'family = "audits"', "family must be one of rewrite, tune, audit, not 'audits'"),
    ],
)
def test_a_fault_is_named_with_its_field(write: Write, old: str, new: str, message: str) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(TaskFormatError) as fault:
        load_task(write(TOML.replace(old, new)))
    assert f"ledger/task.toml: {message}" in str(fault.value)


def test_every_kind_has_one_hand_made_task_named_like_it() -> None:
    assert {task.id for task in HAND_MADE} == {task.audit.kind for task in HAND_MADE} == set(kinds()) == set(KIND_FACTS)
    assert len(HAND_MADE) >= 10


def test_the_limits_of_the_hand_made_tasks_are_those_of_their_kinds() -> None:
    for task in HAND_MADE:
        facts = KIND_FACTS[task.audit.kind]
        assert (task.difficulty, task.max_fixes, task.max_explorations) == (facts.difficulty, facts.max_fixes, facts.max_explorations)
        assert bool(task.max_fixes) is scenario_of(task, None).fixable


def test_the_five_well_known_tasks_are_for_training_and_have_the_published_attempts() -> None:
    known = {task.id: (task.split, task.difficulty, task.attempts) for task in HAND_MADE}
    assert known["null_audit"] == ("train", "easy", 1)
    assert known["type_repair"] == ("train", "medium", 3)
    assert known["dedup_bug"] == ("train", "hard", 5)
    assert known["fk_integrity"] == ("train", "hard", 4)
    assert known["schema_drift"] == ("train", "medium", 4)
    assert {split for split, _, _ in known.values()} == {"train", "test"}


def test_an_entry_says_what_its_task_is() -> None:
    for entry in catalogue().entries():
        task = entry.make()
        assert (entry.attempts, entry.grader_name) == (task.attempts, task.grader_name)
        assert (entry.id, entry.family, entry.split, entry.difficulty) == (task.id, task.family, task.split, task.difficulty)
