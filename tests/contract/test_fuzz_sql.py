"""Ten thousand statements that a grammar wrote, through admission and execution: each ends as rows or as an agent error, and in time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import duckdb
import pytest

from contract import fuzz_jobs
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.errors import AgentError
from sql_optim_env.sandbox.pool import Sandbox

BATCH = 250
BATCHES = 20
"""For each engine: twenty times 250, so that ten thousand statements are tried."""
BATCH_WITHIN_S = 60.0
FIRST_SEED = 2_026

KNOWN = {
    "rows", "empty_sql", "sql_too_long", "syntax_error", "not_one_select", "refused_function", "refused_table", "refused_syntax",
    "binding_error", "execution_error", "timeout", "out_of_memory", "result_too_large",
}  # fmt: skip


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    data_dir = Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")
    with Sandbox(workers=1, data_dir=data_dir, deadline_s=BATCH_WITHIN_S, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox:
        yield sandbox


def small_instance(dataset: str, name: str) -> Path:
    instances: tuple[Instance, ...] = get_dataset(dataset).instances
    return DatasetStore(Path(os.environ["SQL_OPTIM_DATA_DIR"])).ensure(next(each for each in instances if each.name == name))


def played(run: Callable[[int], Counter[str]]) -> Counter[str]:
    """The outcomes of all batches. A batch that ends its worker, or overruns, fails here with the seed that made it."""
    outcomes: Counter[str] = Counter()
    for batch in range(BATCHES):
        try:
            outcomes += run(FIRST_SEED + batch)
        except AgentError as error:
            pytest.fail(f"batch {FIRST_SEED + batch}: {error}")
    return outcomes


def test_duckdb_ends_each_as_rows_or_an_agent_error(sandbox: Sandbox, tmp_path: Path) -> None:
    path = small_instance("shop", "mixed")
    with duckdb.connect(str(path), read_only=True) as con:
        found = con.execute("SELECT table_name, list(column_name) FROM information_schema.columns GROUP BY 1 ORDER BY 1").fetchall()
    tables = {name: tuple(sorted(columns)) for name, columns in found}
    outcomes = played(lambda seed: sandbox.call(fuzz_jobs.duckdb_batch, path, tmp_path, tables, seed, BATCH))
    assert outcomes.total() == BATCH * BATCHES
    assert set(outcomes) <= KNOWN
    # A fuzzer that only writes nonsense would show nothing.
    assert outcomes["rows"] >= outcomes.total() * 0.1, outcomes


def test_sqlite_ends_each_as_rows_or_an_agent_error(sandbox: Sandbox) -> None:
    path = small_instance("tune_seed_bank", "edge_nulls")
    con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = {"accession": tuple(row[1] for row in con.execute("PRAGMA table_info(accession)"))}
    con.close()
    outcomes = played(lambda seed: sandbox.call(fuzz_jobs.sqlite_batch, path, tables, seed, BATCH))
    assert outcomes.total() == 2 * BATCH * BATCHES
    assert set(outcomes) <= KNOWN
    assert outcomes["rows"] >= outcomes.total() * 0.1, outcomes
