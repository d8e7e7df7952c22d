from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from sql_optim_env.cli.environment import environment, listed_tasks, packaged_tasks
from sql_optim_env.cli.readiness import ServerStartError, wait_until_ready
from sql_optim_env.tasks.catalogue import catalogue


class Answering:
    """A server that answers each path with the next of its answers, the last again and again."""

    def __init__(self) -> None:
        self.answers: dict[str, list[tuple[int, Any]]] = {}
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answers = owner.answers.get(self.path, [(404, {})])
                status, body = answers.pop(0) if len(answers) > 1 else answers[0]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def answering() -> Iterator[Answering]:
    made = Answering()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def preparing(progress: str, status: str = "preparing") -> tuple[int, dict[str, str]]:
    return 503, {"status": status, "progress": progress}


def test_a_server_that_prepares_is_waited_for_and_each_message_told_once(answering: Answering) -> None:
    said: list[str] = []
    answering.answers["/ready"] = [preparing("one"), preparing("one"), preparing("two"), (200, {"status": "ready"})]
    with environment(url=answering.url, image="ignored", say=said.append) as url:
        assert url == answering.url
    assert said == ["one", "two"]


def test_a_server_that_fails_or_takes_too_long_is_an_error(answering: Answering) -> None:
    answering.answers["/ready"] = [(503, {"status": "failed", "progress": "p", "error": "no disk"})]
    with pytest.raises(ServerStartError, match="cannot become ready: no disk"):
        wait_until_ready(answering.url, print)
    answering.answers["/ready"] = [preparing("still")]
    with pytest.raises(ServerStartError, match="within 0 s; it last said: still"):
        wait_until_ready(answering.url, print, within_s=0)
    answering.answers["/ready"] = [(502, b"<html>bad gateway</html>")]
    with pytest.raises(ServerStartError, match="it last said: status 502"):
        wait_until_ready(answering.url, print, within_s=0)


def test_a_server_without_that_path_has_nothing_to_prepare(answering: Answering) -> None:
    wait_until_ready(answering.url, print)
    wait_until_ready(answering.url.replace("http", "ws"), print)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "no address", "http://[bad"])
def test_no_server_is_an_error_at_once(url: str) -> None:
    with pytest.raises(OSError):
        wait_until_ready(url, print)


def test_the_servers_tasks_are_filtered_in_its_own_order(answering: Answering) -> None:
    rows = [("b", "tune", "test"), ("a", "rewrite", "train"), ("g", "tune", "train"), ("c", "tune", "train")]
    answering.answers["/tasks"] = [(200, {"tasks": [{"id": i, "family": f, "split": s} for i, f, s in rows]})]
    answering.answers["/metadata"] = [(200, {"registry": {"tune": {"hand_made": ["b", "c"]}, "rewrite": {"hand_made": ["a"]}}})]
    assert listed_tasks(answering.url + "/") == ["b", "a", "c"]
    assert listed_tasks(answering.url, generated=True) == ["b", "a", "g", "c"]
    assert listed_tasks(answering.url, family="tune") == ["b", "c"]
    assert listed_tasks(answering.url, family="tune", split="train", generated=True) == ["g", "c"]
    assert listed_tasks(answering.url, family="audit") == []


def test_a_server_that_does_not_list_its_tasks_is_an_error(answering: Answering) -> None:
    with pytest.raises(OSError, match="/tasks was answered with status 404"):
        listed_tasks(answering.url)


def test_the_packages_own_tasks_are_the_hand_made_ones() -> None:
    assert packaged_tasks() == [task.id for task in catalogue().hand_made()]
    rewrite = packaged_tasks(family="rewrite")
    assert "task_1_basic_antipatterns" in rewrite
    assert not any(task_id.startswith("tune") for task_id in rewrite)
    assert set(packaged_tasks(split="train")).isdisjoint(packaged_tasks(split="test"))
