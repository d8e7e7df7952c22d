"""A real ``openenv-core`` 0.3.0 client, in a virtual environment of its own, plays an episode with our server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sql_optim_env.tasks.catalogue import catalogue

ROOT = Path(__file__).parents[2]
REQUIREMENT = "openenv-core==0.3.0"
TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)

SCRIPT = """
import json, sys
from importlib.metadata import version
from openenv.core.generic_client import GenericEnvClient

url, task_id, sql = sys.argv[1:]
with GenericEnvClient(base_url=url).sync() as env:
    opened = env.reset(task_id=task_id, reward_profile="execution", seed=3)
    looked = env.step({"kind": "query", "sql": "SELECT 1 AS one"})
    answered = env.step({"optimized_query": sql})
    state = env.state()
    try:
        env.step({})
        refusal = ""
    except RuntimeError as error:
        refusal = str(error)
print(json.dumps({
    "version": version("openenv-core"),
    "opened": [opened.observation["task_id"], opened.reward, opened.done],
    "looked": [looked.observation["rows"], looked.reward, looked.done],
    "answered": [answered.observation["score"], answered.reward, answered.done],
    "state": [state["step_count"], state["best_score"]],
    "refusal": refusal,
}))
"""


@pytest.fixture(scope="module")
def old_python(pytestconfig: pytest.Config) -> Path:
    """The interpreter of the old client's environment, made once and kept in pytest's cache."""
    cache = pytestconfig.cache
    assert cache is not None
    # The last part of the name keeps the links of a virtual environment out of what ``openenv validate`` looks at.
    home = cache.mkdir("openenv_core_0_3_0") / ".venv"
    python = home / "bin/python"
    mark = home / "complete"
    if not mark.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        uv = next(iter(sorted(ROOT.glob(".tools/*/bin/uv"))), None)
        install = [uv, "pip", "install", "--python", python] if uv is not None else [python, "-m", "pip", "install"]
        subprocess.run([*install, "--quiet", REQUIREMENT], check=True, timeout=280)
        mark.write_text(REQUIREMENT)
    return python


def test_an_openenv_core_0_3_0_client_plays_an_episode(server, old_python: Path) -> None:
    run = subprocess.run(
        [old_python, "-I", "-c", SCRIPT, server.url, TASK.id, TASK.rewrite.reference_sql], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == {
        "version": "0.3.0",
        "opened": [TASK.id, None, False],
        "looked": [[[1]], 0.0, False],
        "answered": [1.0, 1.0, True],
        "state": [2, 1.0],
        "refusal": "Server error: the episode is over: call reset (code: EXECUTION_ERROR)",
    }
