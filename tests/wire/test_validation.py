"""OpenEnv's own runtime graders on evidence from a real server.

Those that it names but does not have yet are tests of ours, in ``tests/contract/openenv_checks``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openenv.cli._validation import validate_running_environment
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimeEvidence, load_runtime_plan
from openenv.validation.types import CheckStatus

# OpenEnv's collector connects in a way that the websockets library has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager:DeprecationWarning")

ROOT = Path(__file__).parents[2]
MANIFEST = OpenEnvYamlParser().parse(ROOT)
PLAN = load_runtime_plan(ROOT, MANIFEST.execution)


def collect(server) -> RuntimeEvidence:
    return collect_runtime_evidence(server.url, PLAN, episode_timeout_s=MANIFEST.resources.episode_timeout_s)


@pytest.fixture(scope="module")
def evidence(server) -> RuntimeEvidence:
    return collect(server)


def test_the_probe_plays_a_whole_episode(evidence: RuntimeEvidence) -> None:
    assert evidence.failure_reason is None
    operations = [exchange.operation for exchange in evidence.exchanges]
    assert operations == ["reset", "state"] + ["step", "state"] * len(PLAN.actions)
    rewards = [json.loads(exchange.response_json)["data"]["reward"] for exchange in evidence.exchanges if exchange.operation == "step"]
    assert max(rewards) > 0.0


@pytest.mark.parametrize("grader", [RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()], ids=lambda g: g.check_id)
def test_the_runtime_graders_pass(grader, evidence: RuntimeEvidence, tmp_path: Path) -> None:
    subject = Subject(root=ROOT, manifest=MANIFEST, image_ref=None, running=None, outputs_dir=tmp_path, runtime_evidence=evidence)
    result = grader.run(subject)
    assert result.status is CheckStatus.PASS, result.evidence


def test_the_running_server_meets_openenvs_http_standard(server) -> None:
    report = validate_running_environment(server.url)
    assert report["passed"] is True, [c for c in report["criteria"] if not c["passed"]]
