"""Work that the model cannot price must be stopped elsewhere: refused at admission, or caught by the CPU guard."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.datasets import DatasetStore, default_data_dir, get_dataset
from sql_optim_env.engines.duckdb import policy_for
from sql_optim_env.engines.duckdb.cost import build_card
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS, Attempt, HiddenWork, measure_hidden_work, try_attempt
from sql_optim_env.engines.duckdb.cost.calibration.measure import connect
from sql_optim_env.engines.duckdb.database import Database
from sql_optim_env.errors import AgentError, ErrorCode

REFUSED = frozenset(
    {
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
        "behind a bit constant",
    }
)
GUARDED = frozenset({"repeat and levenshtein", "regex with bounds", "wide range frame"})
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
BY_NAME = {attempt.name: attempt.sql for attempt in ATTEMPTS}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, HiddenWork]:
    """Every attempt, submitted to the public instance as a task's answer would be."""
    path = DatasetStore(default_data_dir()).ensure(get_dataset("shop").public)
    con = connect(path)
    card = build_card(con)
    con.close()
    return {item.name: item for item in measure_hidden_work(path, card, tmp_path_factory.mktemp("spill"))}


def test_dozens_of_ways_are_tried(outcomes: dict[str, HiddenWork]) -> None:
    assert len(outcomes) == len(ATTEMPTS) >= 40


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_hidden_work_is_refused_or_guarded_or_paid_for(name: str, outcomes: dict[str, HiddenWork]) -> None:
    expected = "refused" if name in REFUSED else "guarded" if name in GUARDED else "paid"
    assert outcomes[name].verdict == expected, outcomes[name]


@pytest.fixture
def database(shop_path: Path, tmp_path: Path, card: Any) -> Iterator[Database]:
    # A copy, because the engine opens one file with one configuration only.
    path = Path(shutil.copy(shop_path, tmp_path / "shop.duckdb"))
    with Database(path, temp_dir=tmp_path / "spill", card=card) as opened:
        yield opened


def test_a_statement_whose_plan_cannot_be_written_down_has_no_price_and_is_refused(database: Database) -> None:
    sql = "SELECT max(m) FROM (SELECT md5(email) AS m, id FROM users) WHERE bit_position('101'::BIT, id::BIT) < 99"
    statement = database.admit(sql, policy_for("SELECT 1", {"users"}))
    with pytest.raises(AgentError, match="BIT") as refused:
        database.run(statement, max_rows=10, max_bytes=1 << 20)
    assert refused.value.code is ErrorCode.REFUSED_SYNTAX
    assert database.run(statement, max_rows=10, max_bytes=1 << 20, priced=False).capture.row_count == 1


class _Free:
    """A cost model that sees nothing."""

    version = "free"

    def cost(self, profile: Any, plan: Any, card: Any) -> int:
        return 1


def test_work_that_is_neither_guarded_nor_paid_for_is_called_missed(
    shop_path: Path, tmp_path: Path, card: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(shop_path, tmp_path / "shop.duckdb"))
    attempt = Attempt("free", "no price", "SELECT max(sha256(md5(status || id))) FROM orders")
    with Database(path, temp_dir=tmp_path / "spill", card=card, cost_model=_Free()) as database:
        monkeypatch.setattr("sql_optim_env.engines.duckdb.database.guard", lambda cpu_ms, cost: False)
        outcome = try_attempt(database, attempt, {"orders"})
    assert (outcome.verdict, outcome.cost_ns) == ("missed", 1)
    assert outcome.under_priced == outcome.cpu_ms * 1e6 > 1e6


def test_what_a_task_admits_for_its_own_query_is_caught_by_the_guard(database: Database) -> None:
    sql = BY_NAME["list_reduce"]
    statement = database.admit(sql, policy_for("SELECT list_sum(range(id)) FROM users", {"users"}))
    assert database.run(statement, max_rows=10, max_bytes=1 << 20).execution.hidden_work


def test_the_same_statement_costs_the_same_whether_nulls_are_written_down_or_not(
    shop: duckdb.DuckDBPyConnection, observe: Any, model: Any, card: Any
) -> None:
    for sql in PRICED.values():
        profile, plan = observe(shop, sql)
        full = shop.execute("SELECT json_serialize_plan(?, optimize := true)", [sql]).fetchall()[0][0]
        assert len(full) > len(str(plan))
        assert model.cost(profile, json.loads(full), card) == model.cost(profile, plan, card)


@pytest.mark.parametrize("name", sorted(PRICED))
def test_work_behind_an_alias_or_inside_an_operator_has_its_price(name: str, describe: Any) -> None:
    sql = BY_NAME[name].replace("event_type || id", "status || id").replace("FROM events", "FROM orders")
    hidden, plain = describe(sql), describe(PRICED[name])
    rows = 30_000 if "orders" in sql else 2000
    assert hidden.cost > plain.cost + 60 * rows
