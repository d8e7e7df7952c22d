"""Generated tasks on a real server: made and measured at their first reset, by one of those who ask at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("tune_g_test_0021")
NEW = "tune_g_test_0030"
"""Played by one test only."""


def solved(server: Any, task_id: str) -> tuple[str, float]:
    """Reset, and hand in the answer: the schema that was shown, and the reward."""
    task = catalogue().get(task_id)
    with server.session() as session:
        opening = session.reset(task_id=task_id)["data"]["observation"]
        answer = session.step(optimized_query=task.tune.reference_sql, ddl=list(task.tune.reference_ddl))["data"]
    assert answer["done"] is True
    return opening["schema_info"], answer["reward"]


def test_sessions_that_ask_for_the_same_new_task_at_once_all_play_it(start_server, tmp_path: Path) -> None:
    server = start_server(scratch_dir=tmp_path / "scratch", generated_dir=tmp_path / "generated")
    with ThreadPoolExecutor(4) as pool:
        played = list(pool.map(lambda _: solved(server, NEW), range(4)))
    assert {reward for _, reward in played} == {1.0}
    assert len({schema for schema, _ in played}) == 1
    assert "rows\nCREATE TABLE" in played[0][0]
    assert [path.name for path in (tmp_path / "generated").iterdir()] == [NEW]


def test_a_generated_task_is_reached_by_index_and_by_seed(server) -> None:
    place = catalogue().index_of(TASK)
    seed = next(seed for seed in range(100_000) if catalogue().draw(seed) is TASK)
    with server.session() as session:
        for arguments in ({"split": "test", "index": place}, {"seed": seed}):
            opening = session.reset(**arguments)["data"]["observation"]
            assert (opening["task_id"], opening["sql_query"]) == (TASK.id, TASK.sql)
        echo = session.step(optimized_query=TASK.sql)["data"]
    assert (echo["reward"], echo["done"]) == (0.0, True)
