"""Work that the model cannot price must be stopped elsewhere: refused at admission, or caught by the CPU guard."""

from __future__ import annotations

import time
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.admission import admit, policy_for
from sql_optim_env.engines.duckdb.cost import Card, CostModel, guard
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS
from sql_optim_env.errors import AgentError

TABLES = frozenset({"users", "orders", "products", "events"})

REFUSED = (
    "one long list",
    "long list from a row",
    "list_reduce",
    "nested lambdas",
    "recursion over one row",
    "recursion with work",
    "repeat",
    "repeat and md5",
    "lpad and replace",
    "generated series",
    "unnest fan-out",
    "text of a long list",
    "distinct of long lists",
    "hidden in constant folding",
)
UNBOUNDED = ("list_reduce",)
PRICED = {
    "hash chain behind an alias": "SELECT max(z) FROM (SELECT status || id AS z FROM orders)",
    "deep sines": "SELECT sum(total::DOUBLE) FROM orders",
    "hidden in unnest": "SELECT count(u) FROM (SELECT unnest([email, email, email]) AS u FROM users)",
    "hidden in a join key": "SELECT count(*) FROM users a JOIN users b ON a.email = b.email",
    "hidden in a window": "SELECT max(w) FROM (SELECT max(email) OVER (PARTITION BY tier) AS w FROM users)",
    "hidden in an aggregate's filter": "SELECT count(*) FILTER (email > 'a') FROM users",
    "hidden in a group key": "SELECT count(*) FROM (SELECT email AS k FROM users GROUP BY k)",
    "printf": "SELECT max(status) FROM orders",
    "repeat and md5": "SELECT max(md5(email)) FROM users WHERE id < 2000",
    "repeat and levenshtein": "SELECT max(levenshtein(email, email || 'x')) FROM users WHERE id < 300",
    "split of a repeated text": "SELECT sum(len(string_split(email, '@'))) FROM users",
}
"""Attempt → the same statement without the work it hides."""


@pytest.mark.parametrize("name", REFUSED)
def test_generators_of_unbounded_work_are_refused(name: str, shop: duckdb.DuckDBPyConnection) -> None:
    policy = policy_for("SELECT count(*) FROM users", TABLES)
    with pytest.raises(AgentError):
        admit(shop, ATTEMPTS[name], policy)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_what_admission_lets_through_for_a_task_is_caught_by_the_guard(
    name: str, shop: duckdb.DuckDBPyConnection, observe: Any, model: CostModel, card: Card
) -> None:
    sql = ATTEMPTS[name]
    profile, plan = observe(shop, sql)
    readings = []
    for _ in range(3):
        started = time.process_time()
        shop.sql(sql).to_arrow_reader(1000).read_all()
        readings.append(time.process_time() - started)
    assert guard(min(readings) * 1e3, model.cost(profile, plan, card))


@pytest.mark.parametrize("name", sorted(PRICED))
def test_work_behind_an_alias_or_inside_an_operator_has_its_price(name: str, describe: Any) -> None:
    sql = ATTEMPTS[name].replace("event_type || id", "status || id").replace("FROM events", "FROM orders")
    hidden, plain = describe(sql), describe(PRICED[name])
    rows = 30_000 if "orders" in sql else 2000
    assert hidden.cost > plain.cost + 60 * rows
