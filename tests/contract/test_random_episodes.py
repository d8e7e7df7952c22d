"""Any sequence of actions, in any family: the server answers each, no figure leaves its range, and the rewards add up to the best score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.sync.client import ClientConnection, connect

from contract.sql_grammar import Grammar
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.tasks.vocabulary import IssueType

TASKS = {
    "rewrite": ("task_1_basic_antipatterns", "task_7_lapsed_users"),
    "tune": ("tune_seed_bank", "tune_country_vet"),
    "audit": ("type_repair", "null_audit", "schema_drift"),
}
MAX_OBSERVATION = 256 * 1024
DRAWN = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

TABLES = {"users": ("id", "tier"), "orders": ("id", "customer_id"), "accession": ("id", "taxon")}


def statements() -> st.SearchStrategy[str]:
    """SQL of all sorts, and what is none."""
    written = st.integers(0, 10**6).map(lambda seed: Grammar(seed, TABLES).statement())
    known = (
        "",
        "SELECT 1 AS one",
        "$sql",
        "SELECT * FROM ($sql) AS t",
        "SELECT sql FROM sqlite_schema",
        "SELECT 1; SELECT 2",
        "DROP TABLE users",
    )
    return st.one_of(st.sampled_from(known), written, st.text(max_size=40))


def suggestions() -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.fixed_dictionaries(
        {"issue_type": st.sampled_from([*(kind.value for kind in IssueType), "nonsense", ""])},
        optional={
            "line": st.none() | st.integers(1, 30),
            "severity": st.sampled_from(["low", "critical", "worst"]),
            "fix": st.text(max_size=9),
        },
    )
    return st.lists(one, max_size=6)


def actions() -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["", "users", "id", "nowhere", "sqlite_schema", 'a"b', "名"])
    explore = st.fixed_dictionaries({"kind": st.sampled_from(["query", "explain", "fix"]), "sql": statements()})
    profile = st.fixed_dictionaries({"kind": st.just("profile"), "table": names, "column": names})
    submit = st.fixed_dictionaries(
        {"kind": st.just("submit"), "optimized_query": statements()},
        optional={
            "ddl": st.lists(statements(), max_size=3),
            "suggestions": suggestions(),
            "approved": st.none() | st.booleans(),
            "summary": st.text(max_size=60),
            "answer": names,
            "root_cause_table": names,
            "offending_key": names,
        },
    )
    return st.one_of(explore, explore, profile, submit)


@pytest.fixture(scope="module")
def connection() -> Iterator[ClientConnection]:
    quick = {"SQL_OPTIM_WORKERS": "1", "SQL_OPTIM_DEADLINE_S": "2", "SQL_OPTIM_LOG_LEVEL": "error"}
    with LocalServer(quick) as server, connect(f"ws://127.0.0.1:{server.port}/ws", max_size=None, proxy=None) as connection:
        yield connection


def say(connection: ClientConnection, kind: str, data: object = None) -> dict[str, Any]:
    connection.send(json.dumps({"type": kind} if data is None else {"type": kind, "data": data}))
    text = connection.recv(60)
    assert len(text) < MAX_OBSERVATION + 4_096
    answer: dict[str, Any] = json.loads(text)
    return answer


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", TASKS)
def test_whatever_is_sent_is_answered_and_the_books_balance(connection: ClientConnection, family: str) -> None:
    @DRAWN
    @given(st.sampled_from(TASKS[family]), st.integers(0, 2**31), st.lists(actions(), min_size=1, max_size=8))
    def played(task_id: str, seed: int, sent: list[dict[str, Any]]) -> None:
        opening = say(connection, "reset", {"task_id": task_id, "seed": seed})
        assert opening["type"] == "observation", opening
        sql, paid, done = opening["data"]["observation"]["sql_query"], 0.0, False
        for number, action in enumerate(sent, 1):
            filled = {key: value.replace("$sql", sql) if isinstance(value, str) else value for key, value in action.items()}
            answer = say(connection, "step", filled)
            if done:
                assert answer["data"]["code"] == "EXECUTION_ERROR"
                assert "the episode is over" in answer["data"]["message"]
                continue
            assert answer["type"] == "observation", (filled, answer)
            shown, reward, done = answer["data"]["observation"], answer["data"]["reward"], answer["data"]["done"]
            assert shown["step_count"] == number
            assert 0.0 <= reward <= 1.0
            assert shown["score"] is None or 0.0 <= shown["score"] <= 1.0
            assert min(shown["submissions_left"], shown["explorations_left"], shown["fixes_left"]) >= 0
            paid = round(paid + reward, 6)
            assert paid == shown["best_score"]
            if shown["score"] is not None and shown["reward_breakdown"]:
                assert sum(shown["reward_breakdown"].values()) == pytest.approx(shown["score"], abs=2e-6)
            state = say(connection, "state")["data"]
            assert (state["step_count"], state["episode_done"]) == (number, done)
            assert state["cumulative_reward"] == paid

    played()
