"""Many sessions, idle sessions, refused sessions, and sessions whose worker is taken away."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from sql_optim_env.tasks.catalogue import catalogue

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
REFERENCE = TASK.rewrite.reference_sql
ENDLESS = "SELECT COUNT(*) AS n FROM events AS a, events AS b WHERE a.id * b.id % 7919 = 3"


def test_64_sessions_step_at_once_and_each_gets_its_own_answer(server) -> None:
    tasks = [task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal]
    gate = threading.Barrier(64)

    def play(number: int) -> tuple[str, str, float, bool, int]:
        task = tasks[number % len(tasks)]
        with server.session() as session:
            session.reset(task_id=task.id, reward_profile="execution", episode_id=f"e{number}")
            gate.wait(60)
            looked = session.step(kind="query", sql=f"SELECT {number} AS n", timeout=240)["data"]["observation"]
            answer = session.step(optimized_query=task.rewrite.reference_sql, timeout=240)["data"]
            return session.state()["episode_id"], answer["observation"]["task_id"], answer["reward"], answer["done"], looked["rows"][0][0]

    with ThreadPoolExecutor(64) as pool:
        results = list(pool.map(play, range(64)))
    assert results == [(f"e{n}", tasks[n % len(tasks)].id, 1.0, True, n) for n in range(64)]


def test_ended_sessions_leave_no_slot_taken(server) -> None:
    for _ in range(80):
        with server.session() as session:
            assert session.reset(task_id=TASK.id)["type"] == "observation"
    with ExitStack() as stack:
        sessions = [stack.enter_context(server.session()) for _ in range(64)]
        assert {session.reset(task_id=TASK.id)["type"] for session in sessions} == {"observation"}


def test_one_session_too_many_is_told_so_and_the_others_go_on(small_server) -> None:
    with small_server.session() as one, small_server.session() as two:
        assert one.reset(task_id=TASK.id)["type"] == "observation"
        assert two.reset(task_id=TASK.id)["type"] == "observation"
        with small_server.session() as third:
            refusal = json.loads(third.connection.recv(10))
            assert (refusal["type"], refusal["data"]["code"], refusal["data"]["max_sessions"]) == ("error", "CAPACITY_REACHED", 2)
        assert one.step()["type"] == "observation"
    small_server.wait_for_sessions(0)
    with small_server.session() as again:
        assert again.reset(task_id=TASK.id)["type"] == "observation"


def test_a_slow_step_of_one_session_does_not_hold_up_another(server) -> None:
    with server.session() as slow, server.session() as quick:
        slow.reset(task_id=TASK.id)
        quick.reset(task_id=TASK.id)
        slow.connection.send(json.dumps({"type": "step", "data": {"kind": "query", "sql": ENDLESS}}))
        began = time.monotonic()
        assert quick.step(kind="query", sql="SELECT 1 AS one")["data"]["observation"]["rows"] == [[1]]
        assert time.monotonic() - began < 5.0
        stopped = json.loads(slow.connection.recv(30))["data"]["observation"]
        assert stopped["error"]["code"] == "timeout"
        assert time.monotonic() - began < 12.0
        assert slow.step(optimized_query=REFERENCE)["data"]["observation"]["score"] > 0.5


def test_a_worker_killed_from_outside_is_our_fault_and_the_session_lives(server) -> None:
    with server.session() as session:
        session.reset(task_id=TASK.id)
        session.connection.send(json.dumps({"type": "step", "data": {"kind": "query", "sql": ENDLESS}}))
        server.busy_worker().kill()
        answer = json.loads(session.connection.recv(30))
        assert answer["type"] == "error"
        assert answer["data"]["code"] == "EXECUTION_ERROR"
        assert answer["data"]["message"].startswith("infra_error: ")
        assert session.state()["step_count"] == 0
        assert session.step(optimized_query=REFERENCE)["data"]["observation"]["score"] > 0.5
    server.wait_for("/ready", within_s=30)


def test_an_idle_session_is_closed_and_a_step_after_that_says_so(hasty_server) -> None:
    with hasty_server.session() as session:
        session.reset(task_id=TASK.id)
        hasty_server.wait_for_sessions(0)
        for answer in (session.step(optimized_query=REFERENCE), session.reset(task_id=TASK.id)):
            assert answer["type"] == "error"
            assert answer["data"]["code"] == "EXECUTION_ERROR"
            assert answer["data"]["message"].startswith("session_expired: the session was idle for more than 2 s")
    with hasty_server.session() as session:
        assert session.reset(task_id=TASK.id)["type"] == "observation"


def test_sessions_made_over_mcp_and_left_alone_give_their_slot_back(hasty_server) -> None:
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
    hasty_server.wait_for_sessions(0)
    assert "session_id" in hasty_server.request("/mcp", create)[1]["result"]
    assert "error" in hasty_server.request("/mcp", create)[1]
    end = time.monotonic() + 30
    while "error" in hasty_server.request("/mcp", create)[1]:
        assert time.monotonic() < end
        time.sleep(0.2)
