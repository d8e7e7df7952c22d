from __future__ import annotations

from typing import Any

import pytest

from sql_optim_env.errors import InvalidArgumentError, UnknownTaskError
from sql_optim_env.server.selection import ARGUMENTS, check_arguments, choose_task, task_at, tasks_of
from sql_optim_env.tasks.catalogue import catalogue


def choose(**given: Any) -> str:
    return choose_task(catalogue(), check_arguments(given)).id


def test_an_unknown_argument_is_refused_with_the_list_of_those_there_are() -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        check_arguments({"seed": 1, "tsk_id": "x", "level": 3})
    assert str(refusal.value) == f"reset takes no level, tsk_id; it takes {', '.join(ARGUMENTS)}"


@pytest.mark.parametrize("name", ["seed", "index"])
@pytest.mark.parametrize("value", [-1, "1", 1.5, True, [1]])
def test_numbers_are_whole_and_not_negative(name: str, value: object) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} must be a whole number"):
        check_arguments({name: value, "split": "train"})


@pytest.mark.parametrize("name", ["episode_id", "task_id", "family", "split", "difficulty", "reward_profile"])
def test_words_are_text(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} must be text, not 5"):
        check_arguments({name: 5})


def test_none_stands_for_not_given() -> None:
    assert check_arguments(dict.fromkeys(ARGUMENTS)) == check_arguments({})


def test_an_episode_id_has_a_longest_length() -> None:
    assert check_arguments({"episode_id": "e" * 255}).episode_id == "e" * 255
    with pytest.raises(InvalidArgumentError, match="255"):
        check_arguments({"episode_id": "e" * 256})


def test_an_unknown_reward_profile_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidArgumentError, match="composite, execution, binary"):
        check_arguments({"reward_profile": "lavish"})


def test_an_index_needs_its_split() -> None:
    with pytest.raises(InvalidArgumentError, match="give split too"):
        check_arguments({"index": 0})


def test_a_task_is_found_by_id_by_index_and_by_seed() -> None:
    first = catalogue().by_index("test", 0)
    assert choose(task_id=first.id) == first.id
    assert choose(split="test", index=0) == first.id
    assert choose(seed=5) == catalogue().draw(5).id


def test_the_same_seed_draws_the_same_task_and_different_seeds_reach_all() -> None:
    assert {choose(seed=3) for _ in range(20)} == {choose(seed=3)}
    assert {choose(seed=seed) for seed in range(20 * catalogue().count())} == {task.id for task in catalogue().select()}
    assert {choose(seed=seed, split="test") for seed in range(1_000)} == {task.id for task in catalogue().select(split="test")}


def test_without_a_seed_chance_draws() -> None:
    assert len({choose() for _ in range(100)}) > 1


@pytest.mark.parametrize(
    "given",
    [
        {"task_id": "nope"},
        {"family": "nope"},
        {"split": "nope"},
        {"difficulty": "nope"},
        {"split": "test", "index": 99},
        {"split": "nope", "index": 0},
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(given: dict[str, Any]) -> None:
    with pytest.raises(UnknownTaskError, match=r"nope|99"):
        choose(**given)


def test_an_unknown_word_is_refused_even_beside_a_task_id() -> None:
    with pytest.raises(UnknownTaskError, match="there is no family 'nope'"):
        choose(task_id=catalogue().hand_made()[0].id, family="nope")


def test_arguments_that_contradict_each_other_are_refused() -> None:
    task = catalogue().by_index("test", 0)
    with pytest.raises(InvalidArgumentError, match=f"task '{task.id}' has split='test', not 'train'"):
        choose(task_id=task.id, split="train")
    with pytest.raises(InvalidArgumentError, match="index=0, not 1"):
        choose(task_id=task.id, split="test", index=1)
    assert choose(task_id=task.id, split="test", index=0, family=task.family, difficulty=task.difficulty) == task.id


def test_the_task_api_gets_index_errors_for_what_is_not_there() -> None:
    assert task_at(catalogue(), "train", 0) == catalogue().by_index("train", 0)
    assert tasks_of(catalogue(), "train") == catalogue().select(split="train")
    for split, index in (("nope", 0), ("train", -1), ("train", 10**6)):
        with pytest.raises(IndexError):
            task_at(catalogue(), split, index)
    with pytest.raises(IndexError, match="nope"):
        tasks_of(catalogue(), "nope")
