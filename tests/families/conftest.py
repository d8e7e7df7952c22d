from __future__ import annotations

from collections.abc import Callable

import pytest

from families.fake_runner import FakeRunner
from grading.samples import make_task
from sql_optim_env.families.rewrite import RewriteEpisode


@pytest.fixture
def runner() -> FakeRunner:
    return FakeRunner()


@pytest.fixture
def start(runner: FakeRunner) -> Callable[..., RewriteEpisode]:
    """Starts an episode; keyword arguments of make_task and of RewriteEpisode may be mixed."""

    def make(**options: object) -> RewriteEpisode:
        own = {name: options.pop(name) for name in ("profile", "reward_mode") if name in options}
        return RewriteEpisode(make_task(**options), runner, schema_info="CREATE TABLE orders (id INTEGER);", **own)

    return make
