"""OpenEnv's own runtime graders on evidence from a real server, and those it names but does not have yet, as tests of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from openenv.cli._validation import validate_running_environment
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimeEvidence, load_runtime_plan
from openenv.validation.types import CheckStatus

from sql_optim_env import SQLOptimEnv
from sql_optim_env.agents.player import play
from sql_optim_env.agents.roster import make_player
from sql_optim_env.grading.audit import LEAST_SCORE, MOST_SCORE
from sql_optim_env.tasks.catalogue import catalogue

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


def test_episode_determinism_the_probe_gives_the_same_rewards_and_scores_again(server, evidence: RuntimeEvidence) -> None:
    def timeless(collected: RuntimeEvidence) -> list[object]:
        seen = []
        for exchange in collected.exchanges:
            data = json.loads(exchange.response_json)["data"]
            if exchange.operation == "state":
                seen.append(data)
                continue
            observation = data["observation"]
            execution = observation["last_execution"] or {}
            costs = {name: value for name, value in execution.items() if not name.endswith("_ms")}
            kept = {name: value for name, value in observation.items() if name not in ("last_execution", "metadata")}
            seen.append((data["reward"], data["done"], costs, kept))
        return seen

    assert timeless(collect(server)) == timeless(evidence)


def test_seed_control_a_seed_decides_the_task(server) -> None:
    with SQLOptimEnv(base_url=server.url).sync() as one, SQLOptimEnv(base_url=server.url).sync() as two:
        drawn = [[env.reset(seed=seed).observation.task_id for seed in range(10)] for env in (one, two)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1


def test_task_declaration_accuracy_the_manifest_counts_as_the_server_does(server) -> None:
    with SQLOptimEnv(base_url=server.url).sync() as env:
        counted = {split["name"]: env.num_tasks(split["name"]) for split in env.list_splits()}
    assert counted == MANIFEST.capabilities.declared_task_count


def test_oracle_max_and_floor_gap_on_every_task(server) -> None:
    low, high = MANIFEST.reward.range
    oracle, null = make_player("oracle", catalogue().get), make_player("null", catalogue().get)
    with SQLOptimEnv(base_url=server.url).sync() as env:
        for task in catalogue().hand_made():
            best, floor = (play(env, player, task_id=task.id).reward for player in (oracle, null))
            assert best >= high - MANIFEST.reward.oracle_tolerance, task.id
            assert floor == (LEAST_SCORE if task.family == "audit" else low), task.id
            assert high - floor >= MANIFEST.reward.floor_margin


def test_the_oracle_script_of_the_manifest_says_that_every_task_pays_all_it_can(server) -> None:
    script = ROOT / MANIFEST.capabilities.oracle.location
    run = subprocess.run([sys.executable, script, server.url], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert {line["task_id"]: line["reward"] for line in lines} == {
        task.id: MOST_SCORE if task.family == "audit" else 1.0 for task in catalogue().hand_made()
    }


def test_no_solution_leakage_nothing_shown_before_an_answer_is_the_answer(server) -> None:
    with server.session() as session:
        for task in catalogue().select(family="rewrite"):
            shown = json.dumps(session.reset(task_id=task.id)) + json.dumps(session.state())
            shown += json.dumps(session.step()) + json.dumps(session.step(optimized_query="SELECT 1 AS one"))
            if not task.rewrite.optimal:
                assert json.dumps(task.rewrite.reference_sql)[1:-1] not in shown
            assert json.dumps(task.rewrite.summary)[1:-1] not in shown


def test_episode_isolation_two_sessions_on_one_task_do_not_share_an_episode(server) -> None:
    task = catalogue().hand_made()[0]
    with server.session() as one, server.session() as two:
        one.reset(task_id=task.id, episode_id="one")
        two.reset(task_id=task.id, episode_id="two")
        one.step()
        states = [session.state() for session in (one, two)]
    assert [(state["episode_id"], state["step_count"]) for state in states] == [("one", 1), ("two", 0)]


def test_the_running_server_meets_openenvs_http_standard(server) -> None:
    report = validate_running_environment(server.url)
    assert report["passed"] is True, [c for c in report["criteria"] if not c["passed"]]
