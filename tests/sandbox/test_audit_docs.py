"""docs/audit.md is true: its worked example is played again, and its figures are those of the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from families.fake_runner import FakeRunner
from sql_optim_env.families.audit import AuditEpisode
from sql_optim_env.grading.audit import ANSWER_WEIGHTS, CATASTROPHE_CAP, FIX_WEIGHTS, LEAST_SCORE, LEVEL_WORTH, MOST_SCORE
from sql_optim_env.grading.report import BINARY_THRESHOLD
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.sandbox import audit_jobs
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| \d \| `(\w+)` \| `(.*)` \| `(.*)` \|$", PAGE, re.MULTILINE)


class Runner(FakeRunner):
    """Runs the jobs of the family in a real worker."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self.sandbox = sandbox

    def __getattr__(self, job: str) -> Any:
        return lambda task, *arguments: self.sandbox.call(getattr(audit_jobs, job), task.id, *arguments)


def action(kind: str, said: str) -> SQLOptimAction:
    if kind != "submit":
        return SQLOptimAction(kind=kind, sql=said)
    return SQLOptimAction(**dict(field.split("=") for field in said.split(", ")))


def test_the_worked_example_goes_as_it_is_told(make_sandbox: Callable[..., Sandbox]) -> None:
    episode = AuditEpisode(catalogue().get("dedup_bug"), Runner(make_sandbox(deadline_s=30.0)), seed=7)
    last = [episode.handle(action(kind, said)).observation for kind, said, _ in STEPS][-1]
    assert [(entry.kind, entry.action, entry.outcome) for entry in last.history] == STEPS
    assert len(STEPS) == 8
    told = dict(re.findall(r"^\| `(\w+)` \| .* \| (\d\.\d+) \|$", PAGE, re.MULTILINE))
    assert {name: float(share) for name, share in told.items()} == last.reward_breakdown
    assert f"| **{last.score}** |" in PAGE


@pytest.mark.parametrize(("name", "weight"), FIX_WEIGHTS.items())
def test_every_weight_is_documented(name: str, weight: float) -> None:
    assert f"| `{name}` | {weight:.2f} | " in PAGE
    if name in ANSWER_WEIGHTS:
        assert ANSWER_WEIGHTS[name] == weight


def test_every_level_and_bound_is_documented() -> None:
    for level, worth in LEVEL_WORTH.items():
        assert re.search(rf"^\| {level} \| .* \| {worth:g}(\.0)?[ ,].*\|$", PAGE, re.MULTILINE), level
    assert f"`answer_correctness` {ANSWER_WEIGHTS['answer_correctness']:.2f}" in PAGE
    assert f"holding the score between {LEAST_SCORE} and {MOST_SCORE}" in PAGE
    assert f"the score is capped at {CATASTROPHE_CAP:g}" in PAGE
    assert f"from a total of {BINARY_THRESHOLD:g}" in PAGE
