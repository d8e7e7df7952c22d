"""The same answer over and over: however often, on however many workers, in whichever process, beside whatever else runs."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from sql_optim_env.agents.answers import Actions, answers
from sql_optim_env.agents.recording import Recorder, mismatches
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.datasets.store import DATA_DIR_VARIABLE
from sql_optim_env.tasks.task import Task

__all__ = ["REPEATS", "Cell", "differences", "observed"]

REPEATS: Final = 20
_WORKERS: Final = (1, 2)
_SESSIONS: Final = 4
_SEED: Final = 20_260
_NICENESS: Final = 10
"""Of the neighbour: it computes all along and disturbs caches and clocks, but of a crowded machine it takes a tenth instead of a half."""

Cell = tuple[str, str]
"""A task and a kind of answer to it."""


def observed(tasks: Sequence[Task], data_dir: Path) -> dict[Cell, list[str]]:
    """Play every answer to every task :data:`REPEATS` times and return what came back, one text for each play.

    A text holds every answer of the server, the reset's first, without figures of a clock. There is a fresh server for each number of
    workers, which gets an equal share of the plays, and beside it a process that computes all the time.
    """
    # Imported here because it needs what only developers have installed.
    from sql_optim_env.engines.duckdb.cost.calibration.neighbour import busy_neighbour

    chosen = {(task.id, kind): actions for task in tasks for kind, actions in answers(task).items()}
    found: dict[Cell, list[str]] = defaultdict(list)
    for workers in _WORKERS:
        # Shuffled, so that no play has the same ones before and beside it.
        plays = [(cell, actions) for cell, actions in chosen.items() for _ in range(REPEATS // len(_WORKERS))]
        random.Random(_SEED + workers).shuffle(plays)
        with LocalServer({DATA_DIR_VARIABLE: str(data_dir), "SQL_OPTIM_WORKERS": str(workers), "SQL_OPTIM_LOG_LEVEL": "warning"}) as server:
            with busy_neighbour(_NICENESS), ThreadPoolExecutor(_SESSIONS) as sessions:
                for seen in sessions.map(_play_all, [server.url] * _SESSIONS, [plays[n::_SESSIONS] for n in range(_SESSIONS)]):
                    for cell, texts in seen.items():
                        found[cell] += texts
    return dict(found)


def differences(found: Mapping[Cell, Sequence[str]]) -> dict[Cell, list[str]]:
    """Of each cell with more than one text: where the two most frequent ones differ, and how frequent they are."""
    return {cell: _differences(texts) for cell, texts in found.items() if len(set(texts)) > 1}


def _differences(texts: Sequence[str]) -> list[str]:
    (one, ones), (two, twos) = Counter(texts).most_common(2)
    found = mismatches(json.loads(one), json.loads(two))
    return [f"{ones} to {twos} times", *(f"answer {each.step}: {each.field}: {each.recorded!r}, {each.replayed!r}" for each in found)]


def _play_all(url: str, plays: Sequence[tuple[Cell, Actions]]) -> dict[Cell, list[str]]:
    """What came back in each play, one session for all of them."""
    seen: dict[Cell, list[str]] = defaultdict(list)
    with SQLOptimEnv(base_url=url).sync() as client:
        recorder = Recorder(client)
        for cell, actions in plays:
            recorder.reset(task_id=cell[0])
            for action in actions:
                recorder.step(action)
            seen[cell].append(json.dumps(recorder.recording().answers, sort_keys=True))
    return seen
