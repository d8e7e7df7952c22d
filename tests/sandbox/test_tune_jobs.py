from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.sandbox.tune_jobs import (
    CHANGED_COPY,
    grade_tune,
    max_copy_bytes,
    prepare_tune,
    scratch_explain,
    scratch_query,
)
from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("tune_seed_bank")
REFERENCE = (TASK.tune.reference_sql, TASK.tune.reference_ddl)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def grade(sandbox: Sandbox, sql: str, *ddl: str) -> TuneEvidence:
    return sandbox.call(grade_tune, TASK.id, sql, ddl)


class Copy:
    """A scratch copy as the server keeps it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.directory = sandbox.make_directory("copy-")
        self.path: Path | None = None
        self.count = 0

    def query(self, sql: str, max_rows: int = 50) -> ScratchResult:
        self.count += 1
        target = self.directory / f"{self.count}.sqlite"

        def collect(result: ScratchResult, scratch: Path) -> None:
            if result.changed:
                os.replace(scratch / CHANGED_COPY, target)
                self.path = target

        found: ScratchResult = self.sandbox.call(scratch_query, TASK.id, self.path, target, sql, max_rows, collect=collect)
        return found


@pytest.fixture
def copy(tune_sandbox: Sandbox) -> Copy:
    return Copy(tune_sandbox)


def plain(evidence: TuneEvidence) -> Any:
    """All of it but the clock's figure."""
    return [getattr(evidence, name) for name in TuneEvidence.__dataclass_fields__ if name != "wall_ms"]


def test_the_reference_asks_for_the_pages_of_its_baseline_everywhere(tune_sandbox: Sandbox) -> None:
    baseline = tune_sandbox.call(prepare_tune, TASK.id)
    evidence = grade(tune_sandbox, REFERENCE[0], *REFERENCE[1])
    assert evidence.equal
    assert evidence.engine_version == baseline.engine_version
    assert [(m.instance, m.submitted_pages, m.original_pages) for m in evidence.measurements] == [
        (item.instance, item.reference_pages, item.original_pages) for item in baseline.instances
    ]
    assert "USING COVERING INDEX accession_taxon" in evidence.plan
    assert evidence.row_count == baseline.instances[0].row_count


def test_preparing_brings_back_a_database_that_is_gone(tune_sandbox: Sandbox, depot: Path) -> None:
    store = DatasetStore(depot)
    twin = get_dataset(TASK.dataset).instances[1]
    content = store.ensure(twin).read_bytes()
    store.path(twin).unlink()
    tune_sandbox.call(prepare_tune, TASK.id, deadline_s=60.0)
    assert store.path(twin).read_bytes() == content


def test_evidence_is_the_same_in_every_worker_and_every_time(make_sandbox: Callable[..., Sandbox], depot: Path) -> None:
    found = []
    for _ in range(2):
        sandbox = make_sandbox(data_dir=depot, deadline_s=60.0)
        found += [plain(grade(sandbox, REFERENCE[0], *REFERENCE[1])) for _ in range(3)]
    assert all(evidence == found[0] for evidence in found)


@pytest.mark.parametrize("variant", TASK.tune.wrong, ids=lambda variant: variant.name)
def test_a_wrong_answer_ends_with_the_first_difference_and_tells_nothing_of_hidden_data(tune_sandbox: Sandbox, variant: Any) -> None:
    evidence = grade(tune_sandbox, variant.sql, *variant.ddl)
    assert not evidence.equal
    assert all(m.difference.equal for m in evidence.measurements[:-1])
    last = evidence.measurements[-1]
    if last.role != "public":
        assert (last.difference.missing_count, last.difference.missing, last.difference.extra) == (0, (), ())
        assert last.difference.message == "the result differs on a hidden instance"


def test_a_refused_ddl_item_is_named(tune_sandbox: Sandbox) -> None:
    evidence = grade(tune_sandbox, TASK.sql, "CREATE INDEX a ON accession(taxon)", "CREATE INDEX b ON accession(taxon, seeds)")
    assert (evidence.error_code, evidence.ddl_error_index, evidence.measurements) == (ErrorCode.REFUSED_SYNTAX, 1, ())
    assert "ddl item 2" in evidence.error_message


def test_an_error_on_hidden_data_is_replaced(tune_sandbox: Sandbox) -> None:
    small = "(SELECT COUNT(*) FROM accession) < 1000"
    sql = TASK.sql.replace("GROUP BY", f"WHERE CASE WHEN {small} THEN abs(-9223372036854775807 - 1) ELSE 1 END GROUP BY")
    evidence = grade(tune_sandbox, sql)
    assert (evidence.error_code, len(evidence.measurements)) == (ErrorCode.EXECUTION_ERROR, 1)
    assert evidence.error_message == "the submission ran on the public data and failed on other data of the same schema"


def test_grading_knows_nothing_of_a_scratch_copy(tune_sandbox: Sandbox, copy: Copy) -> None:
    before = plain(grade(tune_sandbox, TASK.sql))
    copy.query("DELETE FROM accession")
    assert plain(grade(tune_sandbox, TASK.sql)) == before


def test_a_copy_counts_the_pages_that_grading_counts(tune_sandbox: Sandbox, copy: Copy) -> None:
    for item in REFERENCE[1]:
        assert copy.query(item).changed
    looked = copy.query(REFERENCE[0])
    measured = grade(tune_sandbox, REFERENCE[0], *REFERENCE[1]).measurements[0]
    assert (looked.logical_reads, looked.vm_steps, looked.changed) == (measured.submitted_pages, measured.vm_steps, False)
    assert "accession_seeds" in tune_sandbox.call(scratch_explain, TASK.id, copy.path, REFERENCE[0]).plan
    assert "accession_seeds" not in tune_sandbox.call(scratch_explain, TASK.id, None, REFERENCE[0]).plan


def test_rows_beyond_the_limit_are_counted_and_values_have_their_storage_class(copy: Copy) -> None:
    result = copy.query("SELECT id, taxon, x'01' AS b, NULL AS n, 0.5 AS r FROM accession", 3)
    assert (len(result.rows), result.row_count, result.truncated) == (3, 11_000, True)
    assert [column.type for column in result.columns] == ["INTEGER", "TEXT", "BLOB", "NULL", "REAL"]


def test_each_statement_finds_what_the_last_one_left_whoever_runs_it(make_sandbox: Callable[..., Sandbox], depot: Path) -> None:
    copy = Copy(make_sandbox(workers=2, data_dir=depot, deadline_s=60.0))
    copy.query("CREATE TABLE notes AS SELECT 0 AS n")
    for n in range(1, 6):
        copy.query("UPDATE notes SET n = n + 1")
        # Keeps the worker that has the copy in memory busy, so that the other one has to read it.
        other = threading.Thread(target=copy.sandbox.call, args=(time.sleep, 0.05))
        other.start()
        assert copy.query("SELECT n FROM notes").rows == ((n,),)
        other.join()


def test_destroying_a_copy_harms_only_itself(copy: Copy, tune_sandbox: Sandbox) -> None:
    copy.query("DROP TABLE accession")
    with pytest.raises(AgentError, match="no such table"):
        copy.query(TASK.sql)
    assert Copy(tune_sandbox).query("SELECT COUNT(*) FROM accession").rows == ((11_000,),)


def test_a_statement_that_fails_or_is_refused_leaves_the_copy_as_it_was(copy: Copy) -> None:
    copy.query("CREATE TABLE notes (n UNIQUE)")
    before = copy.path
    for sql in (
        "INSERT INTO notes VALUES (1), (1)",
        "ATTACH 'x' AS y",
        "VACUUM INTO 'x'",
        "INSERT INTO notes SELECT 1; DROP TABLE notes",
        "SELECT load_extension('x')",
    ):
        with pytest.raises(AgentError):
            copy.query(sql)
    assert copy.path == before
    assert copy.query("SELECT COUNT(*) FROM notes").rows == ((0,),)


def test_a_copy_cannot_grow_without_bound(copy: Copy) -> None:
    assert max_copy_bytes(4 << 20) == 20 << 20
    copy.query("CREATE TABLE big (x)")
    fill = "INSERT INTO big SELECT zeroblob(1000000) FROM (SELECT 1 FROM accession LIMIT 12)"
    copy.query(fill)
    with pytest.raises(AgentError, match=r"your copy may hold \d+ MiB at most; it was left as it was") as error:
        copy.query(fill)
    assert error.value.code is ErrorCode.OUT_OF_MEMORY
    assert copy.query("SELECT COUNT(*) FROM big").rows == ((12,),)


def test_an_endless_statement_is_stopped_and_the_copy_lives(make_sandbox: Callable[..., Sandbox], depot: Path) -> None:
    copy = Copy(make_sandbox(data_dir=depot, deadline_s=3.0))
    copy.query("CREATE TABLE notes AS SELECT 7 AS n")
    began = time.monotonic()
    with pytest.raises(AgentError) as error:
        copy.query(ENDLESS)
    assert error.value.code is ErrorCode.TIMEOUT
    assert time.monotonic() - began < 4.0
    assert copy.query("SELECT n FROM notes").rows == ((7,),)


def test_a_worker_killed_in_the_middle_of_a_change_leaves_the_copy_as_it_was(make_sandbox: Callable[..., Sandbox], depot: Path) -> None:
    copy = Copy(make_sandbox(data_dir=depot, deadline_s=30.0))
    copy.query("CREATE TABLE notes AS SELECT 7 AS n")
    killed = threading.Timer(0.5, lambda: os.kill(copy.sandbox.worker_pids()[0], signal.SIGKILL))
    killed.start()
    with pytest.raises(InfraError, match="SIGKILL"):
        copy.query(f"UPDATE notes SET n = ({ENDLESS})")
    killed.join()
    assert copy.query("SELECT n FROM notes").rows == ((7,),)


def test_a_worker_may_not_write_where_copies_are_kept(copy: Copy) -> None:
    copy.query("CREATE TABLE notes AS SELECT 7 AS n")
    assert copy.path is not None
    with pytest.raises(InfraError):
        copy.sandbox.call(Path.write_bytes, copy.path, b"")
    assert copy.query("SELECT n FROM notes").rows == ((7,),)
    assert copy.directory.stat().st_mode & 0o777 == 0o700


def test_copies_go_with_their_sandbox(make_sandbox: Callable[..., Sandbox], depot: Path) -> None:
    copy = Copy(make_sandbox(data_dir=depot, deadline_s=60.0))
    copy.query("CREATE TABLE notes AS SELECT 7 AS n")
    copy.sandbox.close()
    assert not copy.directory.exists()
    with pytest.raises(InfraError, match="the sandbox is not running"):
        copy.sandbox.make_directory("copy-")
