"""The page at /web: it is there when it is asked for, and it plays by hand."""

from __future__ import annotations

import pytest

from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.catalogue import catalogue

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)


@pytest.fixture(scope="module")
def web_server(start_server):
    server = start_server(enable_web="true", workers=1)
    yield server
    assert server.stop() == 0


def test_the_root_leads_to_the_page(web_server) -> None:
    status, page = web_server.request("/")
    assert status == 200
    assert "sql_optim_env" in page
    assert "gradio" in page


def test_an_episode_can_be_played_by_hand(web_server) -> None:
    status, opened = web_server.request("/web/reset", {"task_id": TASK.id, "reward_profile": "execution"})
    assert (status, opened["observation"]["task_id"], opened["reward"]) == (200, TASK.id, None)
    status, answered = web_server.request("/web/step", {"action": {"optimized_query": TASK.rewrite.reference_sql}})
    assert (status, answered["reward"], answered["done"]) == (200, 1.0, True)
    status, state = web_server.request("/web/state")
    assert (status, state["task_id"], state["best_score"]) == (200, TASK.id, 1.0)


def test_the_callers_errors_have_a_status_here_too(web_server) -> None:
    assert web_server.request("/web/reset", {"task_id": "nope"})[0] == 404
    assert web_server.request("/web/reset", {"colour": "red"})[0] == 422


def test_sessions_and_limits_are_the_same_beside_the_page(web_server) -> None:
    with web_server.session() as session:
        assert session.reset(task_id=TASK.id)["data"]["observation"]["task_id"] == TASK.id
    assert web_server.request("/step", b"x" * (4 * 1024 * 1024 + 1))[0] == 413


def test_without_it_there_is_no_page(server) -> None:
    assert server.request("/web")[0] == 404


def test_the_form_offers_every_field_of_an_action() -> None:
    from openenv.core.env_server.web_interface import _extract_action_fields

    fields = {field["name"]: field["type"] for field in _extract_action_fields(SQLOptimAction)}
    assert set(fields) == set(SQLOptimAction.model_fields) - {"metadata"}
    assert fields["kind"] == "select"
    assert fields["optimized_query"] == "textarea"
