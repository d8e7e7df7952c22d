from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox import audit_jobs, jobs, tune_jobs
from sql_optim_env.sandbox.audit_bench import audit_digest
from sql_optim_env.server import runtime as module
from sql_optim_env.server.runtime import Readiness, Runtime, SandboxRunner
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.catalogue import Catalogue, catalogue


class FakeSandbox:
    """Starts when it is let, answers every call, remembers them."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.calls: list[tuple[Any, ...]] = []
        self.deadlines: list[float | None] = []
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
        self.deadlines.append(deadline_s)
        return "answer"

    def close(self) -> None:
        self.closed = True

    def metrics(self) -> Any:
        raise AssertionError("not asked for here")


class FakeStore:
    def __init__(self, root: Any, progress: Callable[[str], None], generated: Any) -> None:
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
    return made, made._sandbox, made._store


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
    prepares = {"rewrite": jobs.prepare_task, "tune": tune_jobs.prepare_tune, "audit": audit_jobs.prepare_audit}
    for family, job in prepares.items():
        expected = {task.id for task in catalogue().hand_made() if task.family == family}
        assert {call[1] for call in sandbox.calls if call[0] is job} == expected
    for task in catalogue().hand_made():
        assert ("CREATE TABLE" in runtime.schema_info(task)) is (task.family != "audit")
    assert len(sandbox.calls) == len(catalogue().hand_made())
    runtime.close()


def test_starting_twice_prepares_once(parts) -> None:
    runtime, sandbox, _ = parts
    sandbox.go.set()
    runtime.start()
    runtime.start()
    runtime.wait_ready(10)
    assert len(sandbox.calls) == len(catalogue().hand_made())
    runtime.close()


def test_a_generated_task_is_prepared_by_the_first_who_ask_and_once(parts) -> None:
    runtime, sandbox, _ = parts
    sandbox.go.set()
    runtime.start()
    runtime.wait_ready(10)
    sandbox.calls.clear()
    task, entered, leave = catalogue().get("tune_g_train_0007"), threading.Event(), threading.Event()
    answer = sandbox.call

    def slow(job: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        entered.set()
        assert leave.wait(10)
        return answer(job, *arguments, **options)

    sandbox.call = slow
    shown: list[str] = []
    asking = [threading.Thread(target=lambda: shown.append(runtime.schema_info(task))) for _ in range(4)]
    for thread in asking:
        thread.start()
    assert entered.wait(10)
    leave.set()
    for thread in asking:
        thread.join(10)
    assert sandbox.calls == [(tune_jobs.prepare_tune, task.id)]
    assert len(shown) == 4
    assert len(set(shown)) == 1
    assert "CREATE TABLE" in shown[0]
    runtime.close()


def test_a_generated_task_that_could_not_be_prepared_is_tried_again(parts) -> None:
    runtime, sandbox, _ = parts
    sandbox.go.set()
    runtime.start()
    runtime.wait_ready(10)
    task, answer = catalogue().get("tune_g_test_0003"), sandbox.call

    def fail(*arguments: Any, **options: Any) -> Any:
        raise InfraError("the worker was lost")

    sandbox.call = fail
    with pytest.raises(InfraError, match="the worker was lost"):
        runtime.schema_info(task)
    sandbox.call = answer
    assert "CREATE TABLE" in runtime.schema_info(task)
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
    sandbox, task = FakeSandbox(), catalogue().hand_made()[0]
    runner = SandboxRunner(sandbox, settings)
    assert [runner.grade(task, "S"), runner.query(task, "Q"), runner.explain(task, "E")] == ["answer"] * 3
    assert sandbox.calls == [
        (jobs.grade_rewrite, task.id, "S", "cost"),
        (jobs.run_query, task.id, "Q"),
        (jobs.explain_query, task.id, "E"),
    ]


def test_the_runner_calls_the_jobs_of_the_tune_family(settings: Settings) -> None:
    sandbox, task = FakeSandbox(), catalogue().select(family="tune")[0]
    runner = SandboxRunner(sandbox, settings)
    assert runner.grade_tune(task, "S", ("D",)) == "answer"
    assert runner.open_scratch(task).explain("E") == "answer"
    assert sandbox.calls == [(tune_jobs.grade_tune, task.id, "S", ("D",)), (tune_jobs.scratch_explain, task.id, None, "E")]


def test_another_sqlite_than_the_expected_one_is_refused_at_the_start(parts, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, sandbox, _ = parts
    monkeypatch.setattr("apsw.sqlite_lib_version", lambda: "3.1.4")
    sandbox.go.set()
    runtime.start()
    with pytest.raises(InfraError, match="SQLite is 3"):
        runtime.wait_ready(10)
    runtime.close()


def test_the_runner_calls_the_jobs_of_the_audit_family(settings: Settings) -> None:
    sandbox, task = FakeSandbox(), catalogue().select(family="audit")[0]
    runner: Any = SandboxRunner(sandbox, settings)
    runner.audit_open(task, None)
    runner.audit_query(task, 3, "Q", "F")
    runner.audit_profile(task, 3, "T", "C", "")
    runner.audit_fix(task, 3, "S")
    runner.audit_grade(task, 3, "F", ("Q",))
    assert sandbox.calls == [
        (audit_jobs.audit_open, task.id, None),
        (audit_jobs.audit_query, task.id, 3, "Q", "F"),
        (audit_jobs.audit_profile, task.id, 3, "T", "C", ""),
        (audit_jobs.audit_fix, task.id, 3, "S"),
        (audit_jobs.audit_grade, task.id, 3, "F", ("Q",)),
    ]
    assert sandbox.deadlines == [None] * 4 + [3 * settings.deadline_s]


def test_a_generated_audit_task_needs_no_preparation(parts) -> None:
    runtime, sandbox, _ = parts
    task = next(entry for entry in catalogue().entries()[::-1] if entry.family == "audit").make()
    assert "generated" in task.tags
    assert runtime.schema_info(task) == ""
    assert sandbox.calls == []


def test_the_engine_is_part_of_the_versions(parts) -> None:
    runtime, _, _ = parts
    versions = runtime.versions()
    assert versions["engine_sqlite"].startswith("sqlite-3.54.1+")
    assert set(versions) == {"engine_sqlite", "datasets", "dataset_shop", "audit_scenarios"}
    assert versions["audit_scenarios"] == audit_digest()
    runtime.tasks = Catalogue(catalogue().select(family="rewrite"))
    assert runtime.versions()["dataset_shop"] == versions["dataset_shop"]
    assert runtime.versions()["datasets"] != versions["datasets"]
