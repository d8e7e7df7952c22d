from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.audit_evidence import RepairFacts
from sql_optim_env.grading.audit_truth import FoundCell, FoundRows, canonical, hold_against
from sql_optim_env.tasks.audit.scenario import Row, TableTruth

GOOD: tuple[Row, ...] = ((1, "a"), (2, "b"), (2, "b"))
WRONG: tuple[Row, ...] = ((3, "x"), (4, "x"))
MENDED: tuple[Row, ...] = ((3, "c"), (4, "d"))
COPIES: tuple[Row, ...] = ((1, "a"), (2, "b"))

REPAIR = TableTruth("t", ("id", "word"), good=GOOD, repaired=tuple((row,) for row in MENDED))
REMOVAL = TableTruth("t", ("id", "word"), good=GOOD, removable=2)
OTHER = TableTruth("other", ("id",), good=((1,), (2,)))
LEFT_ALONE: FoundRows = ((2,), (1,))


def held(truth: TableTruth, before: FoundRows | None, after: FoundRows | None, **affinities: str) -> RepairFacts:
    """One table and another one that nobody touched."""
    return hold_against("base", (truth, OTHER), {"t": before, "other": LEFT_ALONE}, {"t": after, "other": LEFT_ALONE}, {"t": affinities})


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (0.0, -0.0), (0.1 + 0.2, 0.3), (2.00004, 2.00001), (10**15, 1e15), (None, None), ("a", "a")]
)
def test_equal_cells_are_equal_in_canonical_form(one: FoundCell, other: FoundCell) -> None:
    assert canonical(one) == canonical(other)
    assert hash(canonical(one)) == hash(canonical(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (1.5, "1.5"), (None, ""), (None, 0), (2.0004, 2.0001), ("a", "A"), ("a", b"a"), (10**16, 10**16 + 1)],
)
def test_different_cells_stay_different_in_canonical_form(one: FoundCell, other: FoundCell) -> None:
    assert canonical(one) != canonical(other)


@given(st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4), st.binary(max_size=4)))
def test_the_canonical_form_of_a_canonical_cell_is_itself(cell: FoundCell) -> None:
    assert canonical(canonical(cell)) == canonical(cell)


def test_a_repair_of_all_rows_is_counted_in_full_in_any_order() -> None:
    facts = held(REPAIR, (*GOOD, *WRONG), (*MENDED[::-1], *GOOD[::-1]))
    assert facts == RepairFacts(
        variant="base",
        error_code=None,
        target_present=True,
        target_rows=5,
        good_total=3,
        good_kept=3,
        defects=2,
        mended=2,
        surplus=0,
        others_total=2,
        others_kept=2,
        others_surplus=0,
        declared=True,
        others_emptied=0,
    )


def test_the_broken_table_itself_has_nothing_mended_and_nothing_surplus() -> None:
    for truth, broken in ((REPAIR, (*GOOD, *WRONG)), (REMOVAL, (*GOOD, *COPIES))):
        facts = held(truth, broken, broken)
        assert (facts.mended, facts.surplus, facts.good_kept) == (0, 0, 3)


def test_a_defective_row_that_was_changed_into_something_else_is_surplus() -> None:
    facts = held(REPAIR, (*GOOD, *WRONG), (*GOOD, MENDED[0], (4, "z")))
    assert (facts.mended, facts.surplus) == (1, 1)


def test_a_defective_row_that_was_dropped_is_neither_mended_nor_surplus() -> None:
    facts = held(REPAIR, (*GOOD, *WRONG), GOOD)
    assert (facts.mended, facts.surplus, facts.good_kept) == (0, 0, 3)


def test_adding_the_right_row_beside_the_defective_one_mends_nothing() -> None:
    facts = held(REPAIR, (*GOOD, *WRONG), (*GOOD, *WRONG, *MENDED))
    assert (facts.mended, facts.surplus, facts.target_rows) == (0, 0, 7)
    half = held(REPAIR, (*GOOD, *WRONG), (*GOOD, WRONG[0], *MENDED))
    assert (half.mended, half.surplus) == (1, 0)


def test_rows_to_mend_and_rows_to_remove_in_one_table_are_told_apart() -> None:
    truth, broken = replace(REPAIR, removable=2), (*GOOD, *COPIES, *WRONG)
    assert [
        held(truth, broken, rows).mended
        for rows in (broken, (*GOOD, *WRONG), (*GOOD, *COPIES, *MENDED), (*GOOD, COPIES[0], WRONG[0], MENDED[1]), (*GOOD, *MENDED))
    ] == [0, 2, 2, 2, 4]


def test_copies_are_removed_one_by_one() -> None:
    broken = (*GOOD, *COPIES)
    assert [held(REMOVAL, broken, rows).mended for rows in (GOOD, (*GOOD, COPIES[0]), broken)] == [2, 1, 0]


def test_removing_a_good_row_with_its_copy_loses_the_good_row() -> None:
    facts = held(REMOVAL, (*GOOD, *COPIES), GOOD[1:])
    assert (facts.mended, facts.good_kept, facts.surplus) == (2, 2, 0)


def test_rows_that_came_from_nowhere_are_surplus_even_where_rows_had_to_go() -> None:
    facts = held(REMOVAL, (*GOOD, *COPIES), (*GOOD, (7, "new"), (1, "a"), (1, "a")))
    assert (facts.mended, facts.surplus) == (1, 2)


def test_an_empty_table_has_its_removable_rows_removed_and_its_good_ones_lost() -> None:
    facts = held(REMOVAL, (*GOOD, *COPIES), ())
    assert (facts.target_present, facts.target_rows, facts.good_kept, facts.mended) == (True, 0, 0, 2)


def test_a_table_that_is_gone_mends_nothing() -> None:
    for truth, broken in ((REPAIR, (*GOOD, *WRONG)), (REMOVAL, (*GOOD, *COPIES))):
        facts = held(truth, broken, None)
        assert (facts.target_present, facts.target_rows, facts.good_kept, facts.mended, facts.surplus) == (False, 0, 0, 0, 0)


def test_a_table_that_was_to_be_made_is_counted_by_its_rows() -> None:
    truth = TableTruth("t", ("id", "word"), good=(), repaired=tuple((row,) for row in MENDED))
    assert held(truth, None, None).mended == 0
    made = held(truth, None, (*MENDED, (5, "e")))
    assert (made.mended, made.surplus, made.good_total) == (2, 1, 0)


def test_numbers_are_compared_to_four_decimals_and_never_with_text() -> None:
    truth = TableTruth("t", ("amount",), good=(), repaired=(((0.3,),), ((12,),)))
    assert held(truth, (("0.3",), ("12",)), ((0.1 + 0.2,), (12.0,))).mended == 2
    untouched = held(truth, (("0.3",), ("12",)), (("0.3",), ("12",)))
    assert (untouched.mended, untouched.surplus) == (0, 0)
    assert held(truth, (("0.3",), ("12",)), (("0.30",), (12,))).surplus == 1


def test_any_of_the_alternatives_mends_a_row_but_each_row_mends_only_one() -> None:
    slots: tuple[tuple[Row, ...], ...] = (((1, "a"), (1, "b")), ((1, "a"), (1, "c")), ((1, "a"),))
    truth = TableTruth("t", ("id", "word"), good=(), repaired=slots)
    broken: FoundRows = ((1, "x"), (1, "y"), (1, "z"))
    assert held(truth, broken, ((1, "a"), (1, "b"), (1, "c"))).mended == 3
    assert held(truth, broken, ((1, "c"), (1, "b"), (1, "z"))).mended == 2
    assert held(truth, broken, ((1, "b"), (1, "b"), (1, "b"))).mended == 1
    assert held(truth, broken, ((1, "b"), (1, "b"), (1, "b"))).surplus == 2


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=3, unique=True), max_size=5), st.lists(st.integers(0, 5), max_size=6))
def test_alternatives_are_dealt_out_as_well_as_they_can_be(slots: list[list[int]], rows: list[int]) -> None:
    truth = TableTruth("t", ("id",), good=(), repaired=tuple(tuple((cell,) for cell in slot) for slot in slots))

    def best(open_slots: list[list[int]], left: list[int]) -> int:
        if not open_slots:
            return 0
        first, *rest = open_slots
        taken = [1 + best(rest, [*left[: left.index(cell)], *left[left.index(cell) + 1 :]]) for cell in first if cell in left]
        return max([*taken, best(rest, left)])

    assert held(truth, None, [(cell,) for cell in rows]).mended == best(slots, rows)


def test_a_fix_that_failed_leaves_the_figures_of_the_broken_database() -> None:
    broken: FoundRows = (*GOOD, *WRONG)
    facts = hold_against(
        "shifted", (REPAIR, OTHER), {"t": broken, "other": LEFT_ALONE}, {"t": None}, {}, error_code=ErrorCode.EXECUTION_ERROR
    )
    assert facts.variant == "shifted"
    assert facts.error_code is ErrorCode.EXECUTION_ERROR
    assert (facts.target_present, facts.target_rows, facts.good_kept, facts.mended, facts.surplus) == (True, 5, 3, 0, 0)
    assert (facts.others_kept, facts.others_surplus, facts.others_emptied) == (2, 0, 0)


@pytest.mark.parametrize(
    ("rows", "kept", "surplus", "emptied"),
    [(((1,), (2,)), 2, 0, 0), (((1,),), 1, 0, 0), (((1,), (2,), (2,)), 2, 1, 0), (((1,), (3,)), 1, 1, 0), ((), 0, 0, 1), (None, 0, 0, 1)],
)
def test_what_happens_to_another_table_is_counted_apart(rows: FoundRows | None, kept: int, surplus: int, emptied: int) -> None:
    broken: FoundRows = (*GOOD, *WRONG)
    facts = hold_against("base", (REPAIR, OTHER), {"t": broken, "other": LEFT_ALONE}, {"t": (*GOOD, *MENDED), "other": rows}, {})
    assert (facts.others_kept, facts.others_surplus, facts.others_emptied) == (kept, surplus, emptied)
    assert (facts.others_total, facts.good_kept, facts.mended, facts.surplus) == (2, 3, 2, 0)


def test_defects_of_a_second_table_count_with_those_of_the_target() -> None:
    second = TableTruth("other", ("id",), good=((1,),), repaired=(((9,),),))
    broken: FoundRows = (*GOOD, *WRONG)
    facts = hold_against("base", (REPAIR, second), {"t": broken, "other": LEFT_ALONE}, {"t": (*GOOD, *MENDED), "other": ((1,), (9,))}, {})
    assert (facts.defects, facts.mended, facts.others_total, facts.others_kept) == (3, 3, 1, 1)


@pytest.mark.parametrize(
    ("found", "declared"),
    [
        ({"id": "INTEGER", "word": "TEXT", "amount": "REAL"}, True),
        ({"ID": "INTEGER", "Word": "TEXT", "AMOUNT": "NUMERIC"}, True),
        ({"id": "NUMERIC", "word": "TEXT", "amount": "REAL"}, False),
        ({"id": "INTEGER", "word": "BLOB", "amount": "REAL"}, False),
        ({"id": "INTEGER", "word": "TEXT", "amount": "INTEGER"}, False),
        ({"id": "INTEGER", "word": "TEXT"}, False),
        ({}, False),
    ],
)
def test_a_column_must_be_declared_with_the_right_affinity(found: dict[str, str], declared: bool) -> None:
    truth = replace(REPAIR, affinities={"id": "INTEGER", "word": "TEXT", "amount": "REAL"})
    assert held(truth, (), GOOD, **found).declared is declared


def test_tables_are_found_by_their_names_in_any_case_among_the_affinities() -> None:
    truth = replace(REPAIR, affinities={"id": "INTEGER"})
    assert hold_against("base", (truth,), {"t": ()}, {"t": ()}, {"T": {"id": "INTEGER"}}).declared
    assert not hold_against("base", (truth,), {"t": ()}, {"t": ()}, {"u": {"id": "INTEGER"}}).declared
