"""Hostile statements through a real server: each ends as a clear agent error in time, and nobody else notices."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.models import SQLOptimAction

TASK = "task_1_basic_antipatterns"
DEADLINE_S = 3
PROMPTLY_S = DEADLINE_S + 10
"""The server ends a statement within a second of its deadline; the machine that runs the tests may be busy."""

STATEMENTS = {
    "a list of 300 million numbers": "SELECT len(range(300000000))",
    "a cross join of a trillion rows": "SELECT count(*) FROM events AS a, events AS b WHERE (a.id * b.id) % 7 = 3 AND a.id <> b.user_id",
    "20,000 terms of OR": "SELECT count(*) FROM orders WHERE " + " OR ".join(f"id = {n}" for n in range(20_000)),
    "20,000 times UNION ALL": " UNION ALL ".join("SELECT 1" for _ in range(20_000)),
    "a join of 300 tables": "SELECT count(*) FROM orders AS t0 " + " ".join(f"JOIN orders AS t{n} USING (id)" for n in range(1, 300)),
    "a text of 30 MB": "SELECT '" + "x" * 30_000_000 + "'",
    "a doubling chain of CTEs": "WITH c0 AS (SELECT id FROM orders), "
    + ", ".join(f"c{n} AS NOT MATERIALIZED (SELECT a.id FROM c{n - 1} AS a, c{n - 1} AS b)" for n in range(1, 30))
    + " SELECT count(*) FROM c29",
    "a text that doubles": "SELECT length(list_reduce(list_transform(range(64), lambda i: 'xxxxxxxxxxxxxxxx'), lambda a, b: a || a)) AS n",
    "levenshtein of long texts": "SELECT max(levenshtein(a.s, b.s)) AS n FROM (SELECT string_agg(email, '') AS s FROM users) AS a, "
    "(SELECT string_agg(name, '') AS s FROM products) AS b",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalServer({"SQL_OPTIM_WORKERS": "2", "SQL_OPTIM_DEADLINE_S": str(DEADLINE_S), "SQL_OPTIM_LOG_LEVEL": "warning"}) as server:
        yield server.url


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_hostile_statement_is_an_agent_error_in_time_and_every_session_goes_on(url: str, name: str) -> None:
    with SQLOptimEnv(base_url=url).sync() as neighbour, SQLOptimEnv(base_url=url).sync() as session:
        neighbour.reset(task_id=TASK)
        session.reset(task_id=TASK)
        for action in (SQLOptimAction(optimized_query=STATEMENTS[name]), SQLOptimAction(kind="query", sql=STATEMENTS[name])):
            began = time.monotonic()
            observation = session.step(action).observation
            assert time.monotonic() - began < PROMPTLY_S
            assert observation.error is not None, observation.feedback
            assert observation.error.message
            assert observation.reward == 0.0
            counted = neighbour.step(SQLOptimAction(kind="query", sql="SELECT count(*) AS n FROM orders")).observation
            assert counted.rows == [[500_000]]
        again = session.step(SQLOptimAction(kind="query", sql="SELECT count(*) AS n FROM users")).observation
        assert again.rows == [[10_000]]
