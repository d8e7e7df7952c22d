"""Where to play: a server that is running, one in a container, or one of our own; and which tasks it has."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sql_optim_env.cli.local_server import LocalServer, ServerStartError
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["environment", "listed_tasks", "packaged_tasks", "wait_until_ready"]

_READY_WITHIN_S = 300.0
_POLL_S = 0.2


@contextmanager
def environment(*, url: str | None, image: str, say: Callable[[str], None]) -> Iterator[str]:
    """The address of a server that is ready. What was started for it is gone afterwards.

    With a ``url`` it is that; else with an ``image`` one in a container, started by OpenEnv's own Docker client; else a server of our own.
    """
    if url:
        wait_until_ready(url, say)
        yield url
    elif image:
        say(f"starting a container from the image {image}")
        with SQLOptimEnv.from_docker_image(image).sync() as container:
            address = str(container.async_client.base_url)
            wait_until_ready(address, say)
            yield address
    else:
        say("starting a server of our own")
        with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning"}, progress=say) as server:
            yield server.url


def wait_until_ready(url: str, say: Callable[[str], None], *, within_s: float = _READY_WITHIN_S) -> None:
    """Wait while the server prepares its datasets, and tell of it.

    Raises :class:`ServerStartError` when that fails or takes longer than ``within_s`` seconds, ``OSError`` when there is no server.
    """
    end = time.monotonic() + within_s
    said = ""
    while True:
        status, body = _get(url, "/ready")
        # A server without the path has nothing to prepare.
        if status in (200, 404):
            return
        progress = str(body.get("progress", ""))
        if body.get("status") == "failed":
            raise ServerStartError(f"the server cannot become ready: {body.get('error') or progress}")
        if time.monotonic() > end:
            raise ServerStartError(f"the server was not ready within {within_s:.0f} s; it last said: {progress or f'status {status}'}")
        if progress and progress != said:
            say(progress)
            said = progress
        time.sleep(_POLL_S)


def listed_tasks(url: str, *, family: str | None = None, split: str | None = None, generated: bool = False) -> list[str]:
    """The ids of a server's tasks, in its order; only those that were made by hand unless ``generated``. Raises ``OSError``."""
    listed = _need(url, "/tasks")["tasks"]
    registry = _need(url, "/metadata")["registry"]
    hand_made = {task_id for facts in registry.values() for task_id in facts["hand_made"]}
    return [
        str(task["id"])
        for task in listed
        if family in (None, task["family"]) and split in (None, task["split"]) and (generated or task["id"] in hand_made)
    ]


def packaged_tasks(*, family: str | None = None, split: str | None = None) -> list[str]:
    """The ids of this package's hand-made tasks, for when there is no server to ask."""
    return [task.id for task in catalogue().hand_made() if family in (None, task.family) and split in (None, task.split)]


def _need(url: str, path: str) -> Any:
    status, body = _get(url, path)
    if status != 200:
        raise OSError(f"{path} was answered with status {status}")
    return body


def _get(url: str, path: str) -> tuple[int, dict[str, Any]]:
    """Status and body, which is empty where it is no JSON object. Raises ``OSError`` when the server does not answer."""
    base = f"http{url[2:]}" if url.startswith("ws") else url
    try:
        with urllib.request.urlopen(base.rstrip("/") + path, timeout=30) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            status, text = error.code, error.read()
    except ValueError as error:
        raise OSError(f"{url!r} is no address: {error}") from None
    try:
        body = json.loads(text)
    except ValueError:
        body = {}
    return status, body if isinstance(body, dict) else {}
