from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from sql_optim_env.cli import app, check_cost
from sql_optim_env.engines.duckdb.cost.calibration.report import Figure
from sql_optim_env.tasks.catalogue import catalogue

RUNNER = CliRunner()


@pytest.fixture
def calibrations(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a calibration was asked for; nothing is built and nothing is measured."""
    asked: list[dict[str, Any]] = []

    def calibrate(databases: Any, plan: Any, **more: Any) -> Any:
        asked.append({"databases": databases, "plan": plan, **more})
        more["progress"]("pass 1 [of 3]")
        figures = (Figure("Spearman", 0.97, 0.95), Figure("trips", len(asked) - 1, 0, most=True))
        return SimpleNamespace(
            packaged=SimpleNamespace(version="engine/weights-1"), figures=lambda: figures, ok=all(figure.holds for figure in figures)
        )

    monkeypatch.setattr(check_cost, "calibrate", calibrate)
    monkeypatch.setattr(check_cost, "write_report", lambda report, out: (out / "written").touch())
    monkeypatch.setattr("sql_optim_env.datasets.store.DatasetStore.ensure", lambda store, instance: Path(f"{instance.name}.duckdb"))
    return asked


def test_it_exits_with_one_when_a_figure_misses_its_bound(calibrations: list[dict[str, Any]], tmp_path: Path) -> None:
    good = RUNNER.invoke(app, ["check", "--cost", "--quick", "--out", str(tmp_path)])
    assert (good.exit_code, "pass 1 [of 3]" in good.output, "missed" in good.output) == (0, True, False)
    assert (tmp_path / "written").exists()
    bad = RUNNER.invoke(app, ["check", "--cost"])
    assert (bad.exit_code, "missed" in bad.output) == (1, True)


def test_quick_does_less(calibrations: list[dict[str, Any]]) -> None:
    RUNNER.invoke(app, ["check", "--cost", "--quick"])
    RUNNER.invoke(app, ["check", "--cost"])
    quick, full = (asked["plan"] for asked in calibrations)
    assert (quick.quick, quick.passes, full.quick, full.passes) == (True, 3, False, 4)


def test_the_catalogues_queries_join_the_corpus(calibrations: list[dict[str, Any]]) -> None:
    RUNNER.invoke(app, ["check", "--cost"])
    (asked,) = calibrations
    assert asked["databases"] == {"public": Path("public.duckdb"), "twin": Path("twin.duckdb")}
    task = catalogue().get("task_1_basic_antipatterns")
    texts = {(item.database, item.sql) for item in asked["extra"] if item.template == f"catalogue_{task.id}"}
    assert texts == {
        (name, sql) for name in asked["databases"] for sql in (task.sql, task.rewrite.reference_sql, *task.rewrite.equivalents)
    }
    assert {item.family for item in asked["extra"]} == {"catalogue"}


def test_optimal_tasks_are_no_pairs() -> None:
    names = {pair.name for pair in check_cost.catalogue_pairs()}
    assert "task_1_basic_antipatterns" in names
    assert not names & {task.id for task in catalogue().hand_made() if task.family == "rewrite" and task.rewrite.optimal}
