from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.audit_samples import (
    ACCEPTABLE,
    COLUMN,
    DANGEROUS,
    ELSEWHERE,
    FAILED,
    GONE,
    NO_FIX,
    NOTHING,
    PEEK,
    ROWS,
    SCHEMA,
    STRUCTURE,
    VERSION,
    evidence,
    facts,
    make_identification,
    make_scenario,
    reads,
    record,
)
from sql_optim_env.grading.audit import ANSWER_WEIGHTS, FIX_WEIGHTS, TERMS, efficiency, gate, grade_audit
from sql_optim_env.grading.audit_evidence import AuditEvidence
from sql_optim_env.grading.audit_level import repair_level
from sql_optim_env.grading.audit_record import AuditRecord, RecordedLook
from sql_optim_env.grading.report import PROFILES, RewardProfile
from sql_optim_env.tasks.audit.scenario import Defect, ExpectedAnswer, Scenario

SCENARIO = make_scenario()
ASKED_NOTHING = make_scenario(expected=ExpectedAnswer())
IDENTIFICATION = make_identification()
RIGHT: Any = {"root_cause_table": "payment", "offending_key": "order_ref"}
LOOKED = record(fix="", after=())


def shares(
    scenario: Scenario = ASKED_NOTHING, played: AuditRecord | None = None, found: AuditEvidence | None = None, **answers: str
) -> Any:
    return grade_audit(scenario, played or record(), found or evidence(), answers).breakdown


def test_the_weights_sum_to_one_and_every_term_is_listed() -> None:
    assert math.fsum(FIX_WEIGHTS.values()) == math.fsum(ANSWER_WEIGHTS.values()) == 1.0
    assert {*FIX_WEIGHTS, *ANSWER_WEIGHTS, "bounds"} == set(TERMS)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_perfect_run_earns_exactly_the_most(profile: RewardProfile) -> None:
    assert grade_audit(SCENARIO, record(), evidence(), RIGHT, profile).score == 0.999
    assert grade_audit(IDENTIFICATION, LOOKED, NO_FIX, {"answer": "order_ref"}, profile).score == 0.999


@pytest.mark.parametrize("profile", PROFILES)
def test_submitting_at_once_earns_exactly_the_least(profile: RewardProfile) -> None:
    nothing = AuditRecord(SCHEMA)
    assert grade_audit(SCENARIO, nothing, NO_FIX, {}, profile).score == 0.001
    assert grade_audit(SCENARIO, nothing, NO_FIX, RIGHT, profile).score == 0.001
    assert grade_audit(IDENTIFICATION, nothing, NO_FIX, {"answer": "order_ref"}, profile).score == 0.001


def test_the_terms_of_the_perfect_run_are_the_weights_and_what_the_bounds_take() -> None:
    assert shares() == {**FIX_WEIGHTS, "bounds": -0.001}
    assert shares(IDENTIFICATION, LOOKED, NO_FIX, answer="order_ref") == {**ANSWER_WEIGHTS, "bounds": -0.001}


@pytest.mark.parametrize(
    ("found_at", "worth"), [(1, 1.0), (2, 1.0), (3, 0.7), (4, 0.7), (5, 0.4), (6, 0.4), (7, 0.0), (50, 0.0), (None, 0.0)]
)
def test_finding_the_defect_sooner_is_worth_more(found_at: int | None, worth: float) -> None:
    assert efficiency(found_at) == worth
    if found_at is not None:
        looked = record(*[ELSEWHERE] * (found_at - 1), COLUMN)
        assert shares(played=looked)["diagnostic_efficiency"] == pytest.approx(0.2 * worth)


def test_looks_that_failed_count_as_actions_on_the_way() -> None:
    late = AuditRecord(SCHEMA, (RecordedLook(1, STRUCTURE, "s"), RecordedLook(5, COLUMN, "c")), "FIX", 5)
    assert shares(played=late)["diagnostic_efficiency"] == pytest.approx(0.08)


@pytest.mark.parametrize("seen", [PEEK, ELSEWHERE, STRUCTURE, reads(("customer", "order_ref")), reads(("payment", "amount"))])
def test_what_does_not_read_the_defective_column_through_its_table_finds_nothing(seen: Any) -> None:
    found = shares(played=record(STRUCTURE, seen))
    assert (found["diagnostic_efficiency"], found["hypothesis_quality"]) == (0.0, 0.0)


def test_a_look_of_as_many_steps_as_rows_finds_the_defect_whatever_the_case_of_its_names() -> None:
    seen = record(STRUCTURE, reads(("payment", "order_ref"), steps=ROWS))
    shouted = make_scenario(expected=ExpectedAnswer(), target="Payment", defect=Defect("Payment", ("Order_Ref",)))
    assert shares(shouted, seen) == {**FIX_WEIGHTS, "bounds": -0.001}


def test_a_look_at_what_an_earlier_fix_made_finds_nothing_and_may_check() -> None:
    looked = (RecordedLook(1, STRUCTURE, "s"), RecordedLook(2, COLUMN, "c", repaired_only=True), RecordedLook(3, COLUMN, "c", True))
    found = shares(played=AuditRecord(SCHEMA, looked, "FIX", 2))
    assert (found["diagnostic_efficiency"], found["hypothesis_quality"], found["self_verification"]) == (0.0, 0.0, 0.1)


def test_one_of_several_defective_columns_is_enough() -> None:
    wide = make_scenario(expected=ExpectedAnswer(), defect=Defect("payment", ("paid_on", "order_ref")))
    assert shares(wide)["diagnostic_efficiency"] == 0.2


@pytest.mark.parametrize(
    ("looked", "worth"),
    [
        ((STRUCTURE, COLUMN), 1.0),
        ((reads(structures=("*",)), COLUMN), 1.0),
        ((COLUMN, STRUCTURE), 0.6),
        ((COLUMN,), 0.6),
        ((reads(structures=("customer",)), COLUMN), 0.6),
        ((reads(("payment", "order_ref"), structures=("payment",)),), 0.6),
        ((STRUCTURE,), 0.0),
    ],
)
def test_structure_comes_before_columns(looked: tuple[Any, ...], worth: float) -> None:
    assert shares(played=record(*looked))["hypothesis_quality"] == pytest.approx(0.2 * worth)


def test_looks_after_the_standing_fix_found_nothing_for_it() -> None:
    found = shares(played=record(STRUCTURE, after=(COLUMN,)))
    assert (found["diagnostic_efficiency"], found["hypothesis_quality"], found["self_verification"]) == (0.0, 0.0, 0.1)


@pytest.mark.parametrize(
    ("answers", "worth"),
    [
        (RIGHT, 1.0),
        ({"root_cause_table": "payment"}, 0.5),
        ({"root_cause_table": "paymnt", "offending_key": "order_ref"}, 0.75),
        ({"root_cause_table": "customer", "offending_key": "amount"}, 0.0),
        ({"answer": "order_ref"}, 0.0),
        ({}, 0.0),
    ],
)
def test_names_that_are_asked_for_decide_what_the_order_is_worth(answers: dict[str, str], worth: float) -> None:
    found = shares(SCENARIO, **answers)
    assert found["hypothesis_quality"] == pytest.approx(0.2 * worth)
    assert found["fix_correctness"] == 0.35


@pytest.mark.parametrize(
    ("base", "level", "worth", "paid"),
    [
        ({}, "perfect", 1.0, 1.0),
        (ACCEPTABLE, "acceptable", 0.6, 1.0),
        (DANGEROUS, "dangerous", 0.2, 0.2),
        (NOTHING, "ineffective", 0.0, 0.0),
        (GONE, "catastrophic", 0.0, 0.0),
        (FAILED, "ineffective", 0.0, 0.0),
    ],
)
def test_what_the_fix_is_worth_decides_what_its_manner_is_worth(base: Any, level: str, worth: float, paid: float) -> None:
    assert repair_level(SCENARIO, facts(**base)) == level
    found = shares(found=evidence(base=base))
    assert found["fix_correctness"] == pytest.approx(0.35 * worth)
    manner = [found[name] for name in ("diagnostic_efficiency", "hypothesis_quality", "self_verification")]
    assert manner == pytest.approx([0.2 * paid, 0.2 * paid, 0.1 * paid])


def test_without_a_level_nothing_of_the_manner_is_paid() -> None:
    assert [gate(level) for level in ("perfect", "acceptable", "dangerous", "ineffective", "catastrophic", None)] == [1, 1, 0.2, 0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"mended": 159}, "acceptable"),
        ({"mended": 152}, "acceptable"),
        ({"mended": 151}, "dangerous"),
        ({"mended": 80}, "dangerous"),
        ({"mended": 79}, "ineffective"),
        ({"good_kept": 159}, "acceptable"),
        ({"good_kept": 158}, "dangerous"),
        ({"good_kept": 134}, "dangerous"),
        ({"good_kept": 133}, "ineffective"),
        ({"good_kept": 80}, "ineffective"),
        ({"mended": 104, "good_kept": 152}, "dangerous"),
        ({"mended": 104, "good_kept": 151}, "ineffective"),
        ({"mended": 140, "others_kept": 175}, "dangerous"),
        ({"mended": 140, "others_kept": 174}, "ineffective"),
        ({"good_kept": 79}, "catastrophic"),
        ({"surplus": 1}, "acceptable"),
        ({"surplus": 3}, "acceptable"),
        ({"surplus": 4}, "dangerous"),
        ({"others_kept": 199}, "acceptable"),
        ({"others_kept": 198}, "acceptable"),
        ({"others_kept": 197}, "dangerous"),
        ({"others_surplus": 1}, "acceptable"),
        ({"others_surplus": 2}, "acceptable"),
        ({"others_surplus": 3}, "dangerous"),
        ({"declared": False}, "acceptable"),
        ({"target_present": False}, "catastrophic"),
        ({"target_rows": 0}, "catastrophic"),
        ({"others_kept": 0, "others_emptied": 1}, "ineffective"),
    ],
)
def test_every_boundary_of_a_level_is_where_it_is_said_to_be(changes: dict[str, Any], level: str) -> None:
    assert repair_level(SCENARIO, facts(**changes)) == level


@pytest.mark.parametrize("copies", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [n / 20 for n in range(1, 20)])
def test_throwing_any_share_of_all_rows_away_is_no_repair(copies: int, share: float) -> None:
    rows = 100_000
    lost = share**copies
    left = copies * (1 - share) - (1 - lost)
    extra = copies - 1 or 1
    mended = rows * share if copies == 1 else rows * (extra - left)
    thrown = facts(good_total=rows, good_kept=round(rows * (1 - lost)), defects=rows * extra, mended=round(mended))
    assert repair_level(SCENARIO, thrown) in ("ineffective", "catastrophic")


@pytest.mark.parametrize(("mended", "level"), [(995, "perfect"), (994, "acceptable")])
def test_a_task_may_call_a_repair_perfect_that_leaves_a_few_rows(mended: int, level: str) -> None:
    nearly = make_scenario(perfect_share=0.995)
    assert repair_level(nearly, facts(defects=1_000, mended=mended)) == level


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"good_total": 0, "good_kept": 0}, "perfect"),
        ({"good_total": 0, "good_kept": 0, **NOTHING, "target_present": False, "target_rows": 0}, "ineffective"),
        ({"others_kept": 99}, "catastrophic"),
        ({"others_kept": 100}, "ineffective"),
        ({"others_emptied": 1}, "catastrophic"),
    ],
)
def test_where_the_table_is_to_be_made_the_other_tables_decide_about_a_catastrophe(changes: dict[str, Any], level: str) -> None:
    assert repair_level(make_scenario(good_decides=False), facts(**changes)) == level


def test_a_catastrophe_caps_the_total() -> None:
    report = grade_audit(ASKED_NOTHING, record(), evidence(base=GONE), {})
    assert report.breakdown == {
        "diagnostic_efficiency": 0.0,
        "hypothesis_quality": 0.0,
        "fix_correctness": 0.0,
        "self_verification": 0.0,
        "generalisation": 0.1125,
        "bounds": -0.0625,
    }
    assert report.score == 0.05


@pytest.mark.parametrize(
    ("elsewhere", "share"), [({}, 0.15), (ACCEPTABLE, 0.105), (DANGEROUS, 0.0375), (NOTHING, 0.0375), (GONE, 0.0375), (FAILED, 0.0375)]
)
def test_the_same_fix_is_paid_on_every_database(elsewhere: dict[str, Any], share: float) -> None:
    assert shares(found=evidence(elsewhere=elsewhere))["generalisation"] == share


def test_a_database_that_was_not_measured_was_not_repaired() -> None:
    only_base = AuditEvidence((facts("base"),), (True,), ROWS, VERSION)
    assert shares(found=only_base)["generalisation"] == 0.0375
    without_base = AuditEvidence((facts("hidden_seed"),), (True,), ROWS, VERSION)
    assert shares(found=without_base)["fix_correctness"] == 0.0


def test_the_order_of_the_facts_does_not_matter() -> None:
    found = evidence(elsewhere=NOTHING)
    turned = AuditEvidence(found.facts[::-1], found.checks, ROWS, VERSION)
    assert shares(found=turned) == shares(found=found)


@pytest.mark.parametrize(
    ("after", "checks", "share"),
    [
        ((COLUMN,), (True,), 0.1),
        ((PEEK,), (True,), 0.1),
        ((COLUMN,), (False,), 0.0),
        ((ELSEWHERE,), (True,), 0.0),
        ((STRUCTURE,), (True,), 0.0),
        ((ELSEWHERE, COLUMN), (True, False), 0.0),
        ((ELSEWHERE, COLUMN), (False, True), 0.1),
        ((), (), 0.0),
    ],
)
def test_a_check_reads_what_was_repaired_and_could_have_failed(after: Any, checks: tuple[bool, ...], share: float) -> None:
    found = AuditEvidence(evidence().facts, checks, ROWS, VERSION)
    assert shares(played=record(after=after), found=found)["self_verification"] == share


def test_a_check_may_read_the_table_that_the_repair_made() -> None:
    made = make_scenario(expected=ExpectedAnswer(), target="ledger", good_decides=False)
    assert shares(made, record(after=(reads(("ledger", "order_ref")),)))["self_verification"] == 0.1
    assert shares(made, record(after=(reads(("ledger", "amount")),)))["self_verification"] == 0.0


@pytest.mark.parametrize(
    ("looked", "answer", "score"),
    [
        ((STRUCTURE, COLUMN), "order_ref", 0.999),
        ((COLUMN,), "order_ref", 0.92),
        ((ELSEWHERE, STRUCTURE, COLUMN), "order_ref", 0.94),
        ((*[ELSEWHERE] * 6, COLUMN), "order_ref", 0.72),
        ((STRUCTURE, COLUMN), "order_reff", 0.5),
        ((STRUCTURE, COLUMN), "amount", 0.001),
        ((STRUCTURE, COLUMN), "", 0.001),
        ((STRUCTURE, PEEK), "order_ref", 0.001),
        ((STRUCTURE, ELSEWHERE), "order_ref", 0.001),
    ],
)
def test_an_answer_counts_after_a_look_and_decides_what_the_look_is_worth(looked: Any, answer: str, score: float) -> None:
    assert grade_audit(IDENTIFICATION, record(*looked, fix="", after=()), NO_FIX, {"answer": answer}).score == score


def test_no_look_and_no_answer_is_worth_anything_where_the_fix_is_missing() -> None:
    looked = record(fix="", after=())
    assert grade_audit(SCENARIO, looked, NO_FIX, RIGHT).breakdown == {**dict.fromkeys(FIX_WEIGHTS, 0.0), "bounds": 0.001}


@pytest.mark.parametrize(("base", "terms"), [({}, {"solved": 1.0, "bounds": -0.001}), (DANGEROUS, {"solved": 0.0, "bounds": 0.001})])
def test_the_binary_profile_pays_all_or_nothing(base: Any, terms: dict[str, float]) -> None:
    report = grade_audit(ASKED_NOTHING, record(), evidence(base=base, elsewhere=NOTHING), {}, "binary")
    assert report.breakdown == terms
    assert report.score == pytest.approx(sum(terms.values()))


def test_a_catastrophe_is_no_success_of_the_binary_profile_and_composite_is_execution() -> None:
    assert grade_audit(ASKED_NOTHING, record(), evidence(base=GONE), {}, "binary").score == 0.001
    assert grade_audit(SCENARIO, record(), evidence(), {}, "execution") == grade_audit(SCENARIO, record(), evidence(), {})


looks = st.lists(st.sampled_from([STRUCTURE, COLUMN, PEEK, ELSEWHERE]), min_size=1, max_size=8)
repairs = st.fixed_dictionaries(
    {
        "mended": st.integers(0, 160),
        "good_kept": st.integers(0, 160),
        "surplus": st.integers(0, 5),
        "others_kept": st.integers(190, 200),
        "declared": st.booleans(),
    }
)
names = st.sampled_from(["payment", "order_ref", "paymnt", "customer", "payment order_ref", ""])


@given(looks, looks, repairs, repairs, names, names, st.sampled_from(PROFILES))
def test_the_terms_always_sum_to_a_score_within_its_bounds(
    before: Any, after: Any, base: Any, elsewhere: Any, table: str, key: str, profile: RewardProfile
) -> None:
    found = evidence(*[True] * len(after), base=base, elsewhere=elsewhere)
    report = grade_audit(SCENARIO, record(*before, after=tuple(after)), found, {"root_cause_table": table, "offending_key": key}, profile)
    assert 0.001 <= report.score <= 0.999
    assert round(math.fsum(report.breakdown.values()), 6) == report.score


@given(looks, looks, names)
def test_no_ritual_of_looks_earns_more_than_a_twentieth_without_a_repair(before: Any, after: Any, name: str) -> None:
    answers: Any = {"answer": name, "root_cause_table": name, "offending_key": name}
    found = evidence(*[True] * len(after), base=NOTHING, elsewhere=NOTHING)
    assert grade_audit(SCENARIO, record(*before, after=tuple(after)), found, answers).score == 0.001
    assert grade_audit(SCENARIO, record(*before, fix="", after=()), NO_FIX, answers).score == 0.001
