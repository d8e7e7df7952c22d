from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb import AdmissionPolicy, Capture, Database

TABLES = frozenset({"users", "orders", "products", "events"})

SMALL_SHOP = """
CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR NOT NULL, tier VARCHAR NOT NULL, region VARCHAR, plan VARCHAR NOT NULL,
                    created_at TIMESTAMP NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, category VARCHAR NOT NULL, price DECIMAL(10, 2) NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, product_id INTEGER, status VARCHAR NOT NULL,
                     total DECIMAL(10, 2) NOT NULL, created_at TIMESTAMP NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, session_id INTEGER, event_type VARCHAR NOT NULL,
                     occurred_at TIMESTAMP NOT NULL);
CREATE TABLE secrets (id INTEGER, answer VARCHAR);
INSERT INTO users SELECT i, 'u' || i || '@x.org',
    CASE WHEN i % 2 = 0 THEN 'gold' ELSE 'free' END, CASE WHEN i % 3 > 0 THEN 'eu' END, 'none',
    TIMESTAMP '2024-01-01' + to_days(i) FROM range(1, 7) r(i);
INSERT INTO products SELECT i, 'p' || i, 'c' || i % 2, i * 1.25 FROM range(1, 4) r(i);
INSERT INTO orders SELECT i, 1 + i % 5,
    CASE WHEN i % 4 > 0 THEN 1 + i % 3 END, CASE WHEN i % 2 = 0 THEN 'paid' ELSE 'shipped' END, i * 2.50,
    TIMESTAMP '2024-02-01' + to_hours(i) FROM range(1, 13) r(i);
INSERT INTO events SELECT i, 1 + i % 6,
    CASE WHEN i % 5 > 0 THEN i % 7 END, 'view', TIMESTAMP '2024-03-01' + to_minutes(i) FROM range(1, 21) r(i);
INSERT INTO secrets VALUES (1, 'hidden');
"""


@pytest.fixture(scope="session")
def small_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rows in the tables of the task, and one table that is not the task's."""
    path = tmp_path_factory.mktemp("instance") / "small.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(SMALL_SHOP)
    return path


@pytest.fixture(scope="session")
def database(small_shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for many statements, as in a worker."""
    with Database(small_shop, temp_dir=tmp_path_factory.mktemp("spill")) as opened:
        yield opened


@pytest.fixture(scope="session")
def policy() -> AdmissionPolicy:
    """The general rules over the task's tables."""
    return AdmissionPolicy(TABLES)


@pytest.fixture
def capture_of(database: Database, policy: AdmissionPolicy) -> Callable[[str], Capture]:
    """Run a statement on the small instance and give its capture."""

    def run(sql: str) -> Capture:
        return database.run(database.admit(sql, policy), max_rows=100_000, max_bytes=1 << 26).capture

    return run
