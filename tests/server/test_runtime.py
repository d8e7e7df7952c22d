from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox import jobs
from sql_optim_env.server import runtime as module
from sql_optim_env.server.runtime import Readiness, Runtime, SandboxRunner
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.catalogue import catalogue


class FakeSandbox:
    """Starts when it is let, answers every call, remembers them."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.calls: list[tuple[Any, ...]] = []
        self.closed = False
        self.answers = True
        self.go = threading.Event()
        self.trouble: Exception | None = None

    def start(self) -> None:
        assert self.go.wait(10)
        if self.trouble is not None:
            raise self.trouble

    def ready(self) -> bool:
        return self.answers

    def call(self, job: Callable[..., Any], *arguments: Any, deadline_s: float | None = None) -> Any:
        self.calls.append((job, *arguments))
        return "answer"

    def close(self) -> None:
        self.closed = True

    def metrics(self) -> Any:
        raise AssertionError("not asked for here")


class FakeStore:
    def __init__(self, root: Any, progress: Callable[[str], None]) -> None:
        self.progress = progress
        self.built: list[str] = []

    def ensure(self, instance: Any) -> None:
        self.progress(f"building {instance.name}")
        self.built.append(instance.name)

    def row_counts(self, instance: Any) -> dict[str, int]:
        return {"users": 3, "products": 2, "orders": 1, "events": 0}


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> tuple[Runtime, FakeSandbox, FakeStore]:
    monkeypatch.setattr(module, "Sandbox", FakeSandbox)
    monkeypatch.setattr(module, "DatasetStore", FakeStore)
    made = Runtime(settings)
    return made, made._sandbox, made._store  # type: ignore[return-value]


def test_it_is_starting_until_workers_datasets_and_tasks_are_there(parts) -> None:
    runtime, sandbox, store = parts
    assert runtime.readiness == Readiness("starting", "starting")
    runtime.start()
    with pytest.raises(InfraError, match=r"^infra_error: the server is not ready yet: starting$"):
        runtime.wait_ready(0.05)
    sandbox.go.set()
    runtime.wait_ready(10)
    assert runtime.readiness == Readiness("ready", "ready")
    assert "public" in store.built
    assert {call[1] for call in sandbox.calls if call[0] is jobs.prepare_task} == {task.id for task in catalogue().all()}
    assert "CREATE TABLE" in runtime.schema_info("shop")
    runtime.close()


def test_starting_twice_prepares_once(parts) -> None:
    runtime, sandbox, _ = parts
    sandbox.go.set()
    runtime.start()
    runtime.start()
    runtime.wait_ready(10)
    assert len(sandbox.calls) == len(catalogue().all())
    runtime.close()


def test_workers_that_stop_answering_take_readiness_back(parts) -> None:
    runtime, sandbox, _ = parts
    sandbox.go.set()
    runtime.start()
    runtime.wait_ready(10)
    sandbox.answers = False
    assert runtime.readiness == Readiness("starting", "waiting for the workers")
    sandbox.answers = True
    assert runtime.readiness.ready
    runtime.close()


def test_a_failed_preparation_is_said_and_every_wait_gets_it(parts, caplog: pytest.LogCaptureFixture) -> None:
    runtime, sandbox, _ = parts
    sandbox.trouble = InfraError("a sandbox worker cannot be started")
    sandbox.go.set()
    runtime.start()
    with pytest.raises(InfraError, match="a sandbox worker cannot be started"):
        runtime.wait_ready(10)
    assert runtime.readiness.status == "failed"
    assert "a sandbox worker cannot be started" in runtime.readiness.error
    runtime.close()
    assert "preparation failed" in caplog.text


def test_close_wakes_whoever_waits_and_is_idempotent(parts) -> None:
    runtime, sandbox, _ = parts
    runtime.start()
    heard: list[str] = []

    def wait() -> None:
        try:
            runtime.wait_ready(30)
        except InfraError as error:
            heard.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.05)
    sandbox.go.set()
    runtime.close()
    runtime.close()
    waiting.join(10)
    assert sandbox.closed
    assert heard in (["infra_error: the server is stopping"], [])
    with pytest.raises(InfraError, match="the server is stopping"):
        runtime.wait_ready(1)


def test_the_sandbox_gets_the_settings(parts, settings: Settings) -> None:
    _, sandbox, _ = parts
    options = sandbox.options
    assert (options["workers"], options["data_dir"], options["deadline_s"]) == (1, settings.data_dir, 10.0)
    assert options["limits"].data_mb == settings.worker_memory_mb
    assert options["scratch_root"] == settings.scratch_dir


def test_the_runner_calls_the_jobs_with_the_measure_of_the_settings(settings: Settings) -> None:
    sandbox, task = FakeSandbox(), catalogue().all()[0]
    runner = SandboxRunner(sandbox, settings)  # type: ignore[arg-type]
    assert [runner.grade(task, "S"), runner.query(task, "Q"), runner.explain(task, "E")] == ["answer"] * 3  # type: ignore[comparison-overlap]
    assert sandbox.calls == [
        (jobs.grade_rewrite, task.id, "S", "cost"),
        (jobs.run_query, task.id, "Q"),
        (jobs.explain_query, task.id, "E"),
    ]
