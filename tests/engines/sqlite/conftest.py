from __future__ import annotations

import random
from collections.abc import Callable

import apsw
import pytest

from sql_optim_env.engines.sqlite import Capture, Run, measure

TABLES = ("parcel", "hub", "route")

SCHEMA = """
CREATE TABLE parcel (id INTEGER PRIMARY KEY, hub INTEGER, fault TEXT COLLATE NOCASE, grams INTEGER NOT NULL, sent TEXT,
                     story TEXT NOT NULL, kilos INTEGER AS (grams / 1000));
CREATE TABLE hub (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE route (a TEXT, b TEXT, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE secret (id INTEGER PRIMARY KEY AUTOINCREMENT, answer TEXT);
CREATE INDEX parcel_grams ON parcel(grams);
CREATE INDEX secret_answer ON secret(answer);
CREATE VIEW heavy AS SELECT id FROM parcel WHERE grams > 900;
INSERT INTO secret(answer) VALUES ('hidden');
"""


def build(seed: int, parcels: int) -> bytes:
    """A database of its own for every seed and size; 11 parcels fill a page."""
    rng = random.Random(seed)
    con = apsw.Connection(":memory:")
    con.execute(SCHEMA)
    faults = ["late", "lost", "dented", "soaked", None]
    rows = [
        (2 * i, rng.randrange(20), rng.choice(faults), rng.randrange(1_000), f"2024-{rng.randint(1, 12):02}-01", f"{i:05}" * 68)
        for i in range(1, parcels + 1)
    ]
    with con:
        con.executemany("INSERT INTO parcel VALUES (?, ?, ?, ?, ?, ?)", rows)
        con.executemany("INSERT INTO hub VALUES (?, ?)", [(i, f"hub {i}") for i in range(20)])
        con.executemany("INSERT INTO route VALUES (?, ?, ?)", [(f"a{i % 5}", f"b{i}", i) for i in range(40)])
    content = con.serialize("main")
    con.close()
    return content


@pytest.fixture(scope="session")
def tables() -> tuple[str, ...]:
    """The task's tables; the schema has one more, a view and two shipped indexes."""
    return TABLES


@pytest.fixture(scope="session")
def small() -> bytes:
    """A few rows in every table."""
    return build(0, 30)


@pytest.fixture(scope="session")
def depot() -> bytes:
    """3,000 parcels on about 270 pages."""
    return build(1, 3_000)


@pytest.fixture(scope="session")
def make_depot() -> Callable[[int, int], bytes]:
    """Build a database from a seed and a number of parcels."""
    return build


@pytest.fixture
def run(tables: tuple[str, ...]) -> Callable[[bytes, str], Run]:
    """Measure a query over the task's tables."""
    return lambda database, sql: measure(database, sql, tables=tables)


@pytest.fixture
def capture_of() -> Callable[[str], Capture]:
    """The result of any query without tables."""
    empty = apsw.Connection(":memory:")
    empty.execute("CREATE TABLE one (n); INSERT INTO one VALUES (1)")
    database = empty.serialize("main")
    return lambda sql: measure(database, sql, tables=("one",)).capture
