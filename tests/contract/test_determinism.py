"""The same answer gets the same observation: however often, on however many workers, in whichever process, beside whatever else runs."""

from __future__ import annotations

import json

import pytest

from sql_optim_env.agents.answers import answers
from sql_optim_env.cli.determinism import REPEATS, differences, observed
from sql_optim_env.datasets import default_data_dir
from sql_optim_env.tasks.catalogue import catalogue

TASKS = catalogue().hand_made()


@pytest.mark.timeout(1800)
def test_one_answer_has_one_observation_on_one_worker_and_on_two_beside_a_busy_neighbour() -> None:
    found = observed(TASKS, default_data_dir())
    cells = [(task.id, kind) for task in TASKS for kind in answers(task)]
    assert {cell: len(texts) for cell, texts in found.items()} == dict.fromkeys(cells, REPEATS)
    assert differences(found) == {}


def test_the_plays_are_enough() -> None:
    assert REPEATS >= 20


def test_every_hand_made_task_has_a_best_an_idle_a_slow_and_a_wrong_answer() -> None:
    assert {task.family for task in TASKS} == {"rewrite", "tune", "audit"}
    for task in TASKS:
        assert {"oracle", "echo", "slow", "wrong"} <= set(answers(task)), task.id


def test_a_difference_is_shown_where_it_is_and_how_often() -> None:
    texts = [json.dumps([{"observation": {"score": score, "task_id": "t"}, "reward": 0.0, "done": False}]) for score in (0.5, 0.6, 0.5)]
    assert differences({("t", "echo"): texts, ("t", "oracle"): texts[::2]}) == {
        ("t", "echo"): ["2 to 1 times", "answer 0: score: 0.5, 0.6"]
    }
