"""Hold what a fix left behind against what it should have left behind: rows as multisets, counted apart by what became of them.

Pure functions of rows that were read elsewhere; what the counts are worth is decided in grading/audit_level.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.audit_evidence import RepairFacts
from sql_optim_env.tasks.audit.scenario import TableTruth, Variant

__all__ = ["CanonicalCell", "FoundCell", "FoundRows", "canonical", "hold_against"]

FoundCell = str | int | float | bytes | None
FoundRows = Sequence[Sequence[FoundCell]]
CanonicalCell = str | int | float | bytes | None

_CanonicalRow = tuple[CanonicalCell, ...]

_DECIMALS: Final = 4
"""Numbers that agree to this many decimals are equal: a sum of binary fractions must not fail a repair."""


@dataclass(frozen=True, slots=True)
class _Matched:
    """A table's rows, dealt out to the places of its truth."""

    good: int
    repaired: int
    leftover: Counter[_CanonicalRow]


@dataclass(frozen=True, slots=True)
class _Tally:
    """What became of one table."""

    good_kept: int
    mended: int
    surplus: int


def canonical(cell: FoundCell) -> CanonicalCell:
    """A cell such that equal cells are equal in Python: text never equals a number, 1 equals 1.0, 0 equals -0.0, four decimals count."""
    if isinstance(cell, float):
        return round(cell, _DECIMALS) + 0.0
    return cell


def hold_against(
    variant: Variant,
    truths: Sequence[TableTruth],
    before: Mapping[str, FoundRows | None],
    after: Mapping[str, FoundRows | None],
    affinities: Mapping[str, Mapping[str, str]],
    *,
    error_code: ErrorCode | None = None,
) -> RepairFacts:
    """What a fix did to one database.

    ``truths`` are those of its content, the target first. ``before`` and ``after`` hold each truth's table, by the name that the truth
    gives it, as rows over the truth's columns; None for one that is not there as a real table with these columns. ``affinities`` are
    the declared ones found after the fix, by table and column in any case. With an ``error_code`` the fix did nothing and ``after`` is
    not looked at.
    """
    found = before if error_code is not None else after
    target, *others = truths
    tallies = {truth.table: _tally(truth, before.get(truth.table), found.get(truth.table)) for truth in truths}
    of_target, of_others = tallies[target.table], [tallies[truth.table] for truth in others]
    target_rows = found.get(target.table)
    return RepairFacts(
        variant=variant,
        error_code=error_code,
        target_present=target_rows is not None,
        target_rows=len(target_rows or ()),
        good_total=len(target.good),
        good_kept=of_target.good_kept,
        defects=sum(map(_defects, truths)),
        mended=sum(tally.mended for tally in tallies.values()),
        surplus=of_target.surplus,
        others_total=sum(len(truth.good) for truth in others),
        others_kept=sum(tally.good_kept for tally in of_others),
        others_surplus=sum(tally.surplus for tally in of_others),
        declared=all(_declared(truth, affinities) for truth in truths),
        others_emptied=sum(bool(truth.good) and not found.get(truth.table) for truth in others),
    )


def _defects(truth: TableTruth) -> int:
    return len(truth.repaired) + truth.removable


def _tally(truth: TableTruth, before: FoundRows | None, after: FoundRows | None) -> _Tally:
    if after is None:
        # Without its table a defect is not mended, even where removing rows was the task.
        return _Tally(good_kept=0, mended=0, surplus=0)
    was, now = _match(truth, before or ()), _match(truth, after)
    untouched = (now.leftover & was.leftover).total()
    # A defect row that waits for its repair lies among the untouched ones, as does one that should have been removed.
    still_to_remove = max(0, untouched - (len(truth.repaired) - now.repaired))
    mended = now.repaired + truth.removable - still_to_remove
    return _Tally(
        good_kept=now.good,
        mended=min(max(mended, 0), _defects(truth)),
        surplus=now.leftover.total() - untouched,
    )


def _match(truth: TableTruth, rows: FoundRows) -> _Matched:
    left = Counter(map(_canonical_row, rows))
    wanted = Counter(map(_canonical_row, truth.good))
    kept = left & wanted
    left -= kept
    slots = [tuple(dict.fromkeys(map(_canonical_row, slot))) for slot in truth.repaired]
    repaired = _fill_plain(left, [slot[0] for slot in slots if len(slot) == 1])
    repaired += _fill_open(left, [slot for slot in slots if len(slot) > 1])
    return _Matched(kept.total(), repaired, +left)


def _fill_plain(left: Counter[_CanonicalRow], slots: Sequence[_CanonicalRow]) -> int:
    # Slots with one right row come first: giving such a slot its row never costs a better assignment.
    filled = left & Counter(slots)
    left -= filled
    return filled.total()


def _fill_open(left: Counter[_CanonicalRow], slots: Sequence[tuple[_CanonicalRow, ...]]) -> int:
    """Give as many slots as possible one of their rows (augmenting paths); takes these rows out of ``left``."""
    holders: dict[_CanonicalRow, list[int]] = {}

    def place(slot: int, tried: set[_CanonicalRow]) -> bool:
        for row in slots[slot]:
            if row in tried or not left[row]:
                continue
            tried.add(row)
            held = holders.setdefault(row, [])
            if len(held) < left[row]:
                held.append(slot)
                return True
            for at, other in enumerate(held):
                if place(other, tried):
                    held[at] = slot
                    return True
        return False

    for slot in range(len(slots)):
        place(slot, set())
    filled = Counter({row: len(held) for row, held in holders.items()})
    left -= filled
    return filled.total()


def _canonical_row(row: Sequence[FoundCell]) -> _CanonicalRow:
    return tuple(map(canonical, row))


def _declared(truth: TableTruth, affinities: Mapping[str, Mapping[str, str]]) -> bool:
    found = {column.lower(): _one_of_its_kind(affinity) for column, affinity in _of_table(affinities, truth.table).items()}
    return all(found.get(column.lower()) == _one_of_its_kind(wanted) for column, wanted in truth.affinities.items())


def _of_table(affinities: Mapping[str, Mapping[str, str]], table: str) -> Mapping[str, str]:
    return next((columns for name, columns in affinities.items() if name.lower() == table.lower()), {})


def _one_of_its_kind(affinity: str) -> str:
    # NUMERIC(10,2) and DOUBLE both hold an amount; which of the two someone writes is taste.
    return "REAL" if affinity.upper() == "NUMERIC" else affinity.upper()
