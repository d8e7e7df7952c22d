"""The same answer gets the same observation: however often, on however many workers, in whichever process, beside whatever else runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from sql_optim_env.agents.recording import timeless
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

REPEATS = 20
TASKS = [task for task in catalogue().hand_made() if task.family == "rewrite"]
SLOW_ECHO = {"task_2_correlated_subqueries", "task_4_implicit_join", "task_5_window_functions"}
"""Tasks whose original takes a quarter of a second or more: fewer repeats of the echo, to keep the suite short."""

Cells = dict[tuple[str, str], set[str]]


def answers(task: Task) -> dict[str, SQLOptimAction]:
    """Answers of every kind: the best one, a partial one, a wrong one, a failing one, a refused one."""
    reference = task.rewrite.reference_sql
    return {
        "oracle": SQLOptimAction(
            optimized_query=reference,
            suggestions=[{"issue_type": i.issue_type.value, "line": i.line, "severity": i.severity.value} for i in task.rewrite.issues],
            summary=task.rewrite.summary,
            approved=task.rewrite.optimal,
        ),
        "partial": SQLOptimAction(optimized_query=task.rewrite.equivalents[0], approved=False),
        "wrong": SQLOptimAction(optimized_query=f"SELECT * FROM ({reference}) AS t LIMIT 1"),
        "failing": SQLOptimAction(optimized_query="SELECT no_such_column FROM orders"),
        "refused": SQLOptimAction(optimized_query="SELECT random()"),
    }


def play(url: str, task: Task, name: str, action: SQLOptimAction) -> tuple[tuple[str, str], str]:
    with SQLOptimEnv(base_url=url).sync() as client:
        client.reset(task_id=task.id)
        result = client.step(action)
        return (task.id, name), json.dumps(timeless(result.observation), sort_keys=True)


def repeated() -> Iterator[tuple[Task, str, SQLOptimAction]]:
    for task in TASKS:
        for name, action in answers(task).items():
            for _ in range(REPEATS // 2):
                yield task, name, action
        echo = SQLOptimAction(optimized_query=task.sql, approved=False)
        for _ in range(1 if task.id in SLOW_ECHO else REPEATS // 2):
            yield task, "echo", echo


@contextmanager
def busy_neighbour() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.timeout(900)
def test_one_answer_has_one_observation_on_one_worker_and_on_two_beside_a_busy_neighbour() -> None:
    cells: Cells = defaultdict(set)
    for workers in (1, 2):
        # A fresh server process each time; half of all repeats on each.
        with LocalServer({"SQL_OPTIM_WORKERS": str(workers), "SQL_OPTIM_LOG_LEVEL": "warning"}) as server:
            with busy_neighbour(), ThreadPoolExecutor(4) as sessions:
                for cell, seen in sessions.map(lambda item: play(server.url, *item), repeated()):
                    cells[cell].add(seen)
    assert len(cells) == 6 * len(TASKS)
    assert {cell: len(seen) for cell, seen in cells.items() if len(seen) > 1} == {}
