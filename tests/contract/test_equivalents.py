"""A right answer is right in any style: pairs of queries that must be accepted, and what a refusal for names or types says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sql_optim_env.cli.equivalents import Answer, Pair, Refusal, graders, load_equivalents, misled, rejected, shop_instances, unequal
from sql_optim_env.datasets import DatasetStore, Instance, default_data_dir
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.catalogue import catalogue

CORPUS = load_equivalents(Path(__file__).parent / "equivalents")
LEAST = 150
INSTANCES = shop_instances(CORPUS.pairs)


@pytest.fixture(scope="module")
def store() -> DatasetStore:
    return DatasetStore(default_data_dir())


@pytest.fixture(scope="module")
def sandbox(store: DatasetStore) -> Iterator[Sandbox]:
    with graders(CORPUS, store) as sandbox:
        yield sandbox


def test_the_corpus_is_large_and_holds_every_hand_made_task() -> None:
    assert len(CORPUS.pairs) + len(CORPUS.answers) >= LEAST
    assert len({pair.name for pair in CORPUS.pairs}) == len(CORPUS.pairs)
    assert {answer.task for answer in CORPUS.answers} == {task.id for task in catalogue().hand_made() if task.family in ("rewrite", "tune")}


@pytest.mark.parametrize("instance", INSTANCES, ids=[instance.name for instance in INSTANCES])
def test_free_standing_pairs_are_equal(instance: Instance, store: DatasetStore) -> None:
    assert unequal(CORPUS.pairs, store.ensure(instance)) == {}


def test_a_pair_that_differs_is_told(store: DatasetStore) -> None:
    pairs = [Pair("other rows", "SELECT 1 AS n", "SELECT 2 AS n"), Pair("another name", "SELECT 1 AS n", "SELECT 1 AS m")]
    assert set(unequal(pairs, store.ensure(INSTANCES[0]))) == {"other rows", "another name"}


def test_no_rounded_average_stands_on_half_a_cent(store: DatasetStore) -> None:
    """AVG computes in floating point, and styles of one query differ in the last bit: between two cents only a half could show it."""
    task = catalogue().get("task_4_implicit_join")
    for instance in task_instances(task):
        with duckdb.connect(str(store.ensure(instance)), read_only=True, config={"threads": 1}) as con:
            if not con.sql(task.rewrite.reference_sql).limit(1).fetchall():
                continue
            sums = con.sql("SELECT CAST(SUM(total) * 200 AS HUGEINT), COUNT(*) FROM orders GROUP BY status").fetchall()
        assert not [(total, count) for total, count in sums if total % count == 0 and total // count % 2], instance.name


@pytest.mark.parametrize("answer", CORPUS.answers, ids=[f"{answer.task}: {answer.name}" for answer in CORPUS.answers])
def test_an_answer_in_another_style_is_accepted_by_grading(answer: Answer, sandbox: Sandbox) -> None:
    assert rejected(sandbox, answer) == ""


def test_a_wrong_answer_is_told(sandbox: Sandbox) -> None:
    task = CORPUS.answers[0].task
    assert rejected(sandbox, Answer("nothing", task, "SELECT 1 AS n")) != ""
    assert "nope" in rejected(sandbox, Answer("a failure", task, "SELECT nope"))


@pytest.mark.parametrize("refusal", CORPUS.refusals, ids=[refusal.name for refusal in CORPUS.refusals])
def test_a_refusal_for_names_or_types_says_so_and_how_to_mend_it(refusal: Refusal, sandbox: Sandbox) -> None:
    assert misled(sandbox, refusal) == ""


def test_a_refusal_that_says_something_else_is_told(sandbox: Sandbox) -> None:
    known = CORPUS.refusals[0]
    for changed in ({"says": ("column 99",)}, {"kind": "rows"}, {"mended": known.sql}, {"sql": "SELECT nope"}):
        assert misled(sandbox, Refusal(**{**{name: getattr(known, name) for name in Refusal.__slots__}, **changed})) != "", changed
