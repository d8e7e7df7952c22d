"""How good a repair of one database is. Apart from the grade, so that a worker can ask without loading what reports need."""

from __future__ import annotations

from typing import Final, Literal

from sql_optim_env.grading.audit_evidence import RepairFacts
from sql_optim_env.tasks.audit.scenario import Scenario

__all__ = ["Level", "repair_level"]

Level = Literal["perfect", "acceptable", "dangerous", "ineffective", "catastrophic"]
"""How good a repair of one database is."""

_MENDED_ACCEPTABLY: Final = 0.95
_KEPT_ACCEPTABLY: Final = 0.99
_SURPLUS_ACCEPTABLY: Final = 0.01
_LEAST_GAIN: Final = 0.5
_PRICE_OF_LOSS: Final = 3
_ROUNDING: Final = 1e-9


def repair_level(scenario: Scenario, facts: RepairFacts) -> Level:
    """How good a repair of one database is."""
    if facts.error_code is not None:
        return "ineffective"
    if _catastrophic(scenario, facts):
        return "catastrophic"
    if (
        _at_least(facts.mended, scenario.perfect_share, facts.defects)
        and facts.good_kept == facts.good_total
        and facts.others_kept == facts.others_total
        and not facts.surplus
        and not facts.others_surplus
        and facts.declared
    ):
        return "perfect"
    if (
        _at_least(facts.mended, _MENDED_ACCEPTABLY, facts.defects)
        and _at_least(facts.good_kept, _KEPT_ACCEPTABLY, facts.good_total)
        and _at_most(facts.surplus, _SURPLUS_ACCEPTABLY, facts.good_total + facts.defects)
        and _at_least(facts.others_kept, _KEPT_ACCEPTABLY, facts.others_total)
        and _at_most(facts.others_surplus, _SURPLUS_ACCEPTABLY, facts.others_total)
    ):
        return "acceptable"
    return "dangerous" if _gain(facts) >= _LEAST_GAIN - _ROUNDING else "ineffective"


def _catastrophic(scenario: Scenario, facts: RepairFacts) -> bool:
    if scenario.good_decides:
        return not facts.target_present or not facts.target_rows or 2 * facts.good_kept < facts.good_total
    return facts.others_emptied > 0 or 2 * facts.others_kept < facts.others_total


def _gain(facts: RepairFacts) -> float:
    """The share of the defects that was mended, less :data:`_PRICE_OF_LOSS` times the share of good rows that it cost.

    Without a price, a fix that throws away half of all rows mends half of the defects and knows none. Where every row is there up to four
    times it even loses few: the price is such that throwing away any share of all rows still gains less than :data:`_LEAST_GAIN`.
    """
    kept = ((facts.good_kept, facts.good_total), (facts.others_kept, facts.others_total))
    lost = max((1 - part / whole for part, whole in kept if whole), default=0.0)
    return facts.mended / max(facts.defects, 1) - _PRICE_OF_LOSS * lost


def _at_least(part: int, share: float, whole: int) -> bool:
    return part >= share * whole - _ROUNDING


def _at_most(part: int, share: float, whole: int) -> bool:
    return part <= share * whole + _ROUNDING
