from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from families.fake_runner import FakeRunner
from grading.samples import make_task
from sql_optim_env.agents.player import LocalSession
from sql_optim_env.families.rewrite import RewriteEpisode
from sql_optim_env.tasks.task import Task


@pytest.fixture
def lookup() -> Callable[[str], Task]:
    """The tasks by id: ``task_sample`` has headroom, ``task_optimal`` has none."""
    tasks = {"task_sample": make_task(), "task_optimal": make_task(task_id="task_optimal", optimal=True)}
    return tasks.__getitem__


@pytest.fixture
def session(lookup: Callable[[str], Task]) -> LocalSession:
    """A session without a server over the fake runner."""

    def start(*, task_id: str, seed: int | None = None, **_: Any) -> RewriteEpisode:
        return RewriteEpisode(lookup(task_id), FakeRunner(), schema_info="")

    return LocalSession(start)
