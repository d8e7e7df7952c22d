from __future__ import annotations

from sql_optim_env.engines.duckdb.cost.calibration.evaluate import PairScore, Score
from sql_optim_env.engines.duckdb.cost.calibration.report import Figure, Judgement

GOOD = Score(500, 0.97, 0.97, 0.2, 0.95)
PAIRS = (PairScore(1.1, 60, 0.9, 0.93), PairScore(1.5, 50, 0.99, 0.91))


def test_a_figure_keeps_a_minimum_or_a_maximum_and_a_missing_one_keeps_nothing() -> None:
    assert Figure("a", 0.95, 0.95).holds
    assert not Figure("a", 0.949, 0.95).holds
    assert Figure("a", 0, 0, most=True).holds
    assert not Figure("a", 1, 0, most=True).holds
    assert not Figure("a", float("nan"), 0.95).holds
    assert not Figure("a", float("nan"), 0, most=True).holds


def test_the_sign_is_judged_on_clear_pairs_and_the_correlation_on_all() -> None:
    figures = Judgement("v", GOOD, None, {}, PAIRS).figures("weights")
    assert [(figure.name, figure.value, figure.bound) for figure in figures] == [
        ("weights: Spearman on the half that was not fitted", 0.97, 0.95),
        ("weights: sign of pairs agrees", 0.99, 0.98),
        ("weights: correlation of the pairs' log ratios", 0.93, 0.9),
    ]


def test_a_refit_is_judged_on_both_halves() -> None:
    poor = Score(500, 0.94, 0.95, 0.3, 0.9)
    assert [figure.holds for figure in Judgement("v", GOOD, poor, {}, PAIRS).figures("refit")] == [True, True, True, False]


def test_without_pairs_nothing_is_claimed_about_them() -> None:
    assert [figure.holds for figure in Judgement("v", GOOD, None, {}, ()).figures("weights")] == [True, False, False]
