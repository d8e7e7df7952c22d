from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter

import pytest

from sql_optim_env.datasets.generate.domains import DOMAINS
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.facts import KIND_FACTS
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.generate.audit import COUNTS, generated_entries, generated_task
from sql_optim_env.tasks.task import AuditGrader, Task
from tasks.audit import trials

TASKS = tuple(entry.make() for entry in generated_entries())

ONE_LAP = [task for split in COUNTS for task in TASKS if task.split == split][: len(KIND_FACTS)] + list(TASKS[-len(KIND_FACTS) :])

_DIGEST = """
import hashlib
from sql_optim_env.tasks.generate.audit import generated_entries
tasks = [entry.make() for entry in generated_entries()]
print(hashlib.sha256(repr([(task, task.grader) for task in tasks]).encode()).hexdigest())
"""


def test_ids_count_up_in_each_split() -> None:
    expected = [f"audit_g_{split}_{index:04d}" for split in ("train", "test") for index in range(COUNTS[split])]
    assert [task.id for task in TASKS] == [entry.id for entry in generated_entries()] == expected
    assert [task.split for task in TASKS] == [task.id.split("_")[2] for task in TASKS]


def test_there_are_as_many_as_were_asked_for() -> None:
    assert COUNTS == {"train": 220, "test": 44}


def test_every_kind_is_as_frequent_as_every_other_in_both_splits() -> None:
    assert set(KIND_FACTS) == set(kinds())
    assert Counter((task.split, task.audit.kind) for task in TASKS) == {
        (split, kind): count for split, count in (("train", 20), ("test", 4)) for kind in KIND_FACTS
    }


def test_the_order_of_kinds_is_kept() -> None:
    # A task's number picks its kind by place: another order would make other tasks of published ids.
    assert [task.audit.kind for task in TASKS[:11]] == [
        "null_audit",
        "type_repair",
        "dedup_bug",
        "fk_integrity",
        "schema_drift",
        "timezone_shift",
        "unit_mixup",
        "scd_overlap",
        "join_fanout",
        "near_duplicates",
        "truncated_load",
    ]


def test_tasks_are_the_same_in_another_process() -> None:
    here = hashlib.sha256(repr([(task, task.grader) for task in TASKS]).encode()).hexdigest()
    elsewhere = subprocess.run([sys.executable, "-c", _DIGEST], capture_output=True, text=True, check=True).stdout.strip()
    assert elsewhere == here


def test_an_entry_says_of_a_task_what_the_task_says_of_itself() -> None:
    for entry in generated_entries():
        task = entry.make()
        assert (entry.id, entry.family, entry.split, entry.difficulty) == (task.id, task.family, task.split, task.difficulty)
        assert (entry.max_steps, entry.max_fixes) == (task.max_steps, task.max_fixes)
        assert entry.make() is task


def test_a_task_has_the_facts_of_its_kind_and_never_the_documented_sizes() -> None:
    for task in TASKS:
        facts = KIND_FACTS[task.audit.kind]
        assert (task.difficulty, task.max_fixes, task.max_explorations) == (facts.difficulty, facts.max_fixes, facts.max_explorations)
        assert (task.family, task.dialect, task.sql, task.tables, task.max_steps) == ("audit", "sqlite", "", (), 1)
        assert isinstance(task.grader, AuditGrader)
        assert not task.grader.default_sizes


def test_every_difficulty_is_in_both_splits() -> None:
    for split in COUNTS:
        assert {task.difficulty for task in TASKS if task.split == split} == {"easy", "medium", "hard", "expert"}


def test_no_two_tasks_share_a_name_and_none_shows_its_kind() -> None:
    assert len({task.name for task in TASKS}) == len(TASKS)
    for task in TASKS:
        assert task.audit.kind not in f"{task.id} {task.name} {task.description} {task.dataset} {' '.join(task.tags)}"


@pytest.mark.parametrize("index", [-1, 44])
def test_a_number_outside_of_the_split_is_refused(index: int) -> None:
    with pytest.raises(IndexError, match="test has 44 generated tasks"):
        generated_task("test", index)


def test_a_fix_is_wanted_exactly_where_there_are_attempts() -> None:
    for task in TASKS:
        assert scenario_of(task, None).fixable == (task.max_fixes > 0)


def test_scenarios_are_set_in_domains_of_their_split_and_differ_from_task_to_task() -> None:
    scenarios = [scenario_of(task, None) for task in TASKS]
    for task, scenario in zip(TASKS, scenarios, strict=True):
        assert scenario.domain in DOMAINS[task.split]
        assert scenario.kind == task.audit.kind
    assert len({scenario.seed for scenario in scenarios}) == len(TASKS)
    assert {scenario.domain for scenario in scenarios} == {domain for domains in DOMAINS.values() for domain in domains}


def test_a_seed_draws_another_scenario_of_the_same_task() -> None:
    task = TASKS[5]
    drawn = [scenario_of(task, seed) for seed in (None, 0, 1, 2)]
    assert len({scenario.description for scenario in drawn}) == len(drawn)
    assert scenario_of(task, 1) == drawn[2]


@pytest.mark.parametrize("task", ONE_LAP, ids=lambda task: f"{task.id}-{task.audit.kind}")
@pytest.mark.parametrize("seed", [None, 7])
def test_the_reference_repairs_every_database_of_a_generated_task(task: Task, seed: int | None) -> None:
    scenario = scenario_of(task, seed)
    if scenario.fixable:
        assert trials.levels(scenario, scenario.reference_fix) == trials.WHOLE
    else:
        assert scenario.expected.asked()
