from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import hostile_jobs as jobs
from sql_optim_env.errors import ErrorCode
from sql_optim_env.sandbox import worker
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.worker import MARK, Reply, WorkerConfig, config, log_path, logs, on_distress, remaining_s, run_job


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerConfig]:
    """This process in the place of a worker, without the limits."""
    settings = WorkerConfig(tmp_path, tmp_path / "data", 256, 512, 4, WorkerLimits(data_mb=100))
    mark = os.open(settings.mark, os.O_RDWR | os.O_CREAT)
    monkeypatch.setattr(worker, "_config", settings)
    monkeypatch.setattr(worker, "_mark_fd", mark)
    monkeypatch.setattr(worker, "_distress", [])
    monkeypatch.setattr(worker, "renew_cpu_allowance", lambda seconds: None)
    yield settings
    os.close(mark)


def run(job: object, *args: object) -> Reply:
    return run_job(7, 5.0, pickle.dumps((job, args)))


def test_a_value_comes_back_pickled_and_the_mark_names_the_job(settings: WorkerConfig) -> None:
    reply = run(jobs.echo, [1, "a"])
    assert (reply.kind, pickle.loads(reply.value)) == ("value", [1, "a"])
    assert reply.data_bytes > 1 << 20
    assert settings.mark.read_bytes() == MARK.pack(7)


def test_a_job_can_ask_how_much_time_it_has_left(settings: WorkerConfig) -> None:
    reply = run(remaining_s)
    assert 4.0 < pickle.loads(reply.value) <= 5.0


def test_an_agent_error_comes_back_as_code_and_message(settings: WorkerConfig) -> None:
    reply = run(jobs.refuse, "no such column")
    assert (reply.kind, reply.error_code, reply.message) == ("agent", ErrorCode.BINDING_ERROR, "no such column")


def test_our_errors_come_back_with_a_traceback_for_the_log(settings: WorkerConfig) -> None:
    known = run(jobs.report_infra_error, "the dataset is broken")
    assert (known.kind, known.message) == ("infra", "infra_error: the dataset is broken")
    unknown = run(jobs.fail_unexpectedly)
    assert (unknown.kind, unknown.message) == ("infra", "")
    assert "KeyError" in unknown.trouble


def test_a_result_that_cannot_be_pickled_is_ours(settings: WorkerConfig) -> None:
    assert run(jobs.return_what_cannot_be_sent).kind == "infra"
    assert run_job(8, 5.0, b"not a pickle").kind == "infra"


def raise_memory_error() -> None:
    raise MemoryError


def test_running_out_of_memory_releases_what_was_registered_and_names_the_limit(settings: WorkerConfig) -> None:
    released: list[str] = []
    on_distress(lambda: released.append("caches"))
    reply = run(raise_memory_error)
    assert (reply.kind, reply.error_code) == ("agent", ErrorCode.OUT_OF_MEMORY)
    assert "100 MiB" in reply.message
    assert released == ["caches"]


def test_settings_are_there_inside_a_worker_only(settings: WorkerConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config() is settings
    monkeypatch.setattr(worker, "_config", None)
    with pytest.raises(RuntimeError, match="not inside a sandbox worker"):
        config()


def test_logs_are_found_with_the_process_they_belong_to(tmp_path: Path) -> None:
    log_path(tmp_path, 12).touch()
    log_path(tmp_path, 345).touch()
    (tmp_path / "mark").touch()
    assert {pid for _, pid in logs(tmp_path)} == {12, 345}
