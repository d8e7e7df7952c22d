from __future__ import annotations

from dataclasses import replace

from sql_optim_env.families.registry import builtin_families
from sql_optim_env.server.metadata import environment_metadata, family_facts, task_list
from sql_optim_env.tasks.catalogue import Catalogue, catalogue
from sql_optim_env.tasks.entry import TaskEntry
from sql_optim_env.tasks.task import Task

REWRITE = catalogue().select(family="rewrite")


def unmade() -> Task:
    raise AssertionError("nobody may make this task")


LATER = TaskEntry("audit_later", "audit", "test", "hard", unmade, max_fixes=4)


def test_the_list_holds_every_task_in_catalogue_order_with_its_true_facts() -> None:
    listed = task_list(catalogue())
    tasks = catalogue().select()
    assert [task.id for task in listed.tasks] == [task.id for task in tasks]
    assert (listed.total, listed.graded) == (len(tasks), len(tasks))
    for shown, task in zip(listed.tasks, tasks, strict=True):
        assert shown.model_dump() == {
            "id": task.id,
            "family": task.family,
            "split": task.split,
            "difficulty": task.difficulty,
            "attempts": task.attempts,
            "grader": task.grader_name,
        }


def test_attempts_are_submissions_or_else_fixes() -> None:
    found = {task.id: (task.attempts, task.grader) for task in task_list(catalogue()).tasks}
    assert found["task_1_basic_antipatterns"] == (3, "rewrite.composite")
    assert found["tune_seed_bank"] == (1, "tune.logical_reads")
    assert found["null_audit"] == (1, "audit.identification")
    assert [found[name] for name in ("type_repair", "dedup_bug", "fk_integrity", "schema_drift")] == [
        (attempts, "audit.repair") for attempts in (3, 5, 4, 4)
    ]


def test_no_task_is_made_for_the_list_or_the_registry() -> None:
    tasks = Catalogue(REWRITE, [LATER])
    assert task_list(tasks).tasks[-1].model_dump() == {
        "id": "audit_later",
        "family": "audit",
        "split": "test",
        "difficulty": "hard",
        "attempts": 4,
        "grader": "audit.repair",
    }
    assert family_facts(tasks, builtin_families())["audit"].tasks == {"train": 0, "test": 1}


def test_the_registry_counts_every_family_by_split_and_names_what_its_episodes_take() -> None:
    registry = environment_metadata(catalogue(), builtin_families()).registry
    assert sorted(registry) == ["audit", "rewrite", "tune"]
    for name, facts in registry.items():
        assert facts.tasks == {split: catalogue().count(family=name, split=split) for split in ("train", "test")}
        assert facts.hand_made == [task.id for task in catalogue().hand_made() if task.family == name]
    assert {name: facts.graders for name, facts in registry.items()} == {
        "audit": ["audit.identification", "audit.repair"],
        "rewrite": ["rewrite.composite"],
        "tune": ["tune.logical_reads"],
    }
    assert {name: set(facts.action_kinds) for name, facts in registry.items()} == {
        "audit": {"submit", "query", "profile", "fix"},
        "rewrite": {"submit", "query", "explain"},
        "tune": {"submit", "query", "explain"},
    }


def test_the_registry_is_that_of_the_given_catalogue() -> None:
    facts = family_facts(Catalogue([replace(REWRITE[0], split="test")]), builtin_families())["rewrite"]
    assert (facts.tasks, facts.hand_made) == ({"train": 0, "test": 1}, [REWRITE[0].id])
