from __future__ import annotations

import hashlib
import re
import subprocess
import sys

import pytest

from sql_optim_env.datasets.generate.tune import COUNTS, plan_of
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.families.tune_instructions import tune_instructions
from sql_optim_env.tasks.catalogue import public_spec
from sql_optim_env.tasks.folder import squeezed
from sql_optim_env.tasks.generate.tune import generated_entries
from sql_optim_env.tasks.task import Task

TASKS = tuple(entry.make() for entry in generated_entries())

_DIGEST = """
import hashlib
from sql_optim_env.tasks.generate.tune import generated_entries
tasks = [entry.make() for entry in generated_entries()]
print(hashlib.sha256(repr([(task, task.grader) for task in tasks]).encode()).hexdigest())
"""


def submissions(task: Task) -> list[tuple[str, tuple[str, ...]]]:
    known = [(task.sql, ()), (task.tune.reference_sql, task.tune.reference_ddl)]
    return known + [(variant.sql, variant.ddl) for variant in (*task.tune.variants, *task.tune.wrong)]


def test_ids_count_up_in_each_split() -> None:
    expected = [f"tune_g_{split}_{index:04d}" for split in ("train", "test") for index in range(COUNTS[split])]
    assert [task.id for task in TASKS] == [entry.id for entry in generated_entries()] == expected
    assert [task.split for task in TASKS] == [task.id.split("_")[2] for task in TASKS]


def test_tasks_are_the_same_in_another_process() -> None:
    here = hashlib.sha256(repr([(task, task.grader) for task in TASKS]).encode()).hexdigest()
    elsewhere = subprocess.run([sys.executable, "-c", _DIGEST], capture_output=True, text=True, check=True).stdout.strip()
    assert elsewhere == here


@pytest.mark.parametrize("field", ["name", "description", "sql"])
def test_no_two_tasks_share_a_text(field: str) -> None:
    assert len({squeezed(getattr(task, field)) for task in TASKS}) == len(TASKS)


def test_no_two_tasks_share_an_answer() -> None:
    assert len({squeezed(task.tune.reference_sql) for task in TASKS}) == len(TASKS)


def test_an_entry_says_of_a_task_what_the_task_says_of_itself() -> None:
    for entry in generated_entries():
        task = entry.make()
        assert (entry.id, entry.family, entry.split, entry.difficulty) == (task.id, task.family, task.split, task.difficulty)
        assert entry.make() is task


def test_every_difficulty_is_in_both_splits() -> None:
    for split in COUNTS:
        assert {task.difficulty for task in TASKS if task.split == split} == {"easy", "medium", "hard", "expert"}


def test_a_task_belongs_to_the_dataset_of_its_own_name() -> None:
    for task in TASKS:
        dataset = get_dataset(task.dataset)
        assert (task.dataset, task.dialect, task.tables) == (task.id, "sqlite", dataset.tables)
        assert (task.family, task.max_steps) == ("tune", 1)


def test_every_submission_of_a_task_is_another_one_and_keeps_to_its_indexes() -> None:
    for task in TASKS:
        known = submissions(task)
        assert len({(squeezed(sql), ddl) for sql, ddl in known}) == len(known), task.id
        assert all(sum(item.startswith("CREATE INDEX") for item in ddl) <= task.max_indexes for _, ddl in known)
        assert task.tune.variants[0].name == "plausible"
        assert len(task.tune.wrong) == 2
        assert task.max_explorations >= 3 * (task.max_indexes + 1)


def test_a_description_is_whole_sentences_without_gaps_and_names_no_way_to_the_answer() -> None:
    for task in TASKS:
        text = task.description
        assert text[0].isupper(), text
        assert text[-1] in ".?", text
        assert not re.search(r"[{}]|  |\.\.|_id\b|\b[Aa] [aeio]\w", text.replace("a one", "")), text
        words = r"index|material|covering|scan|rewrite|subquer|join|recurs|window|statistic|ANALYZE|page of 4096|rowid"
        assert not re.search(words, text, re.IGNORECASE), text


def test_what_is_shown_before_an_answer_holds_nothing_of_it() -> None:
    for task in TASKS:
        shown = "\n".join(
            (
                str(public_spec(task)),
                task.description,
                task.sql,
                get_dataset(task.dataset).schema_info({}),
                tune_instructions(task, "composite", "telescoping"),
            )
        )
        assert task.tune.reference_sql not in shown
        assert not any(item in shown for item in task.tune.reference_ddl)
        assert not any(variant.why in shown for variant in (*task.tune.variants, *task.tune.wrong))
        assert plan_of(task.id).shape not in (task.tags or ())


def test_instructions_stay_short() -> None:
    assert max(len(tune_instructions(task, "composite", "telescoping").encode()) for task in TASKS) < 6 * 1024
