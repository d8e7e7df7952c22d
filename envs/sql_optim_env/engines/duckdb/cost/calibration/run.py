"""A whole calibration: build, measure, solve, fit on one half, judge on the other, write."""

from __future__ import annotations

import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np

from sql_optim_env.engines.duckdb.cost.calibration.assemble import assemble
from sql_optim_env.engines.duckdb.cost.calibration.corpus import PUBLIC, TWIN, shop_statements
from sql_optim_env.engines.duckdb.cost.calibration.coverage import uncovered_functions
from sql_optim_env.engines.duckdb.cost.calibration.dataset import Dataset, Vector, build_dataset
from sql_optim_env.engines.duckdb.cost.calibration.evaluate import (
    FITTED_HALF,
    UNSEEN,
    Groups,
    Score,
    found_pairs,
    groups_of,
    held_out_predictions,
    pair_scores,
    score,
)
from sql_optim_env.engines.duckdb.cost.calibration.fit import fit_weights
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import HiddenWork, false_trips, measure_hidden_work
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement, connect, measure
from sql_optim_env.engines.duckdb.cost.calibration.micro import benchmark_prices, describe
from sql_optim_env.engines.duckdb.cost.calibration.neighbour import HonestRuns, run_honest
from sql_optim_env.engines.duckdb.cost.calibration.pairs import PAIRS, Pair, pair_statements
from sql_optim_env.engines.duckdb.cost.calibration.report import CalibrationReport, Judgement, corpus_digest
from sql_optim_env.engines.duckdb.cost.calibration.scatter import Point
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import SYNTHETIC, build_synthetic, synthetic_statements
from sql_optim_env.engines.duckdb.cost.calibration.tpch import TPCH, build_tpch, tpch_statements
from sql_optim_env.engines.duckdb.cost.card import Card, build_card
from sql_optim_env.engines.duckdb.cost.model import CostModel
from sql_optim_env.engines.duckdb.cost.prices import Prices

__all__ = ["Plan", "calibrate", "calibration_statements", "find_databases", "judge_and_fit"]

Progress = Callable[[str], None]
HONEST_MS: Final = 12.0
"""Honest runs take statements up to this cost: the guard's slack, which covers planning, weighs most on short ones."""
NOT_RUN: Final = HonestRuns(0, (), 0.0)
QUICK_SHARE: Final = 4
"""A quick calibration measures one template of so many, and one synthetic query of so many."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to do.

    ``passes`` (at least 3, so that the guard can be judged): how often every statement runs. ``quick``: a quarter of the templates, too few
    to judge a refit by, the packaged prices instead of new micro-benchmarks, and a fifth of the honest runs.
    """

    passes: int = 4
    quick: bool = False
    version: str = "unreleased"

    @property
    def honest_runs(self) -> int:
        """Honest statements to run beside a busy neighbour."""
        return 200 if self.quick else 1000


def find_databases(data_dir: Path) -> dict[str, Path]:
    """The newest shop instances under a data directory. Raises ``FileNotFoundError`` when they have not been built."""
    found: dict[str, Path] = {}
    for name in (PUBLIC, TWIN):
        candidates = sorted(data_dir.glob(f"shop/*/{name}.duckdb"), key=lambda path: path.stat().st_mtime)
        if not candidates:
            raise FileNotFoundError(f"no shop instance {name!r} below {data_dir}: build the datasets first (make setup)")
        found[name] = candidates[-1]
    return found


def calibration_statements(*, quick: bool = False) -> list[Statement]:
    """Everything of our own that is measured, in a fixed order."""
    shop, synthetic = shop_statements(), synthetic_statements()
    if quick:
        shop = [item for item in shop if zlib.crc32(item.template.encode()) % QUICK_SHARE == 0]
        synthetic = synthetic[::QUICK_SHARE]
    return [*shop, *pair_statements(PUBLIC), *pair_statements(TWIN), *synthetic, *tpch_statements()]


def build_cards(databases: Mapping[str, Path]) -> dict[str, Card]:
    """One card a database."""
    cards: dict[str, Card] = {}
    for name, path in databases.items():
        con = connect(path)
        cards[name] = build_card(con)
        con.close()
    return cards


def calibrate(
    shop: Mapping[str, Path],
    plan: Plan,
    *,
    extra: Sequence[Statement] = (),
    pairs: Sequence[Pair] = (),
    progress: Progress | None = None,
) -> CalibrationReport:
    """Refit the weights on this machine, and judge both them and the packaged ones.

    ``shop`` has the built instances ``public`` and ``twin``. ``extra`` are statements of the family ``catalogue``, which are judged and
    never fitted; ``pairs`` are pairs among them. A full run takes a quarter of an hour on a quiet machine. Publishing the weights is a
    separate step: write the report, copy its ``weights.json`` over the packaged one, with a new version.
    """
    if plan.passes < 3:
        raise ValueError("passes must be at least 3: the guard is judged on the minimum of three readings")
    say = progress or (lambda _: None)
    with tempfile.TemporaryDirectory(prefix="cost-calibration-") as scratch:
        place = Path(scratch)
        databases = {
            **shop,
            SYNTHETIC: build_synthetic(place / "synthetic.duckdb"),
            TPCH: build_tpch(place / "tpch.duckdb"),
        }
        cards = build_cards(databases)
        prices = CostModel.load().weights.prices
        if not plan.quick:
            prices = benchmark_prices(databases[SYNTHETIC], plan.passes, say)
            say(describe(prices))
        measurements = measure(databases, [*calibration_statements(quick=plan.quick), *extra], plan.passes, say)
        say("submitting attempts to hide work")
        hidden = measure_hidden_work(databases[PUBLIC], cards[PUBLIC], place / "hidden")
        say(f"{plan.honest_runs:,} honest runs beside a busy neighbour")
        honest = run_honest(databases[TWIN], cards[TWIN], place / "honest", _short(measurements, cards), plan.honest_runs)
    say("fitting")
    return judge_and_fit(measurements, cards, prices, plan, pairs=(*PAIRS, *pairs), hidden=hidden, honest=honest)


def _short(measurements: Sequence[Measurement], cards: Mapping[str, Card]) -> list[str]:
    """The cheap statements on the twin, in the corpus' order."""
    model = CostModel.load()
    found = (item for item in measurements if item.statement.database == TWIN and item.statement.family != "recursion")
    return [item.statement.sql for item in found if model.cost(item.profile, item.plan, cards[TWIN]) < HONEST_MS * 1e6]


def judge_and_fit(
    measurements: Sequence[Measurement],
    cards: Mapping[str, Card],
    prices: Prices,
    plan: Plan,
    *,
    pairs: Sequence[Pair] = PAIRS,
    hidden: Sequence[HiddenWork] = (),
    honest: HonestRuns = NOT_RUN,
) -> CalibrationReport:
    """Fit on one half and on the other, judge each on the half it has not seen, and the packaged weights on theirs."""
    data = build_dataset(measurements, cards, prices)
    groups = groups_of(data)
    predicted, weights = held_out_predictions(data)
    model = CostModel.load()
    costs = np.array([float(model.cost(item.profile, item.plan, cards[item.statement.database])) for item in measurements])
    found = found_pairs(data, pairs)
    judged = 1 - FITTED_HALF
    fresh = [pair for pair in found if groups.halves[pair[0]] == judged or not groups.corpus[pair[0]]]
    from_synthetic = data.queries @ fit_weights(data, np.flatnonzero(groups.synthetic))
    digest = corpus_digest(item.statement for item in measurements)
    own = groups.judged(FITTED_HALF)
    refit = _judgement(plan.version, data, groups, predicted, found, swapped=True)
    scores = {"spearman": refit.judged.spearman, **{f"pair_sign_{item.threshold}": item.sign_agrees for item in refit.pairs}}
    everything = groups.corpus | groups.synthetic
    return CalibrationReport(
        corpus_sha256=digest,
        passes=plan.passes,
        quick=plan.quick,
        queries=_sources(measurements),
        packaged=_judgement(model.version, data, groups, costs, fresh, swapped=False),
        refit=refit,
        synthetic_only=score(from_synthetic[groups.corpus], data.targets[groups.corpus]),
        in_sample=score((data.queries @ weights)[own], data.targets[own]),
        families=_by_family(data, predicted),
        uncovered=_uncovered(),
        false_trips=tuple(false_trips([m for m, ok in zip(measurements, everything, strict=True) if ok], list(costs[everything]))),
        hidden_work=tuple(hidden),
        honest=honest,
        points=_points(data, groups, costs),
        lines=_lines(data, costs, found),
        weights=assemble(
            plan.version, prices, data, weights, {"corpus_sha256": digest, "passes": plan.passes, "half": FITTED_HALF, "scores": scores}
        ),
    )


def _judgement(
    version: str, data: Dataset, groups: Groups, predicted: Vector, pairs: Sequence[tuple[int, int]], *, swapped: bool
) -> Judgement:
    judged, other = groups.judged(1 - FITTED_HALF), groups.judged(FITTED_HALF)
    families = data.families
    return Judgement(
        version=version,
        judged=score(predicted[judged], data.targets[judged]),
        swapped=score(predicted[other], data.targets[other]) if swapped else None,
        unseen={name: score(predicted[families == name], data.targets[families == name]) for name in sorted(UNSEEN & set(families))},
        pairs=tuple(pair_scores(data.targets, predicted, pairs)),
    )


def _by_family(data: Dataset, predicted: Vector) -> dict[str, Score]:
    families = data.families
    shop = np.array([item.statement.database != SYNTHETIC for item in data.measurements])
    names = sorted(str(name) for name in set(families[shop]))
    return {name: score(predicted[shop & (families == name)], data.targets[shop & (families == name)]) for name in names}


def _sources(measurements: Sequence[Measurement]) -> dict[str, int]:
    own = {"pair": "pairs", "catalogue": "catalogue", TPCH: TPCH}
    return dict(
        Counter(SYNTHETIC if item.statement.database == SYNTHETIC else own.get(item.statement.family, "shop") for item in measurements)
    )


def _uncovered() -> tuple[str, ...]:
    with duckdb.connect() as con:
        return tuple(sorted(uncovered_functions(con)))


def _point(data: Dataset, costs: Vector, index: int, group: str) -> Point:
    return Point(data.targets[index] / 1e6, max(costs[index], 1e3) / 1e6, group, data.measurements[index].statement.sql)


def _points(data: Dataset, groups: Groups, costs: Vector) -> tuple[Point, ...]:
    families = data.families
    chosen = np.flatnonzero((groups.corpus & (families != "pair")) | (families == TPCH))
    return tuple(_point(data, costs, int(index), TPCH if families[index] == TPCH else "corpus") for index in chosen)


def _lines(data: Dataset, costs: Vector, pairs: Sequence[tuple[int, int]]) -> tuple[tuple[Point, Point], ...]:
    return tuple((_point(data, costs, slow, "slow"), _point(data, costs, fast, "fast")) for slow, fast in pairs)
