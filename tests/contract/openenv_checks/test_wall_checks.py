"""OpenEnv's checks of level 2 ("runtime") that are about walls: what a statement may use, what it reaches, where the oracle is.

The library names them in its policy and has no grader for them; what each asks for is said at its test.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from contract.openenv_checks.host import DEADLINE_S, ROOT, WORD, get, transcript, workers
from contract.scripts import FAMILIES, harm, look, script
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.cli.readiness import get_json
from sql_optim_env.client import ServerError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.audit.draw import scenario_of

PROMPTLY_S = DEADLINE_S + 10.0
"""A statement is ended within a second of its deadline; the machine that runs the tests may be busy."""
MOST_LEFT_BYTES = 64 << 20
SHARED_MB = 300
"""What a worker holds besides its private memory: the engines' code and the pages it shares with the process that it was forked from."""

by_family = pytest.mark.parametrize("family", FAMILIES)


def trespasses(server: LocalServer, most_bytes: int, most_processes: int) -> list[str]:
    """What of the server's tree is too much at this moment."""
    found = []
    try:
        if len(psutil.Process(server.pid).children(recursive=True)) > most_processes:
            found.append("more processes than before")
        found += [f"a worker of {size >> 20} MB" for worker in workers(server) if (size := worker.memory_info().rss) > most_bytes]
    except psutil.NoSuchProcess:
        # A worker that has just been killed.
        pass
    return found


def text_of(*observations: SQLOptimObservation) -> str:
    return "\n".join(json.dumps(observation.model_dump(mode="json"), ensure_ascii=False) for observation in observations)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
GREEDY = {
    "rewrite": (
        look("SELECT count(*) FROM events AS a, events AS b WHERE (a.id * b.id) % 7 = 3 AND a.id <> b.user_id"),
        look("SELECT len(range(300000000)) AS n"),
    ),
    "tune": (
        look(f"{ENDLESS} SELECT max(i) FROM n"),
        look(f"CREATE TABLE t AS {ENDLESS[:-1]} LIMIT 100000) SELECT zeroblob(1000000) AS b FROM n"),
    ),
    "audit": (
        look(f"CREATE TABLE t (i); {ENDLESS} INSERT INTO t SELECT i FROM n", "fix"),
        look("CREATE TABLE t (s); INSERT INTO t VALUES ('x'); " + "UPDATE t SET s = s || s; " * 60, "fix"),
    ),
}


@by_family
def test_resource_bounds(server: LocalServer, client: Any, scratch_root: Path, family: str) -> None:
    """Whatever is asked for ends in time, in bounded memory and disk, and the server has as many processes as before."""
    tree = psutil.Process(server.pid)
    client.reset(task_id=script(family).task.id, seed=7)
    before = len(tree.children(recursive=True))
    for action in GREEDY[family]:
        over: list[str] = []
        stop = threading.Event()
        # While a worker is replaced, the old one may still be there.
        limits = ((Settings().worker_memory_mb + SHARED_MB) << 20, before + 1)
        watcher = threading.Thread(target=watch, args=(server, over, stop, *limits))
        watcher.start()
        began = time.monotonic()
        try:
            observation = client.step(action).observation
        finally:
            taken = time.monotonic() - began
            stop.set()
            watcher.join()
        assert observation.error is not None, observation.feedback
        assert observation.error.code in ("timeout", "out_of_memory", "execution_error", "refused_function")
        assert taken < PROMPTLY_S
        assert over == []
    assert client.step(look("SELECT 1 AS one")).observation.rows == [[1]]
    end = time.monotonic() + PROMPTLY_S
    while len(tree.children(recursive=True)) != before:
        assert time.monotonic() < end, "a worker was not replaced, or an old one stayed"
        time.sleep(0.05)  # the workers are the server's: there is nothing to wait on but what the system lists
    assert sum(path.stat().st_size for path in scratch_root.rglob("*") if path.is_file()) < MOST_LEFT_BYTES


def watch(server: LocalServer, over: list[str], stop: threading.Event, most_bytes: int, most_processes: int) -> None:
    while not stop.wait(0.05):
        over += trespasses(server, most_bytes, most_processes)


REACHING = {
    "rewrite": (
        "SELECT * FROM read_text('$file')",
        "SELECT * FROM '$file'",
        "SELECT * FROM read_csv('$file')",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '$new'",
        "EXPORT DATABASE '$new'",
        "ATTACH '$new' AS stolen",
        "SELECT * FROM 'http://127.0.0.1:$port/x.parquet'",
        "SELECT * FROM read_csv('http://127.0.0.1:$port/x.csv')",
        "INSTALL httpfs",
        "LOAD '$file'",
        "SELECT getenv('PLANTED_WORD') AS word",
        "SELECT * FROM duckdb_databases()",
        "SELECT * FROM duckdb_settings()",
    ),
    "tune": (
        "SELECT readfile('$file') AS word",
        "SELECT writefile('$new', 'x') AS written",
        "ATTACH '$new' AS stolen",
        "ATTACH '$file' AS kept",
        "VACUUM INTO '$new'",
        "SELECT load_extension('$file')",
        "CREATE VIRTUAL TABLE stolen USING csv(filename='$file')",
        "PRAGMA temp_store_directory = '$new'",
        "SELECT edit('x', '$file') AS word",
        "SELECT fsdir('/') AS name",
    ),
}
REACHING["audit"] = REACHING["tune"]


@by_family
def test_host_containment(server: LocalServer, client: Any, scratch_root: Path, tmp_path: Path, family: str) -> None:
    """No statement reads or writes a file, opens a connection, sees the environment, or tells which files there are."""
    kept, missing, new = tmp_path / "kept.txt", tmp_path / "gone.txt", tmp_path / "new"
    kept.write_text(WORD)
    places = [WORD, str(tmp_path), str(scratch_root), str(ROOT), str(Settings().data_dir)]
    kinds = ("query", "fix") if family == "audit" else ("query", "explain", "submit")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        for sql in REACHING[family]:
            for kind in kinds:
                said = []
                for file in (kept, missing):
                    filled = sql.replace("$file", str(file)).replace("$new", str(new)).replace("$port", str(listener.getsockname()[1]))
                    client.reset(task_id=script(family).task.id, seed=7)
                    action = (
                        look(filled, kind)
                        if kind != "submit"
                        else SQLOptimAction(optimized_query=filled, ddl=[filled] * (family == "tune"))
                    )
                    observation = client.step(action).observation
                    # SQLite plans without running anything: what is planned of VACUUM INTO or a virtual table is empty.
                    assert observation.error is not None or (family, kind) == ("tune", "explain"), (kind, filled)
                    # What was sent may come back; what was not must not.
                    shown = text_of(observation.model_copy(update={"history": []})).replace(filled, "").replace(str(file), "")
                    assert [place for place in places if place in shown] == []
                    said.append(shown)
                assert said[0] == said[1]
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert kept.read_text() == WORD
    assert [worker.net_connections("inet") for worker in workers(server)] == [[]] * len(workers(server))


PUBLIC_KEYS = {
    "listed": {"id", "family", "split", "difficulty", "attempts", "grader"},
    "current_task": {"id", "split", "index", "family", "difficulty", "name", "dataset", "max_steps"},
    "state": {
        "episode_id",
        "step_count",
        "task_id",
        "family",
        "max_steps",
        "episode_done",
        "cumulative_reward",
        "best_score",
        "current_task",
    },
    "metadata": {"reward_breakdown", "feedback", "execution"},
}


@by_family
def test_oracle_containment(server: LocalServer, client: Any, family: str) -> None:
    """The oracle's data is in no answer, no route leads to it, no argument injects it, and no statement reads the files that hold it."""
    played = script(family)
    task = played.task
    listed = json.loads(get(server, "/tasks"))["tasks"]
    assert {key for entry in listed for key in entry} == PUBLIC_KEYS["listed"]
    heard = [get(server, path) for path in ("/schema", "/tasks", "/metadata", "/openapi.json", "/state", "/sql_optim_env/splits")]
    heard += [get(server, "/sql_optim_env/tasks", {"split": task.split})]
    for route in ("/oracle", "/validation/oracle.py", "/sql_optim_env/oracle", f"/tasks/{task.id}", "/../validation/oracle.py"):
        assert get_json(server.url, route)[0] == 404

    refused: tuple[dict[str, Any], ...] = (
        {"injected_state": {}},
        {"oracle": True},
        {"options": {"oracle": True}},
        {"reward_profile": "oracle"},
    )
    for arguments in refused:
        with pytest.raises(ServerError):
            client.reset(**played.reset, **arguments)
    for answer in transcript(client, harm(family)):
        heard.append(json.dumps(answer, ensure_ascii=False))
        assert set(answer["observation"]) == set(SQLOptimObservation.model_fields)
        assert set(answer["observation"]["metadata"]) <= PUBLIC_KEYS["metadata"]
        assert (set(answer["state"]), set(answer["state"]["current_task"])) == (PUBLIC_KEYS["state"], PUBLIC_KEYS["current_task"])
    client.reset(**played.reset)
    for path in sorted(ROOT.glob("envs/**/task.toml"))[:1] + sorted(Settings().data_dir.rglob("*.duckdb"))[:1]:
        for sql in (f"SELECT * FROM '{path}'", f"ATTACH '{path}' AS other"):
            observation = client.step(look(sql)).observation
            assert observation.error is not None
            heard.append(text_of(observation))

    if family == "audit":
        scenario = scenario_of(task, 7)
        secrets = [scenario.reference_fix, scenario.check, scenario.column_look, scenario.seed]
    elif family == "tune":
        secrets = [task.tune.reference_sql, *task.tune.reference_ddl, *(variant.why for variant in (*task.tune.variants, *task.tune.wrong))]
    else:
        secrets = [task.rewrite.reference_sql, task.rewrite.summary, *task.rewrite.equivalents]
    everything = "\n".join(heard)
    assert [secret for secret in secrets if secret in everything or json.dumps(secret, ensure_ascii=False)[1:-1] in everything] == []
