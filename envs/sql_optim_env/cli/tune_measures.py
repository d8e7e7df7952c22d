"""What ``sql-optim bench`` measures of the tune family: a look at a large scratch copy, and graded submissions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from sql_optim_env.agents.tune import reference_action
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.cli.measures import Figure, figure
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.datasets.store import default_data_dir
from sql_optim_env.sandbox import tune_jobs
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["graded_submissions", "scratch_steps"]

_ROWS: Final = 230_000
"""Rows of the large copy: 52 MB."""

_LOOKS: Final = {
    "filter": "SELECT count(*), sum(length(story)) FROM parcel WHERE hub = 7",
    "group": "SELECT hub, count(*), sum(grams) FROM parcel GROUP BY hub",
    "sort": "SELECT count(*) FROM (SELECT * FROM parcel ORDER BY story, grams LIMIT -1 OFFSET 1)",
}

_MAX_SUBMIT_S: Final = 1.0


def scratch_steps(repeats: int) -> Iterator[Figure]:
    """A query on a scratch copy of 52 MB, as a share of what it may take: 1.5 times the bare engine and one deserialise. One worker."""
    task = catalogue().select(family="tune")[0]
    with tempfile.TemporaryDirectory(prefix="sql-optim-bench-") as directory:
        copy = Path(directory) / "copy.sqlite"
        _build(copy)
        content = copy.read_bytes()
        with Sandbox(workers=1, data_dir=default_data_dir()) as sandbox:
            for case, sql in _LOOKS.items():
                shares = []
                for _ in range(repeats + 1):
                    opened, ran = _bare(content, sql)
                    began = time.perf_counter()
                    sandbox.call(tune_jobs.scratch_query, task.id, copy, copy, sql)
                    shares.append((time.perf_counter() - began) / (1.5 * ran + opened))
                yield figure("scratch query / (1.5 bare + deserialise)", f"52 MB, {case}", shares[1:], "x", "≤ 1.0")


def graded_submissions(server: LocalServer, repeats: int) -> Iterator[Figure]:
    """Seconds over the wire for the reference of each tune task, on the public instance, its twins and the small ones."""
    with SQLOptimEnv(base_url=server.url).sync() as client:
        for task in (task for task in catalogue().hand_made() if task.family == "tune"):
            action = reference_action(task)
            seconds = []
            for _ in range(repeats + 1):
                client.reset(task_id=task.id)
                began = time.perf_counter()
                client.step(action)
                seconds.append(time.perf_counter() - began)
            yield figure("graded tune submission", task.id, seconds[1:], "s", f"< {_MAX_SUBMIT_S:.0f}")


def _build(path: Path) -> None:
    con = apsw.Connection(str(path))
    con.execute("PRAGMA journal_mode = delete; PRAGMA synchronous = off")
    with con:
        con.execute("CREATE TABLE parcel (id INTEGER PRIMARY KEY, hub INTEGER, grams INTEGER, story TEXT)")
        con.executemany(
            "INSERT INTO parcel VALUES (?, ?, ?, ?)",
            ((n, n * 7_919 % 1_000, n * 104_729 % 1_000_003, f"{n * 15_485_863 % 1_000_003:07}" * 29) for n in range(_ROWS)),
        )
    con.close()


def _bare(content: bytes, sql: str) -> tuple[float, float]:
    """Seconds to deserialise (and to give the memory back), and seconds to run ``sql``, with nothing around the engine."""
    began = time.perf_counter()
    con = apsw.Connection(":memory:")
    con.deserialize("main", content)
    opened = time.perf_counter()
    con.execute(sql).fetchall()
    ran = time.perf_counter()
    con.close()
    return opened - began + time.perf_counter() - ran, ran - opened
