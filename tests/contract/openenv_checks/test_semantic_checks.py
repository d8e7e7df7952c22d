"""OpenEnv's checks of level 3 ("semantic"), one test each by the check's name, for each family on a real server.

The library names them in its policy and has no grader for them; what each asks for is said at its test.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from openenv.validation.manifest import NormalizedManifestV2

from contract.openenv_checks.host import ROOT, tree, workers
from contract.scripts import FAMILIES, look, script
from sql_optim_env.agents.answers import answers
from sql_optim_env.agents.canary import load_canaries, play_canary
from sql_optim_env.agents.player import play
from sql_optim_env.agents.recording import Recorder, Recording, replay, timeless
from sql_optim_env.agents.roster import make_player
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.datasets import DatasetStore, default_data_dir, get_dataset
from sql_optim_env.grading.audit import LEAST_SCORE, MOST_SCORE
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType

CANARIES = load_canaries(Path(__file__).parents[1] / "canaries")
FLOOR_PLAYERS = ("null", "echo", "stuffing", "ritual")
MOST_FLOOR = 0.2

by_family = pytest.mark.parametrize("family", FAMILIES)


def hand_made(family: str) -> list[Task]:
    return [task for task in catalogue().hand_made() if task.family == family]


@pytest.fixture(scope="module")
def oracle_rewards(server: LocalServer, manifest: NormalizedManifestV2) -> dict[str, float]:
    """What the oracle that the manifest declares says each task has paid it."""
    assert manifest.capabilities.oracle is not None
    script = ROOT / str(manifest.capabilities.oracle.location)
    run = subprocess.run([sys.executable, script, server.url], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stdout + run.stderr
    return {line["task_id"]: line["reward"] for line in map(json.loads, run.stdout.splitlines())}


@by_family
def test_oracle_max(oracle_rewards: dict[str, float], manifest: NormalizedManifestV2, family: str) -> None:
    """The declared oracle earns the most there is on every hand-made task, up to the declared tolerance."""
    _, high = manifest.reward.range
    own = {task.id: oracle_rewards[task.id] for task in hand_made(family)}
    assert min(own.values()) >= high - manifest.reward.oracle_tolerance
    assert set(own.values()) == {MOST_SCORE if family == "audit" else high}


@by_family
def test_floor_gap(client: Any, oracle_rewards: dict[str, float], manifest: NormalizedManifestV2, family: str) -> None:
    """Players of no merit stay at the floor of every hand-made task, and further below the oracle than the manifest promises."""
    low, _ = manifest.reward.range
    for task in hand_made(family):
        floors = {name: play(client, make_player(name, catalogue().get), task_id=task.id).reward for name in FLOOR_PLAYERS}
        assert floors["null"] == (LEAST_SCORE if family == "audit" else low)
        assert max(floors.values()) <= MOST_FLOOR, (task.id, floors)
        assert oracle_rewards[task.id] - max(floors.values()) >= max(manifest.reward.floor_margin, 1 - MOST_FLOOR - 0.001)


ELSEWHERE = {
    "rewrite": ("task_3_wildcard_scan", "task_6_segment_revenue"),
    "tune": ("tune_harbour_berths", "tune_wax_cylinders"),
    "audit": ("null_audit", "scd_overlap"),
}
"""A query that can be improved and one that is optimal; two that differ in what is indexed; a task without a fix and one with."""


@by_family
@pytest.mark.timeout(600)
def test_canary_floor(client: Any, family: str) -> None:
    """A canary that may be played anywhere earns no more than it may on tasks that it was not written for."""
    chosen = [canary for canary in CANARIES if canary.anywhere and canary.family == family]
    assert len(chosen) >= 10
    over = []
    for task_id in ELSEWHERE[family]:
        for canary in chosen:
            run = play_canary(client, canary, catalogue().get, task_id)
            if run.earned > canary.most:
                over.append((task_id, canary.kind, canary.name, run))
    assert over == []


@by_family
def test_no_solution_leakage(client: Any, family: str) -> None:
    """What a wrong answer is told names nothing of the right one that the agent had not said itself."""
    for task in hand_made(family)[:4]:
        if family == "rewrite":
            said = task.rewrite.issues[:1]
            hints = {issue.issue_type.value for issue in task.rewrite.issues} - {issue.issue_type.value for issue in said}
            claim = [{"issue_type": issue.issue_type.value, "line": issue.line, "severity": "low"} for issue in said]
            action = SQLOptimAction.model_validate(
                {"optimized_query": "SELECT 1 AS one", "suggestions": claim, "approved": task.rewrite.optimal}
            )
            client.reset(task_id=task.id)
            shown = client.step(action).observation
            assert [found["issue_type"] for found in shown.issues_found_so_far] == [issue.issue_type.value for issue in said]
            told = shown.feedback + shown.plan
            hints |= {kind.value for kind in IssueType} - {issue.issue_type.value for issue in said}
        elif family == "tune":
            client.reset(task_id=task.id)
            shown = client.step(answers(task)["wrong"][0].model_copy(update={"ddl": []})).observation
            told = shown.feedback + shown.plan
            hints = {statement.split(" ON ")[-1] for statement in task.tune.reference_ddl}
            hints |= {instance.name for instance in get_dataset(task.dataset).instances if instance.role != "public"}
        else:
            scenario = scenario_of(task, None)
            opening = client.reset(task_id=task.id).observation
            wrong: dict[str, Any] = {field: "nothing" for field in scenario.expected.asked()}
            fix = [look(f'DELETE FROM "{scenario.defect.table}" WHERE rowid % 3 = 0', "fix")] if scenario.fixable else []
            turns = [client.step(action) for action in (*fix, SQLOptimAction(**wrong))]
            told = " ".join(turn.observation.feedback for turn in turns)
            hints = set(scenario.expected.asked().values()) | {"extra_column", "shifted", "hidden_seed", scenario.reference_fix or "-"}
            hints -= {scenario.defect.table}
            assert scenario.reference_fix == "" or scenario.reference_fix not in opening.model_dump_json()
        assert sorted(hint for hint in hints if hint and hint in told) == []


@by_family
def test_verifier_determinism(server: LocalServer, connect: Callable[[], Any], family: str) -> None:
    """The same submission gets the same verdict in a fresh session, before and after every worker has been replaced by a fresh process."""
    task = script(family).task

    def verdicts() -> dict[str, dict[str, Any]]:
        found = {}
        for name, actions in answers(task).items():
            session = connect()
            session.reset(task_id=task.id)
            found[name] = timeless([session.step(action) for action in actions][-1].observation)
        return found

    first = verdicts()
    assert len({verdict["score"] for verdict in first.values()}) >= 2
    assert verdicts() == first
    before = workers(server)
    for worker in before:
        worker.kill()
    psutil.wait_procs(before, timeout=20)
    assert verdicts() == first
    assert {worker.pid for worker in workers(server)}.isdisjoint(worker.pid for worker in before)


@by_family
def test_resource_envelope(
    server: LocalServer, scratch_root: Path, manifest: NormalizedManifestV2, connect: Callable[[], Any], family: str
) -> None:
    """A whole episode stays within the memory, cores, disk and time that the manifest declares; and so would the slowest one possible."""
    declared = manifest.resources
    used: list[int] = []
    stop = threading.Event()
    watcher = threading.Thread(target=watch, args=(server, used, stop))
    watcher.start()
    try:
        began, before = time.monotonic(), cpu_seconds(server)
        played = script(family)
        session = connect()
        session.reset(**played.reset)
        assert [session.step(action) for action in played.actions][-1].done
        taken, cpu = time.monotonic() - began, cpu_seconds(server) - before
    finally:
        stop.set()
        watcher.join()
    assert used
    assert max(used) <= declared.memory_mb << 20
    assert cpu <= declared.cpu * taken + 0.5
    assert taken <= declared.episode_timeout_s
    stores = [path.stat().st_size for place in (scratch_root, *places(family)) for path in place.rglob("*") if path.is_file()]
    assert sum(stores) <= declared.disk_mb << 20
    # A look, a fix, a submission may each take a whole deadline, grading an audit three.
    deadline = Settings.model_fields["deadline_s"].default
    slowest = max(
        task.max_explorations + task.max_fixes + (3 if family == "audit" else task.max_steps) for task in catalogue().select(family=family)
    )
    assert slowest * deadline <= declared.episode_timeout_s


def watch(server: LocalServer, used: list[int], stop: threading.Event) -> None:
    """Note the memory of all the server's processes, pages that they share counted once, until told to stop."""
    while not stop.wait(0.1):
        try:
            used.append(sum(process.memory_full_info().pss for process in tree(server)))
        except psutil.NoSuchProcess:
            # A worker that has just been replaced.
            pass


def cpu_seconds(server: LocalServer) -> float:
    return float(sum(sum(process.cpu_times()[:2]) for process in tree(server)))


def places(family: str) -> list[Path]:
    """The directories of the databases that the hand-made tasks of a family need."""
    store = DatasetStore(default_data_dir())
    datasets = {task.dataset for task in hand_made(family) if task.dataset}
    return sorted({store.path(instance).parent for name in datasets for instance in get_dataset(name).instances})


@pytest.fixture(scope="module")
def fresh_server(server_settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """Another server process, with one worker."""
    settings = {"SQL_OPTIM_WORKERS": "1", "SQL_OPTIM_SCRATCH_DIR": str(tmp_path_factory.mktemp("other"))}
    with LocalServer(server_settings | settings) as server:
        yield server


@by_family
def test_replayability(client: Any, fresh_server: LocalServer, tmp_path: Path, family: str) -> None:
    """A recorded episode, read back from its file, comes back the same from another server process."""
    played = script(family)
    recorder = Recorder(client)
    recorder.reset(**played.reset)
    for action in played.actions:
        recorder.step(action)
    file = tmp_path / "episode.json"
    file.write_text(recorder.recording().to_json(), encoding="utf-8")
    recording = Recording.from_json(file.read_text(encoding="utf-8"))
    assert recording.answers[-1]["done"] is True
    with SQLOptimEnv(base_url=fresh_server.url).sync() as other:
        assert replay(other, recording) == ()
