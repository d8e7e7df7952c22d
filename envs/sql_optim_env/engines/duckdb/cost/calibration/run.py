"""A whole refit: build, measure, solve, fit, judge, write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from sql_optim_env.engines.duckdb.cost.calibration.corpus import PUBLIC, TWIN, shop_statements
from sql_optim_env.engines.duckdb.cost.calibration.dataset import CONSTANT_FEATURE, Dataset, Vector, build_dataset
from sql_optim_env.engines.duckdb.cost.calibration.evaluate import (
    fitted_rows,
    held_out_predictions,
    pair_scores,
    score,
)
from sql_optim_env.engines.duckdb.cost.calibration.fit import fit_weights
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import false_trips, measure_hidden_work
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement, connect, measure
from sql_optim_env.engines.duckdb.cost.calibration.micro import benchmark_prices, describe
from sql_optim_env.engines.duckdb.cost.calibration.pairs import pair_statements
from sql_optim_env.engines.duckdb.cost.calibration.report import CalibrationReport, corpus_digest, write_report
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import SYNTHETIC, build_synthetic, synthetic_statements
from sql_optim_env.engines.duckdb.cost.card import Card, build_card
from sql_optim_env.engines.duckdb.cost.model import CostModel
from sql_optim_env.engines.duckdb.cost.prices import Prices
from sql_optim_env.engines.duckdb.cost.weights import Weights

__all__ = ["assemble", "calibrate", "calibration_statements", "find_databases", "judge_and_fit"]

Progress = Callable[[str], None]
LEAST_SUPPORT = 5
"""Queries a feature needs before it gets a weight of its own."""


def find_databases(data_dir: Path) -> dict[str, Path]:
    """The newest shop instances under a data directory. Raises ``FileNotFoundError`` when they have not been built."""
    found: dict[str, Path] = {}
    for name in (PUBLIC, TWIN):
        candidates = sorted(data_dir.glob(f"shop/*/{name}.duckdb"), key=lambda path: path.stat().st_mtime)
        if not candidates:
            raise FileNotFoundError(f"no shop instance {name!r} below {data_dir}: build the datasets first (make setup)")
        found[name] = candidates[-1]
    return found


def calibration_statements() -> list[Statement]:
    """Everything that is measured for a fit, in a fixed order."""
    return [*shop_statements(), *pair_statements(PUBLIC), *pair_statements(TWIN), *synthetic_statements()]


def build_cards(databases: Mapping[str, Path]) -> dict[str, Card]:
    """One card a database."""
    cards: dict[str, Card] = {}
    for name, path in databases.items():
        con = connect(path)
        cards[name] = build_card(con)
        con.close()
    return cards


def assemble(version: str, prices: Prices, data: Dataset, weights: Vector, fit: Mapping[str, Any]) -> Weights:
    """Round a fit into a weights file. Features with too little support keep their weight only if they are part of it by design."""
    support = (data.queries != 0).sum(axis=0)
    table = {
        name: float(f"{weight:.4g}")
        for name, weight, count in zip(data.names, weights, support, strict=True)
        if weight > 0 and name != CONSTANT_FEATURE and count >= LEAST_SUPPORT
    }
    supported = {name for name, count in zip(data.names, support, strict=True) if count >= LEAST_SUPPORT}
    table.update({name: weight for name, weight in RARE_WEIGHTS.items() if name not in supported})
    constant = float(round(weights[data.names.index(CONSTANT_FEATURE)], 1))
    return Weights(version, duckdb.__version__, constant, table, prices, fit)


RARE_WEIGHTS = {
    "hash_join.expressions": 1.0,
    "unnest.expressions": 1.0,
    "window.expressions": 1.0,
    "sort.expressions": 1.0,
    "top_n.expressions": 1.0,
    "nested_loop.key_expressions": 1.0,
    "nested_loop.expressions": 1.0,
    "blockwise.expressions": 1.0,
    "merge_join.expressions": 1.0,
    "interval_join.expressions": 1.0,
    "asof_join.expressions": 1.0,
    "projection.expressions": 1.0,
    "filter.expressions": 1.0,
    "scan.filter_expressions": 1.0,
    "lateral_unnest.rows": 500.0,
    "lateral_unnest.elements": 20.0,
    "lateral_unnest.parent_rows": 80.0,
    "unnest.rows": 40.0,
    "range.rows": 2.0,
    "scan.list_rows": 5.0,
    "scan.huge_rows": 1.0,
    "scan.float_rows": 0.7,
    "index_scan.values": 550.0,
    "index_scan.text_values": 4000.0,
    "window.distinct": 400.0,
    "window.streaming": 5.0,
    "asof_join.input_rows": 120.0,
    "interval_join.input_rows": 500.0,
    "merge_join.input_rows": 500.0,
    "merge_join.pairs": 0.5,
    "interval_join.pairs": 0.1,
    "blockwise.pairs": 0.5,
    "nested_loop.pairs": 0.5,
    "positional_join.input_rows": 5.0,
    "recursion.rows": 100.0,
    "recursion.operators": 30_000.0,
    "other.input_rows": 5.0,
    "other.output_rows": 5.0,
}
"""Weights for work that the corpus hardly shows, so that it is never free: measured prices count at 1, rows at a guess on the dear side."""


def judge_and_fit(
    measurements: Sequence[Measurement],
    cards: Mapping[str, Card],
    prices: Prices,
    version: str,
    passes: int,
) -> tuple[CalibrationReport, Dataset, Vector]:
    """Score held-out fits, then fit on everything. The report's hidden work is empty; ``calibrate`` measures it with the new weights."""
    data = build_dataset(measurements, cards, prices)
    predicted = held_out_predictions(data)
    families = data.families
    databases = np.array([item.statement.database for item in measurements])
    shop = databases != SYNTHETIC
    usable = fitted_rows(data)
    fitted = np.zeros(len(data.targets), dtype=bool)
    fitted[usable] = True
    corpus = shop & fitted
    from_synthetic = data.queries @ fit_weights(data, np.flatnonzero(~shop & fitted))
    weights = fit_weights(data, usable)
    everything = data.queries @ weights
    headline = score(predicted[corpus], data.targets[corpus])
    pairs = pair_scores(data, predicted)
    digest = corpus_digest(item.statement for item in measurements)
    scores = {
        "held_out_spearman": headline.spearman,
        "held_out_log_correlation": headline.log_correlation,
        **{f"pair_sign_{item.threshold}": item.sign_agrees for item in pairs},
    }
    report = CalibrationReport(
        version=version,
        corpus_sha256=digest,
        passes=passes,
        headline=headline,
        synthetic_only=score(from_synthetic[corpus], data.targets[corpus]),
        in_sample=score(everything[corpus], data.targets[corpus]),
        families={
            str(name): score(predicted[shop & (families == name)], data.targets[shop & (families == name)]) for name in set(families[shop])
        },
        pairs=tuple(pairs),
        false_trips=tuple(false_trips([m for m, ok in zip(measurements, fitted, strict=True) if ok], list(predicted[fitted]))),
        hidden_work=(),
        weights=assemble(version, prices, data, weights, {"corpus_sha256": digest, "passes": passes, "scores": scores}),
    )
    return report, data, predicted


def calibrate(
    data_dir: Path,
    passes: int,
    report_dir: Path | None,
    *,
    version: str = "unreleased",
    progress: Progress | None = None,
) -> CalibrationReport:
    """Refit the weights on this machine.

    ``data_dir`` is where the datasets have been built; ``passes`` (at least 3, so that the guard can be judged) how often every statement
    runs; ``report_dir`` where the report and the new ``weights.json`` go (nothing is written when it is None). Takes about ten minutes on
    a quiet machine at 4 passes. Publishing the weights is a separate step: copy ``weights.json`` over the packaged one, with a new
    version.
    """
    if passes < 3:
        raise ValueError("passes must be at least 3: the guard is judged on the minimum of three readings")
    say = progress or (lambda _: None)
    databases = find_databases(data_dir)
    with tempfile.TemporaryDirectory(prefix="cost-calibration-") as scratch:
        databases[SYNTHETIC] = build_synthetic(Path(scratch) / "synthetic.duckdb")
        cards = build_cards(databases)
        prices = benchmark_prices(databases[SYNTHETIC], passes, say)
        say(describe(prices))
        measurements = measure(databases, calibration_statements(), passes, say)
    say("fitting")
    report, _, _ = judge_and_fit(measurements, cards, prices, version, passes)
    hidden = measure_hidden_work(databases[PUBLIC], CostModel(report.weights), cards[PUBLIC])
    finished = CalibrationReport(
        **{name: getattr(report, name) for name in report.__dataclass_fields__ if name != "hidden_work"}, hidden_work=tuple(hidden)
    )
    if report_dir is not None:
        write_report(finished, report_dir)
    return finished
