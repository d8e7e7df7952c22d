"""The HTTP side of a real server."""

from __future__ import annotations

import http.client
import json

from sql_optim_env import __version__
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.engines.sqlite import engine_version
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, SQLOptimState
from sql_optim_env.sandbox.audit_bench import audit_digest
from sql_optim_env.tasks.catalogue import catalogue, public_spec

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
NAME = "/sql_optim_env"


def test_health_and_ready_and_their_versions(server) -> None:
    assert server.request("/health") == (200, {"status": "healthy"})
    status, body = server.request("/ready")
    assert status == 200
    digest, engine, scenarios = body.pop("datasets"), body.pop("engine_sqlite"), body.pop("audit_scenarios")
    assert body == {"status": "ready", "progress": "ready", "version": __version__, "dataset_shop": get_dataset("shop").version}
    assert len(digest) == 24
    assert scenarios == audit_digest()
    assert engine == engine_version()


def test_the_root_points_to_everything_there_is(server) -> None:
    status, body = server.request("/")
    assert status == 200
    for name in ("schema", "tasks", "splits", "metadata", "health", "ready", "metrics", "documentation"):
        assert server.request(body[name])[0] == 200


def test_the_schema_is_that_of_our_models(server) -> None:
    status, body = server.request("/schema")
    assert status == 200
    assert body["action"] == SQLOptimAction.model_json_schema()
    assert body["observation"] == SQLOptimObservation.model_json_schema()
    assert body["state"] == SQLOptimState.model_json_schema()
    assert len(json.dumps(body)) < 1024 * 1024


def test_the_metadata_names_the_environment(server) -> None:
    status, body = server.request("/metadata")
    assert status == 200
    assert (body["name"], body["version"]) == ("sql_optim_env", __version__)
    assert body["description"]


def test_the_task_api_agrees_with_the_catalogue(server) -> None:
    assert server.request("/list_environments") == (200, ["sql_optim_env"])
    status, splits = server.request(f"{NAME}/splits")
    assert (status, [split["name"] for split in splits]) == (200, ["train", "test"])
    for split in ("train", "test"):
        specs = [public_spec(task) for task in catalogue().select(split=split)]
        assert server.request(f"{NAME}/num_tasks", {"split": split}) == (200, {"num_tasks": len(specs)})
        assert server.request(f"{NAME}/tasks", {"split": split}) == (200, {"tasks": specs, "env_name": "sql_optim_env"})
        assert server.request(f"{NAME}/task", {"split": split, "index": 1}) == (200, {"task": specs[1]})
        assert server.request(f"{NAME}/task_range", {"split": split, "start": 1}) == (200, {"tasks": specs[1:]})


def test_the_task_api_answers_400_for_what_is_not_there(server) -> None:
    for path, body in (
        ("tasks", {"split": "nope"}),
        ("num_tasks", {"split": "nope"}),
        ("task", {"split": "nope", "index": 0}),
        ("task", {"split": "train", "index": -1}),
        ("task", {"split": "train", "index": 10**6}),
        ("task_range", {"split": "train", "start": -1}),
    ):
        assert server.request(f"{NAME}/{path}", body)[0] == 400
    assert server.request("/other_env/splits")[0] == 404


def test_a_stateless_reset_answers_an_observation(server) -> None:
    status, body = server.request("/reset", {"task_id": TASK.id})
    assert status == 200
    assert (body["reward"], body["done"], body["observation"]["task_id"]) == (None, False, TASK.id)


def test_a_stateless_step_names_its_task(server) -> None:
    action = {"optimized_query": TASK.rewrite.reference_sql}
    status, body = server.request("/step", {"action": action, "task_id": TASK.id, "reward_profile": "execution"})
    assert status == 200
    assert (body["reward"], body["done"]) == (1.0, True)


def test_the_callers_errors_have_a_status_and_the_same_words(server) -> None:
    for path, body, status, words in (
        ("/reset", {"task_id": "nope"}, 404, TASK.id),
        ("/reset", {"colour": "red"}, 422, "reset takes no colour"),
        ("/step", {"action": {}}, 409, "call reset first"),
        ("/step", {"action": {"kind": "jump"}}, 422, "literal_error"),
        ("/step", {"action": {}, "colour": "red", "task_id": TASK.id}, 422, "reset takes no colour"),
    ):
        answered, error = server.request(path, body)
        assert (answered, words in json.dumps(error)) == (status, True), error


def test_a_body_over_the_limit_is_413_said_or_not(server) -> None:
    large = b"x" * (4 * 1024 * 1024 + 1)
    assert server.request("/step", large)[0] == 413
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(
            "POST", "/step", body=iter([large[: 3 * 1024 * 1024]] * 2), encode_chunked=True, headers={"Transfer-Encoding": "chunked"}
        )
        assert connection.getresponse().status == 413
    finally:
        connection.close()
    assert server.request("/health")[0] == 200


def test_metrics_count_what_happened(server) -> None:
    def value(name: str) -> float:
        lines = [line for line in server.request("/metrics")[1].splitlines() if line.startswith(name + " ")]
        return float(lines[0].split()[-1]) if lines else 0.0

    steps, resets = 'sql_optim_steps_total{family="rewrite",kind="query"}', 'sql_optim_resets_total{family="rewrite"}'
    before = (value(steps), value(resets), value("sql_optim_sandbox_calls"))
    with server.session() as session:
        session.reset(task_id=TASK.id)
        session.step(kind="query", sql="SELECT 1 AS one")
        assert value("sql_optim_sessions") >= 1
    assert (value(steps), value(resets), value("sql_optim_sandbox_calls")) == tuple(number + 1 for number in before)
    assert value("sql_optim_sandbox_workers") == 2


def test_mcp_answers_json_rpc_although_there_are_no_tools(server) -> None:
    status, body = server.request("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    assert (status, body["jsonrpc"], body["id"]) == (200, "2.0", 1)
    assert "does not support MCP" in body["error"]["message"]
