"""A small shop-like database with an awkward file name, and helpers that run a statement and describe it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.card import Card, build_card
from sql_optim_env.engines.duckdb.cost.features import OperatorFeatures
from sql_optim_env.engines.duckdb.cost.model import CostModel, OperatorCost

CREATE_SHOP = """
CREATE TABLE users AS SELECT i::INTEGER AS id, 'user' || i || '@mail.example' AS email, ['free', 'gold', 'silver'][1 + i % 3] AS tier,
  CASE WHEN i % 9 > 0 THEN ['eu', 'us'][1 + i % 2] END AS region,
  TIMESTAMP '2023-01-01' + to_hours(i::BIGINT) AS created_at FROM range(1, 2001) t(i);
CREATE TABLE products AS SELECT i::INTEGER AS id, 'Thing ' || i AS name, (i % 90 + 0.5)::DECIMAL(10,2) AS price FROM range(1, 201) t(i);
CREATE TABLE orders AS SELECT i::INTEGER AS id, (1 + hash(i) % 2000)::INTEGER AS customer_id,
  (1 + hash(i * 3) % 200)::INTEGER AS product_id,
  ['paid', 'shipped', 'returned', 'pending'][1 + (hash(i * 5) % 4)::INTEGER] AS status,
  ((hash(i * 7) % 20000) / 100.0)::DECIMAL(10,2) AS total,
  TIMESTAMP '2023-01-01' + to_seconds((hash(i * 11) % 60000000)::BIGINT) AS created_at FROM range(1, 30001) t(i);
CREATE TABLE empty_table (id INTEGER, note VARCHAR);
CHECKPOINT
"""


@dataclass(frozen=True)
class Described:
    """One statement as the cost model sees it."""

    sql: str
    profile: dict[str, Any]
    plan: dict[str, Any] | None
    operators: tuple[OperatorFeatures, ...]
    breakdown: tuple[OperatorCost, ...]
    cost: int

    def of(self, name: str) -> dict[str, float]:
        """Features of the only operator of this name."""
        found = [operator.features for operator in self.operators if operator.name == name]
        assert len(found) == 1, [operator.name for operator in self.operators]
        return found[0]

    def total(self, feature: str) -> float:
        return sum(operator.features.get(feature, 0.0) for operator in self.operators)


Describe = Callable[[str], Described]


def open_connection(path: Path) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(str(path), read_only=True, config={"threads": 1})
    con.execute("SET disabled_optimizers = 'join_filter_pushdown'")
    con.execute("PRAGMA enable_profiling = 'no_output'")
    return con


def serialized_plan(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any] | None:
    rows = con.execute("SELECT json_serialize_plan(?, skip_null := true, skip_empty := true, optimize := true)", [sql]).fetchall()
    plan: dict[str, Any] = json.loads(rows[0][0])
    return None if plan.get("error") else plan


def run_profiled(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    con.sql(sql).to_arrow_reader(100_000).read_all()
    profile: dict[str, Any] = json.loads(con.get_profiling_information("json"))
    return profile


@pytest.fixture(scope="session")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cost") / "small-shop.v1.duckdb"
    con = duckdb.connect(str(path), config={"threads": 1})
    con.execute(CREATE_SHOP)
    con.close()
    return path


@pytest.fixture(scope="session")
def shop(shop_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    con = open_connection(shop_path)
    yield con
    con.close()


@pytest.fixture(scope="session")
def card(shop: duckdb.DuckDBPyConnection) -> Card:
    return build_card(shop)


@pytest.fixture(scope="session")
def model() -> CostModel:
    return CostModel.load()


@pytest.fixture(scope="session")
def describe(shop: duckdb.DuckDBPyConnection, card: Card, model: CostModel) -> Describe:
    def inner(sql: str) -> Described:
        plan = serialized_plan(shop, sql)
        profile = run_profiled(shop, sql)
        return Described(
            sql,
            profile,
            plan,
            tuple(model.features(profile, plan, card)),
            model.breakdown(profile, plan, card),
            model.cost(profile, plan, card),
        )

    return inner


Observe = Callable[[duckdb.DuckDBPyConnection, str], tuple[dict[str, Any], dict[str, Any] | None]]


@pytest.fixture(scope="session")
def open_shop(shop_path: Path) -> Callable[[], duckdb.DuckDBPyConnection]:
    """Open one more connection to the shop, with the product's settings."""
    return lambda: open_connection(shop_path)


@pytest.fixture(scope="session")
def observe() -> Observe:
    """Run a statement on a connection: its profile and its plan."""

    def inner(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        plan = serialized_plan(con, sql)
        return run_profiled(con, sql), plan

    return inner
