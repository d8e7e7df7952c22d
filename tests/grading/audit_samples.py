"""An audit scenario, looks, facts and evidence for tests, made without an engine: 160 of 320 payments are double."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from sql_optim_env.datasets.generate.domains import DOMAINS, Domain
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.audit_evidence import AuditEvidence, Reads, RepairFacts
from sql_optim_env.grading.audit_record import AuditRecord, RecordedLook
from sql_optim_env.tasks.audit.scenario import VARIANTS, Content, Defect, ExpectedAnswer, Kind, Scenario, Variant
from sql_optim_env.tasks.task import AuditGrader, Task

VERSION = "sqlite-3.54.1+abc"
ROWS = 320
SCHEMA = {"customer": ("id", "name", "segment"), "payment": ("id", "order_ref", "amount", "paid_on")}
SECRETS = ("REFERENCE", "STRUCTURE", "COLUMN", "CHECK", "order_ref")

_SCENARIO = Scenario(
    kind="sample",
    domain=DOMAINS["train"][0],
    seed="sample",
    description="The day's total is too high. Each payment is to be there once.",
    target="payment",
    defect=Defect("payment", ("order_ref",)),
    expected=ExpectedAnswer(root_cause_table="payment", offending_key="order_ref"),
    reference_fix="REFERENCE",
    structure_look="STRUCTURE",
    column_look="COLUMN",
    check="CHECK",
)


def make_scenario(**changes: Any) -> Scenario:
    """The scenario of a task that wants a fix and two names."""
    return replace(_SCENARIO, **changes)


def make_identification(**changes: Any) -> Scenario:
    """The scenario of a task that is answered without a fix."""
    return replace(_SCENARIO, **{"expected": ExpectedAnswer(answer="order_ref"), "reference_fix": "", "check": ""} | changes)


def make_audit_task(**changes: Any) -> Task:
    """A task of the kind ``sample``, or ``sample_answer`` for one without a fix."""
    fields: dict[str, Any] = {
        "id": "audit_sample",
        "name": "Payments counted twice",
        "family": "audit",
        "split": "train",
        "difficulty": "hard",
        "dataset": "",
        "dialect": "sqlite",
        "description": "Payments that are there twice.",
        "sql": "",
        "tables": (),
        "max_steps": 1,
        "max_explorations": 6,
        "max_fixes": 2,
        "grader": AuditGrader("sample", 1),
    }
    return Task(**fields | changes)


IDENTIFICATION = make_audit_task(id="audit_answer", max_fixes=0, grader=AuditGrader("sample_answer", 1))


class _Sample(Kind):
    name = "sample"

    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        return make_scenario(seed=seed) if self.name == "sample" else make_identification(seed=seed)

    def content(self, scenario: Scenario, variant: Variant) -> Content:
        raise AssertionError("these samples have no data")


class _SampleAnswer(_Sample):
    name = "sample_answer"


@contextmanager
def sample_kinds() -> Iterator[None]:
    """While this lasts, the samples are the only kinds there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sql_optim_env.tasks.audit.draw.kinds", lambda: {kind.name: kind for kind in (_Sample(), _SampleAnswer())})
        yield


def reads(*columns: tuple[str, str], structures: tuple[str, ...] = (), steps: int = 5_000) -> Reads:
    """What a statement read."""
    return Reads(frozenset(columns), frozenset(structures), steps)


STRUCTURE = reads(structures=("payment",), steps=20)
COLUMN = reads(("payment", "order_ref"), ("payment", "id"))
PEEK = reads(("payment", "order_ref"), steps=ROWS - 1)
ELSEWHERE = reads(("customer", "name"), ("payment", "amount"))


def record(*looked: Reads, fix: str = "REFERENCE", after: tuple[Reads, ...] = (COLUMN,)) -> AuditRecord:
    """An episode: these looks, then the fix (empty: none), then those after it. By default the oracle's."""
    before = looked or (STRUCTURE, COLUMN)
    looks = [RecordedLook(n, seen, f"SELECT {n}") for n, seen in enumerate((*before, *after), start=1)]
    return AuditRecord(SCHEMA, tuple(looks), fix, len(before) if fix else 0)


def facts(variant: Variant = "base", **changes: Any) -> RepairFacts:
    """A perfect repair: 160 doubles are gone, 160 payments and 40 customers are as they were."""
    fields: dict[str, Any] = {
        "variant": variant,
        "error_code": None,
        "target_present": True,
        "target_rows": 160,
        "good_total": 160,
        "good_kept": 160,
        "defects": 160,
        "mended": 160,
        "surplus": 0,
        "others_total": 200,
        "others_kept": 200,
        "others_surplus": 0,
        "declared": True,
    }
    return RepairFacts(**fields | changes)


ACCEPTABLE: dict[str, Any] = {"mended": 152}
DANGEROUS: dict[str, Any] = {"mended": 80}
NOTHING: dict[str, Any] = {"mended": 0, "target_rows": 320}
GONE: dict[str, Any] = {"mended": 0, "target_rows": 0, "target_present": False, "good_kept": 0}
FAILED: dict[str, Any] = {**NOTHING, "error_code": ErrorCode.EXECUTION_ERROR}


def evidence(*checks: bool, base: dict[str, Any] | None = None, elsewhere: dict[str, Any] | None = None) -> AuditEvidence:
    """Evidence of a fix: by default perfect on every database, and of one check that could have failed."""
    found = tuple(facts(name, **((base if name == "base" else elsewhere) or {})) for name in VARIANTS)
    return AuditEvidence(found, checks or (True,), ROWS, VERSION)


NO_FIX = AuditEvidence((), (), ROWS, VERSION)
"""Evidence of an episode without a fix."""
