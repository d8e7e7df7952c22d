"""What the server says about all of its tasks at once: ``GET /tasks`` and the registry in ``/metadata``."""

from __future__ import annotations

import json

from sql_optim_env import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue


def test_tasks_lists_all_tasks_of_all_families(server) -> None:
    status, body = server.request("/tasks")
    assert status == 200
    assert set(body) == {"tasks", "total", "graded"}
    assert [task["id"] for task in body["tasks"]] == [entry.id for entry in catalogue().entries()]
    assert (body["total"], body["graded"]) == (len(body["tasks"]), len(body["tasks"]))
    assert {frozenset(task) for task in body["tasks"]} == {frozenset(("id", "family", "split", "difficulty", "attempts", "grader"))}
    assert {task["family"] for task in body["tasks"]} == {"rewrite", "tune", "audit"}
    facts = {task["id"]: (task["difficulty"], task["attempts"], task["grader"]) for task in body["tasks"]}
    assert facts["null_audit"] == ("easy", 1, "audit.identification")
    assert facts["dedup_bug"] == ("hard", 5, "audit.repair")


def test_every_listed_task_can_be_reset(server) -> None:
    listed = server.request("/tasks")[1]["tasks"]
    last_of_its_family = {task["family"]: task for task in listed}
    with server.session() as session:
        for task in last_of_its_family.values():
            seen = session.reset(task_id=task["id"], family=task["family"], split=task["split"], difficulty=task["difficulty"])
            assert seen["data"]["observation"]["task_id"] == task["id"]


def test_metadata_carries_the_registry_beside_openenvs_fields(server) -> None:
    status, body = server.request("/metadata")
    assert status == 200
    assert (body["name"], body["documentation_url"]) == ("sql_optim_env", "/docs")
    assert "# sql_optim_env" in body["readme_content"]
    listed = server.request("/tasks")[1]["tasks"]
    assert set(body["registry"]) == {"audit", "rewrite", "tune"}
    for family, facts in body["registry"].items():
        ours = [task for task in listed if task["family"] == family]
        assert facts["tasks"] == {split: sum(task["split"] == split for task in ours) for split in ("train", "test")}
        assert facts["graders"] == sorted({task["grader"] for task in ours})
        assert facts["hand_made"] == [task.id for task in catalogue().hand_made() if task.family == family]
        assert "submit" in facts["action_kinds"]


def test_both_are_in_the_api_description_once(server) -> None:
    paths = server.request("/openapi.json")[1]["paths"]
    for path in ("/tasks", "/metadata"):
        assert set(paths[path]) == {"get"}
    schema = paths["/metadata"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/AboutEnvironment"}


def test_neither_says_more_than_public_facts(server) -> None:
    text = json.dumps([server.request("/tasks")[1], server.request("/metadata")[1]["registry"]])
    for task in catalogue().hand_made():
        if task.family == "rewrite" and not task.rewrite.optimal:
            assert json.dumps(task.rewrite.reference_sql)[1:-1] not in text
    assert "reference" not in text
    assert "optimal" not in text


def test_openenvs_own_task_api_knows_the_same_tasks(server) -> None:
    listed = server.request("/tasks")[1]["tasks"]
    with SQLOptimEnv(base_url=server.url).sync() as env:
        for split in ("train", "test"):
            specs = env.list_tasks(split)
            assert [spec["id"] for spec in specs] == [task["id"] for task in listed if task["split"] == split]
            assert env.get_task(split, len(specs) - 1) == specs[-1]
