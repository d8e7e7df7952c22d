"""Honest statements never trip the guard, however busy the machine is."""

from __future__ import annotations

from pathlib import Path

import pytest

from sql_optim_env.datasets import DatasetStore, default_data_dir, get_dataset
from sql_optim_env.engines.duckdb.admission import Statement
from sql_optim_env.engines.duckdb.cost import Card, build_card
from sql_optim_env.engines.duckdb.cost.calibration import neighbour
from sql_optim_env.engines.duckdb.cost.calibration.corpus import TWIN, shop_statements
from sql_optim_env.engines.duckdb.cost.calibration.measure import connect
from sql_optim_env.engines.duckdb.database import Database

RUNS = 1000
SHORT_NS = 3_000_000
"""Short statements: the guard leaves them the least room over what their planning takes, and a thousand of them are soon run."""


@pytest.fixture(scope="module")
def twin() -> tuple[Path, Card]:
    (instance,) = (item for item in get_dataset("shop").instances if item.name == TWIN)
    path = DatasetStore(default_data_dir()).ensure(instance)
    con = connect(path)
    card = build_card(con)
    con.close()
    return path, card


def test_a_thousand_honest_runs_beside_a_busy_neighbour_trip_the_guard_never(twin: tuple[Path, Card], tmp_path: Path) -> None:
    path, card = twin
    corpus = [item.sql for item in shop_statements() if item.database == TWIN and item.family != "recursion"][::2]
    with Database(path, temp_dir=tmp_path / "first", card=card) as database:
        costs = {sql: database.run(Statement(sql), max_rows=2_000_000, max_bytes=192 << 20).execution.cost for sql in corpus}
    short = [sql for sql, cost in costs.items() if cost < SHORT_NS]
    assert len(short) >= 50
    honest = neighbour.run_honest(path, card, tmp_path / "second", short, RUNS)
    assert honest.runs == RUNS
    assert honest.trips == ()
    assert 0 < honest.worst < 1


def test_a_trip_is_reported(twin: tuple[Path, Card], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, card = twin
    monkeypatch.setattr("sql_optim_env.engines.duckdb.database.guard", lambda cpu_ms, cost: True)
    honest = neighbour.run_honest(path, card, tmp_path, ["SELECT count(*) FROM users WHERE id > 5"], 2)
    assert honest.trips == ("SELECT count(*) FROM users WHERE id > 5",) * 2


def test_the_neighbour_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    popen = neighbour.subprocess.Popen
    monkeypatch.setattr(neighbour.subprocess, "Popen", lambda *args, **more: started.append(popen(*args, **more)) or started[0])
    with neighbour.busy_neighbour():
        assert started[0].poll() is None
    assert started[0].poll() is not None
