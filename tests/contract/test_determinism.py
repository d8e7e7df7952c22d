"""The same answer gets the same observation: however often, on however many workers, in whichever process, beside whatever else runs."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from contract.scripts import Actions, answers
from sql_optim_env.agents.recording import Recorder
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.engines.duckdb.cost.calibration.neighbour import busy_neighbour
from sql_optim_env.tasks.catalogue import catalogue

TASKS = catalogue().hand_made()
REPEATS = 20
SESSIONS = 4
SEED = 20_260

Cell = tuple[str, str]
Cells = dict[Cell, list[str]]


def cells() -> dict[Cell, Actions]:
    return {(task.id, name): actions for task in TASKS for name, actions in answers(task).items()}


def play_all(url: str, plays: Sequence[tuple[Cell, Actions]]) -> Cells:
    """What came back in each play (every answer, the opening first, without clock figures), one session for all of them."""
    seen: Cells = defaultdict(list)
    with SQLOptimEnv(base_url=url).sync() as client:
        recorder = Recorder(client)
        for cell, actions in plays:
            recorder.reset(task_id=cell[0])
            for action in actions:
                recorder.step(action)
            seen[cell].append(json.dumps(recorder.recording().answers, sort_keys=True))
    return seen


def differences(texts: Sequence[str]) -> list[str]:
    """Where the two most frequent of several texts differ, and how frequent they are."""
    (one, ones), (two, twos) = Counter(texts).most_common(2)
    pairs = [
        (f"answer {number}: {field}", before["observation"][field], after["observation"][field])
        for number, (before, after) in enumerate(zip(json.loads(one), json.loads(two), strict=True))
        for field in before["observation"]
    ]
    return [f"{ones} to {twos} times", *(f"{where}: {was!r}, {now!r}" for where, was, now in pairs if was != now)]


@pytest.mark.timeout(1800)
def test_one_answer_has_one_observation_on_one_worker_and_on_two_beside_a_busy_neighbour() -> None:
    chosen = cells()
    found: Cells = defaultdict(list)
    for workers in (1, 2):
        # A fresh server process each time, half of the repeats on each; shuffled, so that no play has the same ones before and beside it.
        plays = [(cell, actions) for cell, actions in chosen.items() for _ in range(REPEATS // 2)]
        random.Random(SEED + workers).shuffle(plays)
        with LocalServer({"SQL_OPTIM_WORKERS": str(workers), "SQL_OPTIM_LOG_LEVEL": "warning"}) as server:
            with busy_neighbour(), ThreadPoolExecutor(SESSIONS) as sessions:
                for seen in sessions.map(play_all, [server.url] * SESSIONS, [plays[n::SESSIONS] for n in range(SESSIONS)]):
                    for cell, texts in seen.items():
                        found[cell] += texts
    assert {cell: len(texts) for cell, texts in found.items()} == dict.fromkeys(chosen, REPEATS)
    assert {cell: differences(texts) for cell, texts in found.items() if len(set(texts)) > 1} == {}


def test_every_hand_made_task_has_a_best_an_idle_a_slow_and_a_wrong_answer() -> None:
    assert {task.family for task in TASKS} == {"rewrite", "tune", "audit"}
    for task in TASKS:
        assert {"oracle", "echo", "slow", "wrong"} <= set(answers(task)), task.id
