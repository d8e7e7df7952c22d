from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost import CostModel
from sql_optim_env.engines.duckdb.cost.calibration import run
from sql_optim_env.engines.duckdb.cost.calibration.__main__ import main
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS, false_trips
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement
from sql_optim_env.engines.duckdb.cost.calibration.pairs import Pair
from sql_optim_env.engines.duckdb.cost.calibration.report import corpus_digest, render_markdown, write_report
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import SYNTHETIC
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


def test_fewer_than_three_passes_are_refused() -> None:
    with pytest.raises(ValueError, match="passes"):
        run.calibrate({}, run.Plan(2))


def test_a_quick_calibration_measures_fewer_templates_and_all_pairs() -> None:
    whole, quick = run.calibration_statements(), run.calibration_statements(quick=True)
    assert set(quick) < set(whole)
    count = Counter(item.database == SYNTHETIC for item in quick)
    assert count[False] >= 300
    assert [item for item in whole if item.family in ("pair", "tpch")] == [item for item in quick if item.family in ("pair", "tpch")]
    assert (run.Plan(quick=True).honest_runs, run.Plan().honest_runs) == (200, 1000)


def small_database(path: Path) -> Path:
    con = duckdb.connect(str(path))
    con.execute("CREATE TABLE facts AS SELECT i AS id, 'k' || i % 9 AS low FROM range(9000) t(i)")
    con.close()
    return path


@pytest.fixture
def small_calibration(monkeypatch: pytest.MonkeyPatch, model: CostModel) -> list[Statement]:
    """Everything is measured on small databases, and the micro-benchmarks are left out."""
    synthetic = [Statement("synthetic", "group", "s", f"SELECT low, count(*) + {n} FROM facts GROUP BY 1") for n in range(4)]
    statements = [*SMALL, *synthetic]
    monkeypatch.setattr(run, "build_synthetic", small_database)
    monkeypatch.setattr(run, "build_tpch", small_database)
    monkeypatch.setattr(run, "benchmark_prices", lambda path, passes, progress: model.weights.prices)
    monkeypatch.setattr(run, "calibration_statements", lambda quick: statements)
    monkeypatch.setattr(run, "uncovered_functions", lambda con: frozenset())
    monkeypatch.setattr("sql_optim_env.engines.duckdb.cost.calibration.hidden_work.ATTEMPTS", ATTEMPTS[:1])
    monkeypatch.setattr(run.Plan, "honest_runs", 3)
    return statements


def test_a_small_refit_runs_from_databases_to_a_report(data_dir: Path, tmp_path: Path, small_calibration: list[Statement]) -> None:
    lines: list[str] = []
    extra = [Statement("public", "catalogue", "catalogue_x", f"SELECT {n} + id FROM orders WHERE total > {10 * n}") for n in range(4)]
    pairs = [Pair("x", extra[0].sql, extra[3].sql)]
    report = run.calibrate(run.find_databases(data_dir), run.Plan(3, version="test-1"), extra=extra, pairs=pairs, progress=lines.append)
    assert report.refit.version == report.weights.version == "test-1"
    assert report.packaged.version == CostModel.load().version
    assert set(report.families) == {"group", "order", "filter", "join", "window", "recursion", "catalogue"}
    assert report.queries == {"shop": 18, "synthetic": 4, "catalogue": 4}
    assert set(report.refit.unseen) == {"catalogue"}
    assert [item.name for item in report.hidden_work] == [ATTEMPTS[0].name]
    assert (report.honest.runs, report.honest.trips) == (3, ())
    assert report.weights.fit["corpus_sha256"] == report.corpus_sha256 == corpus_digest([*small_calibration, *extra])
    assert report.weights.fit["half"] == 0
    assert {point.group for point in report.points} == {"corpus"}
    assert lines[-1] == "fitting"
    assert not report.ok  # twenty statements are no corpus

    write_report(report, tmp_path / "report")
    written = load_weights((tmp_path / "report" / "weights.json").read_text())
    assert written == report.weights
    assert written.weights["other.input_rows"] > 0
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    assert document["passes"] == 3
    assert {"name": "queries in the corpus, without the synthetic suite", "value": 22, "bound": 300, "most": False} in document["figures"]
    assert (tmp_path / "report" / "report.md").read_text().startswith(render_markdown(report))
    assert "**missed**" in render_markdown(report)
    svg = ElementTree.fromstring((tmp_path / "report" / "scatter.svg").read_text())
    assert sum(child.tag.endswith("circle") for child in svg) >= len(report.points)


def test_the_module_writes_the_report_where_it_is_told(
    data_dir: Path, tmp_path: Path, small_calibration: list[Statement], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data-dir", str(data_dir), "--passes", "3", "--version", "test-2", "--report-dir", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out" / "weights.json").read_text())["version"] == "test-2"
    assert "whole templates" not in (said := capsys.readouterr().out)
    assert said.startswith("Measured in 3 passes: 18 shop, 4 synthetic")


def test_a_false_trip_needs_three_slow_readings_in_a_row() -> None:
    statement = Statement("public", "f", "t", "SELECT 1")
    once = Measurement(statement, {}, None, cpu=[0.001, 0.9, 0.001, 0.9])
    always = Measurement(statement, {}, None, cpu=[0.9, 0.8, 0.9])
    assert false_trips([once], [1e6]) == []
    assert false_trips([always], [1e6]) == [("SELECT 1", pytest.approx(800.0))]


def test_the_command_line_asks_for_built_datasets(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="build the datasets first"):
        main(["--data-dir", str(tmp_path), "--passes", "3"])
