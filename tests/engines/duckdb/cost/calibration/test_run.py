from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost import CostModel
from sql_optim_env.engines.duckdb.cost.calibration import run
from sql_optim_env.engines.duckdb.cost.calibration.__main__ import main
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS, false_trips
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement
from sql_optim_env.engines.duckdb.cost.calibration.report import corpus_digest, render_markdown
from sql_optim_env.engines.duckdb.cost.weights import load_weights

SMALL = [
    Statement(database, family, f"{family}_{number}", sql)
    for database in ("public", "twin")
    for number, (family, sql) in enumerate(
        [
            ("group", "SELECT status, sum(total) FROM orders GROUP BY 1"),
            ("group", "SELECT customer_id, median(total) FROM orders GROUP BY 1"),
            ("order", "SELECT * FROM orders ORDER BY total, id"),
            ("order", "SELECT * FROM orders ORDER BY total, id LIMIT 5"),
            ("filter", "SELECT count(*) FROM orders WHERE md5(status || id) > 'a'"),
            ("filter", "SELECT id FROM orders WHERE total > 50"),
            ("join", "SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id"),
            ("window", "SELECT id, rank() OVER (PARTITION BY customer_id ORDER BY total) AS r FROM orders"),
            ("recursion", "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT sum(n) FROM t"),
        ]
    )
]


@pytest.fixture
def data_dir(tmp_path: Path, shop_path: Path) -> Path:
    for name in ("public", "twin"):
        place = tmp_path / "data" / "shop" / f"hash-of-{name}"
        place.mkdir(parents=True)
        shutil.copy(shop_path, place / f"{name}.duckdb")
    return tmp_path / "data"


def test_databases_are_found_by_name_and_the_newest_wins(data_dir: Path) -> None:
    newer = data_dir / "shop" / "newer"
    newer.mkdir()
    shutil.copy(data_dir / "shop" / "hash-of-public" / "public.duckdb", newer / "public.duckdb")
    later = (newer / "public.duckdb").stat().st_mtime + 60
    os.utime(newer / "public.duckdb", (later, later))
    assert run.find_databases(data_dir) == {
        "public": newer / "public.duckdb",
        "twin": data_dir / "shop" / "hash-of-twin" / "twin.duckdb",
    }


def test_missing_datasets_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="public"):
        run.find_databases(tmp_path)


def test_fewer_than_three_passes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="passes"):
        run.calibrate(tmp_path, 2, None)


def test_a_small_refit_runs_from_databases_to_a_report(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: CostModel
) -> None:
    def small_database(path: Path) -> Path:
        con = duckdb.connect(str(path))
        con.execute("CREATE TABLE facts AS SELECT i AS id, 'k' || i % 9 AS low FROM range(9000) t(i)")
        con.close()
        return path

    synthetic = [Statement("synthetic", "group", "s", f"SELECT low, count(*) + {n} FROM facts GROUP BY 1") for n in range(4)]
    monkeypatch.setattr(run, "build_synthetic", small_database)
    monkeypatch.setattr(run, "benchmark_prices", lambda path, passes, progress: model.weights.prices)
    monkeypatch.setattr(run, "calibration_statements", lambda: [*SMALL, *synthetic])
    monkeypatch.setattr("sql_optim_env.engines.duckdb.cost.calibration.hidden_work.ATTEMPTS", {"printf": ATTEMPTS["printf"]})
    report = run.calibrate(data_dir, 3, tmp_path / "report", version="test-1")
    assert report.version == report.weights.version == "test-1"
    assert set(report.families) == {"group", "order", "filter", "join", "window", "recursion"}
    assert [item.name for item in report.hidden_work] == ["printf"]
    assert report.weights.fit["corpus_sha256"] == report.corpus_sha256 == corpus_digest([*SMALL, *synthetic])
    written = load_weights((tmp_path / "report" / "weights.json").read_text())
    assert written == report.weights
    assert written.weights["other.input_rows"] > 0
    assert json.loads((tmp_path / "report" / "report.json").read_text())["passes"] == 3
    assert (tmp_path / "report" / "report.md").read_text() == render_markdown(report)
    assert "whole templates held out" in render_markdown(report)


def test_a_false_trip_needs_three_slow_readings_in_a_row() -> None:
    statement = Statement("public", "f", "t", "SELECT 1")
    once = Measurement(statement, {}, None, cpu=[0.001, 0.9, 0.001, 0.9])
    always = Measurement(statement, {}, None, cpu=[0.9, 0.8, 0.9])
    assert false_trips([once], [1e6]) == []
    assert false_trips([always], [1e6]) == [("SELECT 1", pytest.approx(800.0))]


def test_the_command_line_asks_for_built_datasets(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="build the datasets first"):
        main(["--data-dir", str(tmp_path), "--passes", "3"])
