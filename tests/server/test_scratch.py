from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.tune_evidence import ScratchResult
from sql_optim_env.sandbox import tune_jobs
from sql_optim_env.server.scratch import SandboxScratch


class FakeSandbox:
    """A statement is the content that the copy gets; 'LOOK' changes nothing, 'FAIL' leaves half a file and fails."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.worker = root / "worker"
        self.worker.mkdir()
        self.seen: list[tuple[Any, ...]] = []
        self.directories: list[Path] = []
        self.before_collecting: Callable[[], None] = lambda: None

    def make_directory(self, prefix: str) -> Path:
        self.directories.append(self.root / f"{prefix}{len(self.directories)}")
        self.directories[-1].mkdir()
        return self.directories[-1]

    def call(self, job: Any, task_id: str, copy: Path | None, *rest: Any, collect: Any = None) -> Any:
        self.seen.append((job, task_id, copy.read_text() if copy is not None else None))
        if job is tune_jobs.scratch_explain:
            return "plan"
        _, sql = rest
        if sql != "LOOK":
            (self.worker / tune_jobs.CHANGED_COPY).write_text(sql)
        if sql == "FAIL":
            raise AgentError(ErrorCode.TIMEOUT, "stopped")
        result = ScratchResult((), (), 0, False, 1, 1, sql != "LOOK", 0.1)
        self.before_collecting()
        collect(result, self.worker)
        return result

    def files(self) -> list[str]:
        return sorted(path.read_text() for directory in self.directories for path in directory.glob("*"))


@pytest.fixture
def sandbox(tmp_path: Path) -> FakeSandbox:
    return FakeSandbox(tmp_path)


@pytest.fixture
def scratch(sandbox: FakeSandbox) -> SandboxScratch:
    return SandboxScratch(sandbox, "tune_x")


def test_a_copy_that_was_never_changed_has_no_file(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    scratch.query("LOOK")
    assert scratch.explain("LOOK") == "plan"
    assert sandbox.seen == [(tune_jobs.scratch_query, "tune_x", None), (tune_jobs.scratch_explain, "tune_x", None)]
    assert sandbox.files() == []


def test_what_a_statement_changes_is_what_the_next_one_finds(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    for sql in ("one", "LOOK", "two", "LOOK"):
        scratch.query(sql)
    scratch.explain("LOOK")
    assert [found for *_, found in sandbox.seen] == [None, "one", "one", "two", "two"]
    assert sandbox.files() == ["two"]
    assert len(sandbox.directories) == 1


def test_a_statement_that_fails_half_way_leaves_the_copy_as_it_was(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    scratch.query("one")
    with pytest.raises(AgentError):
        scratch.query("FAIL")
    scratch.query("LOOK")
    assert [found for *_, found in sandbox.seen] == [None, "one", "one"]
    assert sandbox.files() == ["one"]


def test_each_change_gets_a_name_that_was_never_used(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    names = set()
    for sql in ("one", "two", "three"):
        scratch.query(sql)
        names |= {path.name for path in sandbox.directories[0].glob("*")}
    assert len(names) == 3


def test_a_copy_that_cannot_be_moved_is_our_fault_and_keeps_the_old_one(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    scratch.query("one")
    sandbox.before_collecting = lambda: (sandbox.worker / tune_jobs.CHANGED_COPY).unlink()
    with pytest.raises(InfraError, match="a scratch copy cannot be kept: No such file or directory"):
        scratch.query("two")
    assert sandbox.files() == ["one"]


def test_closing_removes_everything_and_is_idempotent(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    scratch.query("one")
    scratch.close()
    scratch.close()
    assert not sandbox.directories[0].exists()
    with pytest.raises(InfraError, match="the session was closed"):
        scratch.query("two")


def test_a_session_that_closes_while_a_statement_runs_leaves_nothing(scratch: SandboxScratch, sandbox: FakeSandbox) -> None:
    scratch.query("one")
    sandbox.before_collecting = scratch.close
    with pytest.raises(InfraError, match="the session was closed while a statement ran"):
        scratch.query("two")
    assert not sandbox.directories[0].exists()


def test_copies_are_strangers_to_each_other(sandbox: FakeSandbox) -> None:
    one, two = SandboxScratch(sandbox, "tune_x"), SandboxScratch(sandbox, "tune_x")
    one.query("mine")
    two.query("LOOK")
    two.query("yours")
    one.close()
    two.query("LOOK")
    assert [found for *_, found in sandbox.seen] == [None, None, None, "yours"]
