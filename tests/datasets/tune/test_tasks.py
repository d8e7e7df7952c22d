"""The folders of the tune tasks against the edge instances of their datasets. What costs pages is the catalogue check's business."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import apsw
import pytest

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.tune import TuneDataset

Built = Callable[[TuneDataset, Instance], bytes]
Result = tuple[tuple[str, ...], Counter[tuple[tuple[str, object], ...]]]
Answers = Callable[[str, Iterable[str]], list[Result]]


@pytest.fixture
def answers(task: Any, datasets: Mapping[str, TuneDataset], built: Built, opened: Callable[[bytes], apsw.Connection]) -> Answers:
    """Names and typed rows that a query, after some DDL, finds in each edge instance of the task's dataset."""
    dataset = datasets[task.toml["dataset"]]
    databases = [built(dataset, instance) for instance in dataset.instances if instance.role == "edge"]

    def run(sql_file: str, ddl: Iterable[str]) -> list[Result]:
        results: list[Result] = []
        for database in databases:
            con = opened(database)
            for statement in ddl:
                con.execute(statement)
            names: list[str] = []
            con.exec_trace = lambda cursor, sql, bindings, names=names: names.extend(d[0] for d in cursor.get_description()) or True
            rows = con.execute(task.sql(sql_file)).fetchall()
            results.append((tuple(names), Counter(tuple((type(value).__name__, value) for value in row) for row in rows)))
        return results

    return run


def test_a_folder_has_what_a_task_needs(task: Any, datasets: Mapping[str, TuneDataset]) -> None:
    dataset = datasets[task.toml["dataset"]]
    assert (task.toml["family"], task.toml["dialect"], task.toml["max_steps"]) == ("tune", "sqlite", 1)
    assert tuple(task.toml["tables"]) == dataset.tables
    assert task.toml["split"] in ("train", "test")
    named = {"original.sql", "reference.sql"} | {item["sql"] for kind in ("variants", "wrong") for item in task.grader[kind]}
    there = {str(path.relative_to(task.path)) for path in task.path.rglob("*.sql")}
    assert named == there
    assert len(task.grader["variants"]) >= 2 and len(task.grader["wrong"]) >= 2
    assert sum(item["name"] == "plausible" for item in task.grader["variants"]) == 1


def test_no_more_indexes_are_used_than_an_answer_may_have(task: Any) -> None:
    for ddl in (task.grader["reference_ddl"], *(item["ddl"] for kind in ("variants", "wrong") for item in task.grader[kind])):
        assert sum(statement.startswith("CREATE INDEX") for statement in ddl) <= task.toml["max_indexes"]
        assert all(statement.startswith("CREATE INDEX") or statement == "ANALYZE" for statement in ddl)


def test_the_reference_and_every_variant_answer_alike_on_every_edge_instance(task: Any, answers: Answers) -> None:
    expected = answers("original.sql", ())
    assert answers("reference.sql", task.grader["reference_ddl"]) == expected
    for variant in task.grader["variants"]:
        assert answers(variant["sql"], variant["ddl"]) == expected, variant["name"]


def test_every_wrong_variant_is_refused_by_two_edge_instances_or_more(task: Any, answers: Answers) -> None:
    expected = answers("original.sql", ())
    for wrong in task.grader["wrong"]:
        found = answers(wrong["sql"], wrong["ddl"])
        assert sum(a != b for a, b in zip(found, expected, strict=True)) >= 2, wrong["name"]


def test_the_query_finds_something_wherever_there_is_something(task: Any, answers: Answers) -> None:
    found = [len(rows) for _, rows in answers("original.sql", ())]
    assert min(found[:5]) >= 1, "change the dataset's edge_seed or its hot values"
