"""What ``sql-optim bench`` measures. Each measure yields figures; a ratio always compares two measurements of the same run."""

from __future__ import annotations

import importlib.util
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psutil

from sql_optim_env.agents.fixed import EchoPlayer, OraclePlayer
from sql_optim_env.agents.player import Player, play
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore, default_data_dir
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["Figure", "measure_all"]

Say = Callable[[str], None]

LONG_QUERY_S = 0.020
"""Above this bare time the overhead is judged as a ratio, below it as what is added."""

_STEPS_A_SESSION = 6
_THROUGHPUT_TASK = "task_1_basic_antipatterns"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report: a median with the middle half of its samples."""

    measure: str
    case: str
    value: float
    low: float
    high: float
    unit: str
    goal: str = ""


def figure(measure: str, case: str, samples: Sequence[float], unit: str, goal: str = "") -> Figure:
    """The median and quartiles of ``samples`` (at least one)."""
    if len(samples) < 2:
        return Figure(measure, case, samples[0], samples[0], samples[0], unit, goal)
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Figure(measure, case, middle, low, high, unit, goal)


def measure_all(repeats: int, yardstick: Path, say: Say) -> Iterator[Figure]:
    """Every measure, one after another, each said when it begins."""
    say("time to ready, cold and warm")
    yield from time_to_ready()
    with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning", "SQL_OPTIM_WORKERS": "1"}, progress=say) as server:
        say("graded submit against the bare engine and the plain grader")
        yield from grading(server, repeats, yardstick)
        say("memory")
        yield from memory(server)
    for workers in (1, 2):
        with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning", "SQL_OPTIM_WORKERS": str(workers)}) as server:
            for sessions in (1, 4, 16):
                say(f"throughput with {sessions} sessions on {workers} workers")
                yield throughput(server, sessions, workers)


def time_to_ready() -> Iterator[Figure]:
    """Seconds until ``/ready`` answers 200: with an empty data directory, and again with what the first start has built."""
    seconds = []
    with tempfile.TemporaryDirectory(prefix="sql-optim-bench-") as directory:
        for _ in range(2):
            began = time.perf_counter()
            with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning", "SQL_OPTIM_DATA_DIR": directory}):
                seconds.append(time.perf_counter() - began)
    cold, warm = seconds
    yield figure("time to ready", "cold", [cold], "s")
    yield figure("time to ready", "warm", [warm], "s")
    yield figure("time to ready", "cold / warm", [cold / warm], "x")


def grading(server: LocalServer, repeats: int, yardstick: Path) -> Iterator[Figure]:
    """A graded submit over the wire against the bare engine on the same instances, and against the plain grader; one worker."""
    plain = _load(yardstick)
    store = DatasetStore(default_data_dir())
    with SQLOptimEnv(base_url=server.url).sync() as client:
        for task in catalogue().select(family="rewrite"):
            paths = [store.ensure(instance) for instance in task_instances(task)]
            grader = plain.ReferenceGrader(store.path(get_dataset(task.dataset).public))
            bare = _BareEngine(paths)
            try:
                for player in (EchoPlayer(), OraclePlayer(catalogue().get)):
                    yield from _grading_case(client, task, player, bare, grader, repeats)
            finally:
                bare.close()
                grader.close()


def _grading_case(client: Any, task: Task, player: Player, bare: _BareEngine, plain: Any, repeats: int) -> Iterator[Figure]:
    action = player.act(client.reset(task_id=task.id).observation)
    sql = action.optimized_query
    served, raw, plainly = [], [], []
    for _ in range(repeats + 1):
        # Interleaved, so that a slow moment of the machine falls on all three alike.
        client.reset(task_id=task.id)
        served.append(_seconds(lambda: client.step(action)))
        raw.append(_seconds(lambda: bare.run(sql)))
        plainly.append(_seconds(lambda: plain.grade(task.sql, sql)))
    served, raw, plainly = served[1:], raw[1:], plainly[1:]  # the first one opens files and fills caches
    case = f"{task.id} / {player.name}"
    if statistics.median(raw) > LONG_QUERY_S:
        yield figure("submit over bare engine", case, [s / r for s, r in zip(served, raw, strict=True)], "x", "<= 1.5")
    else:
        yield figure("submit minus bare engine", case, [(s - r) * 1e3 for s, r in zip(served, raw, strict=True)], "ms", "<= 10")
    yield figure("plain grader over submit", case, [p / s for p, s in zip(plainly, served, strict=True)], "x", ">= 10")


class _BareEngine:
    """The engine alone, with one thread as in grading, on the instances that grading runs."""

    def __init__(self, paths: Iterable[Path]) -> None:
        # As the plain grader opens them: one process may not open a file under two configurations.
        self._connections = [duckdb.connect(str(path), read_only=True, config={"threads": 1}) for path in paths]

    def run(self, sql: str) -> None:
        for connection in self._connections:
            connection.sql(sql).to_arrow_reader(100_000).read_all()

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


def throughput(server: LocalServer, sessions: int, workers: int) -> Figure:
    """Graded submits a second over all sessions, each session on its own connection and thread."""
    task = catalogue().get(_THROUGHPUT_TASK)
    action = SQLOptimAction(optimized_query=task.rewrite.reference_sql)
    barrier = threading.Barrier(sessions + 1)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with SQLOptimEnv(base_url=server.url).sync() as client:
                client.reset(task_id=task.id)
                client.step(action)
                barrier.wait()
                for _ in range(_STEPS_A_SESSION):
                    client.reset(task_id=task.id)
                    client.step(action)
        except BaseException as error:
            failures.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work) for _ in range(sessions)]
    for thread in threads:
        thread.start()
    try:
        barrier.wait()
    except threading.BrokenBarrierError:
        pass
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    rate = sessions * _STEPS_A_SESSION / (time.perf_counter() - began)
    return figure("graded submits a second", f"{sessions} sessions, {workers} workers", [rate], "1/s")


def memory(server: LocalServer) -> Iterator[Figure]:
    """Resident memory after work: the server process, and each child of it that holds more than an interpreter's start."""
    play_all(server)
    process = psutil.Process(server.pid)
    yield figure("resident memory", "server", [process.memory_info().rss / 2**20], "MiB")
    for child in sorted(process.children(recursive=True), key=lambda p: p.pid):
        yield figure("resident memory", f"child {child.name()}", [child.memory_info().rss / 2**20], "MiB")


def play_all(server: LocalServer) -> None:
    """One oracle episode a task, so that every worker has had work."""
    oracle = OraclePlayer(catalogue().get)
    with SQLOptimEnv(base_url=server.url).sync() as client:
        for task in catalogue().hand_made():
            play(client, oracle, task_id=task.id)


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, os.fspath(path))
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
