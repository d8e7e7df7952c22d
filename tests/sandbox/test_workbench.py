from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.engines.duckdb.admission import policy_for
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.workbench import Workbench, task_instances
from sql_optim_env.sandbox.worker import WorkerConfig
from sql_optim_env.tasks.catalogue import catalogue

SMALL = [instance for instance in get_dataset("shop").instances if instance.role == "adversarial"][:4]
COUNT = "SELECT count(*) AS n FROM orders"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    (tmp_path / "scratch").mkdir()
    bench = Workbench(WorkerConfig(tmp_path, tmp_path / "data", 256, 64, 2, WorkerLimits()))
    yield bench
    bench.release()


def count(bench: Workbench, instance: Instance) -> int:
    database = bench.database(instance)
    statement = database.admit(COUNT, policy_for(COUNT, ["orders"]))
    return int(database.run(statement, max_rows=10, max_bytes=1 << 20, priced=False).capture.table.column(0)[0].as_py())


def test_answers_are_run_on_the_public_instance_first_and_on_the_twin_last() -> None:
    roles = [instance.role for instance in task_instances(catalogue().get("task_1_basic_antipatterns"))]
    assert roles[0] == "public"
    assert roles[-1] == "twin"
    assert roles.count("adversarial") >= 2
    assert roles.count("edge") >= 1


def test_a_database_is_built_when_it_is_missing_and_stays_open(bench: Workbench) -> None:
    assert bench.database(SMALL[0]) is bench.database(SMALL[0])
    assert count(bench, SMALL[0]) == bench.store.row_counts(SMALL[0])["orders"]


def test_the_least_recently_used_database_is_closed_beyond_the_cap(bench: Workbench) -> None:
    first, second = bench.database(SMALL[0]), bench.database(SMALL[1])
    assert bench.database(SMALL[0]) is first
    bench.database(SMALL[2])
    assert bench.database(SMALL[0]) is first
    assert bench.database(SMALL[1]) is not second


def test_a_damaged_file_is_rebuilt_when_it_cannot_be_opened(bench: Workbench) -> None:
    rows = count(bench, SMALL[0])
    bench.release()
    path = bench.store.path(SMALL[0])
    size = path.stat().st_size
    path.write_bytes(b"\0" * size)
    assert count(bench, SMALL[0]) == rows


def test_verifying_rebuilds_a_file_that_was_damaged_while_it_was_open(bench: Workbench) -> None:
    rows = count(bench, SMALL[0])
    path = bench.store.path(SMALL[0])
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\xff" * (len(content) - len(content) // 2))
    bench.verify(SMALL[0])
    assert path.read_bytes() == content
    assert count(bench, SMALL[0]) == rows


def test_a_file_that_is_no_instance_of_the_store_is_an_infra_error(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the data directory should be")
    with pytest.raises(InfraError):
        bench.database(SMALL[0])


def test_releasing_closes_everything_and_everything_comes_back(bench: Workbench) -> None:
    database, comparer = bench.database(SMALL[0]), bench.comparer()
    assert bench.comparer() is comparer
    bench.release()
    assert bench.database(SMALL[0]) is not database
    assert bench.comparer() is not comparer
    assert count(bench, SMALL[0]) > 0
