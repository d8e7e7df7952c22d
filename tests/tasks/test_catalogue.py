from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from sql_optim_env.errors import UnknownTaskError
from sql_optim_env.tasks.catalogue import Catalogue, catalogue, public_spec
from sql_optim_env.tasks.entry import TaskEntry
from sql_optim_env.tasks.task import Task

IDS = [task.id for task in catalogue().hand_made()]
ALL = [task.id for task in catalogue().select()]
REWRITE = catalogue().select(family="rewrite")


def test_the_promised_tasks_are_there_in_order() -> None:
    assert IDS[:7] == [
        "task_1_basic_antipatterns",
        "task_2_correlated_subqueries",
        "task_3_wildcard_scan",
        "task_4_implicit_join",
        "task_5_window_functions",
        "task_6_segment_revenue",
        "task_7_lapsed_users",
    ]


def test_a_task_is_got_by_its_id() -> None:
    assert [catalogue().get(task_id).id for task_id in ALL] == ALL


def test_generated_tasks_come_after_those_made_by_hand_and_only_when_asked_for() -> None:
    made: list[str] = []

    def entry(number: int) -> TaskEntry:
        def make() -> Task:
            made.append(f"later_{number}")
            return replace(REWRITE[0], id=f"later_{number}")

        return TaskEntry(f"later_{number}", "rewrite", "train", "hard", make)

    tasks = Catalogue(REWRITE, [entry(1), entry(2), entry(3)])
    by_hand = [task for task in REWRITE if task.split == "train"]
    assert tasks.hand_made() == REWRITE
    assert tasks.count(split="train") == len(by_hand) + 3
    with pytest.raises(UnknownTaskError, match=r"task_7_lapsed_users, later_1 to later_3$"):
        tasks.get("later_4")
    assert made == []
    assert tasks.by_index("train", len(by_hand) + 1).id == "later_2"
    assert tasks.index_of(tasks.get("later_3")) == len(by_hand) + 2
    assert {tasks.draw(seed, split="train", difficulty="hard").id for seed in range(60)} >= {"later_1", "later_2", "later_3"}
    assert "later_1" in made


def test_an_unknown_id_is_refused_with_the_ids_that_exist() -> None:
    with pytest.raises(UnknownTaskError, match=r"there is no task 'task_0'; tasks: task_1_basic_antipatterns, "):
        catalogue().get("task_0")


def test_every_task_is_in_one_split_and_both_have_headroom_and_optimal_tasks() -> None:
    assert sorted(task.id for split in ("train", "test") for task in catalogue().select(split=split)) == sorted(ALL)
    train, test = catalogue().select("rewrite", "train"), catalogue().select("rewrite", "test")
    assert {task.rewrite.optimal for task in train} == {True, False}
    assert {task.rewrite.optimal for task in test} == {True, False}


def test_words_select_together() -> None:
    assert [task.id for task in catalogue().select("rewrite", "train", "medium")] == [
        "task_2_correlated_subqueries",
        "task_3_wildcard_scan",
        "task_6_segment_revenue",
    ]
    assert catalogue().select("rewrite", split="test", difficulty="easy") == ()
    assert catalogue().select()[: len(IDS)] == catalogue().hand_made()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"family": "translate"}, "there is no family 'translate'; there are rewrite, tune, audit"),
        ({"split": "dev"}, "there is no split 'dev'; there are train, test"),
        ({"difficulty": "hardest"}, "there is no difficulty 'hardest'; there are easy, medium, hard, expert"),
    ],
)
def test_an_unknown_word_is_refused_with_those_that_exist(words: dict[str, str], message: str) -> None:
    for method in (lambda: catalogue().select(**words), lambda: catalogue().draw(1, **words)):
        with pytest.raises(UnknownTaskError) as refused:
            method()
        assert str(refused.value) == message


def test_a_task_is_got_by_split_and_index() -> None:
    for split in ("train", "test"):
        tasks = catalogue().select(split=split)
        assert catalogue().count(split=split) == len(tasks)
        assert [catalogue().by_index(split, index) for index in range(len(tasks))] == list(tasks)
        assert [catalogue().index_of(task) for task in tasks] == list(range(len(tasks)))


@pytest.mark.parametrize("index", [-1, len(catalogue().select(split="test"))])
def test_an_index_outside_a_split_is_refused_with_its_size(index: int) -> None:
    size = len(catalogue().select(split="test"))
    with pytest.raises(UnknownTaskError, match=f"split 'test' has no index {index}; it has {size} tasks, counted from 0"):
        catalogue().by_index("test", index)


def test_the_same_seed_draws_the_same_task_in_another_process() -> None:
    code = "from sql_optim_env.tasks.catalogue import catalogue; print([catalogue().draw(s, split='train').id for s in range(40)])"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert elsewhere == str([catalogue().draw(seed, split="train").id for seed in range(40)])


def test_seeds_reach_every_task_and_only_those_selected() -> None:
    assert {catalogue().draw(seed).id for seed in range(20 * len(ALL))} == set(ALL)
    assert {catalogue().draw(seed, difficulty="medium").difficulty for seed in range(40)} == {"medium"}
    assert {catalogue().draw(seed, "rewrite", "test").id for seed in range(40)} == {"task_4_implicit_join", "task_7_lapsed_users"}


def test_drawing_from_an_empty_selection_is_refused_with_what_exists() -> None:
    with pytest.raises(
        UnknownTaskError,
        match=r"no task has family='rewrite', split='test', difficulty='easy'; tasks: task_1_basic_antipatterns \(rewrite, train, easy\); ",
    ):
        catalogue().draw(1, "rewrite", "test", "easy")


def test_an_id_is_unique() -> None:
    task = catalogue().hand_made()[0]
    with pytest.raises(ValueError, match="same id"):
        Catalogue([task, replace(task, name="another")])


def test_the_public_spec_holds_facts_and_no_answer() -> None:
    for task in REWRITE:
        spec = public_spec(task)
        assert spec == {
            "id": task.id,
            "split": task.split,
            "index": catalogue().index_of(task),
            "family": "rewrite",
            "difficulty": task.difficulty,
            "name": task.name,
            "dataset": "shop",
            "max_steps": task.max_steps,
        }
        assert "optimal" not in json.dumps(spec)
