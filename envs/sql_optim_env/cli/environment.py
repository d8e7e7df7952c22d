"""Where to play: a server that is running, one in a container, or one of our own; and which tasks it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.cli.readiness import get_json, wait_until_ready
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["environment", "listed_tasks", "packaged_tasks"]


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
    status, body = get_json(url, path)
    if status != 200:
        raise OSError(f"{path} was answered with status {status}")
    return body
