from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from sql_optim_env import __version__
from sql_optim_env.errors import CallerError, EpisodeStateError, InfraError, InvalidArgumentError, SessionExpiredError, UnknownTaskError
from sql_optim_env.server import app as module
from sql_optim_env.server.runtime import Readiness
from sql_optim_env.tasks.catalogue import catalogue

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)


@pytest.fixture
def client(settings, runtime) -> Iterator[TestClient]:
    # Without "with": the lifespan, which starts workers, does not run.
    yield TestClient(module.create(settings, runtime), raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("state", "status", "body"),
    [
        (Readiness("starting", "building shop"), 503, {"status": "starting", "progress": "building shop"}),
        (
            Readiness("failed", "preparation failed", "no disk"),
            503,
            {"status": "failed", "progress": "preparation failed", "error": "no disk"},
        ),
        (Readiness("stopped", "the server is stopping"), 503, {"status": "stopped", "progress": "the server is stopping"}),
    ],
)
def test_ready_is_503_until_it_is_ready(client, runtime, state: Readiness, status: int, body: dict[str, str]) -> None:
    runtime._readiness = state
    answer = client.get("/ready")
    assert (answer.status_code, answer.json()) == (status, body)
    assert client.get("/health").status_code == 200


def test_ready_says_the_versions(client, runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(runtime), "readiness", Readiness("ready", "ready"))
    answer = client.get("/ready")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "progress": "ready", "version": __version__, **runtime.versions()}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownTaskError("u"), 404),
        (InvalidArgumentError("i"), 422),
        (EpisodeStateError("e"), 409),
        (SessionExpiredError("s"), 410),
        (CallerError("c"), 422),
        (InfraError("x"), 503),
    ],
)
def test_every_error_has_its_status_and_its_own_words(client, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(module.SQLOptimEnvironment, "reset", fail)
    answer = client.post("/reset", json={})
    assert answer.status_code == status
    assert answer.json() == {"detail": str(error), "error": type(error).__name__}


def test_making_an_application_starts_nothing(client, runtime) -> None:
    assert runtime._preparation is None
    assert client.app.state.runtime is runtime


def test_the_module_has_an_application_for_asgi_servers_and_nothing_else_by_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "create", lambda: "made")
    assert module.app == "made"
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        module.nope  # noqa: B018


def test_session_chatter_is_dropped_and_all_else_kept() -> None:
    chatter = module._NoSessionChatter()

    def kept(message: str) -> bool:
        return chatter.filter(logging.LogRecord("uvicorn.error", logging.INFO, "", 0, message, None, None))

    assert not kept("connection open")
    assert not kept("connection closed")
    assert not kept('127.0.0.1:1 - "WebSocket /ws" [accepted]')
    assert kept("Uvicorn running on http://127.0.0.1:8000")
    assert kept('127.0.0.1:1 - "WebSocket /ws" 403')


def test_a_stateless_reset_and_step(client) -> None:
    answer = client.post("/reset", json={"task_id": TASK.id}).json()
    assert (answer["observation"]["task_id"], answer["reward"], answer["done"]) == (TASK.id, None, False)
    body = {"action": {"optimized_query": TASK.rewrite.reference_sql}, "task_id": TASK.id, "reward_profile": "execution"}
    answer = client.post("/step", json=body).json()
    assert (answer["reward"], answer["done"]) == (1.0, True)
