"""Tune tasks and evidence for tests, made without an engine: the original asks for 1,000 pages, the reference for 100."""

from __future__ import annotations

from typing import Any, Literal

from sql_optim_env.engines.base import Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.tune_evidence import TuneEvidence, TuneMeasurement
from sql_optim_env.tasks.task import Task, TuneGrader, TuneVariant

EQUAL = Difference("equal", "")
WRONG_ROWS = Difference("rows", "1 row is missing and 1 row is extra.", 1, 1, missing=(("7", "NULL"),), extra=(("7", "0"),))
VERSION = "sqlite-3.54.1+abc"
DDL = ("CREATE INDEX parcel_hub ON parcel(hub)",)


def make_tune_task(**changes: Any) -> Task:
    """A task whose reference is the text REFERENCE with one index."""
    fields: dict[str, Any] = {
        "id": "tune_sample",
        "name": "Parcels of a hub",
        "family": "tune",
        "split": "train",
        "difficulty": "easy",
        "dataset": "tune_sample",
        "dialect": "sqlite",
        "description": "How many parcels wait at each hub?",
        "sql": "SELECT hub, COUNT(*) AS n\nFROM parcel\nGROUP BY hub",
        "tables": ("hub", "parcel"),
        "max_steps": 1,
        "max_explorations": 6,
        "max_indexes": 2,
        "grader": TuneGrader(
            reference_sql="REFERENCE",
            reference_ddl=DDL,
            variants=(TuneVariant("plausible", "HALF", ("CREATE INDEX parcel_day ON parcel(day)",), "SECRET WORDS"),),
            wrong=(TuneVariant("inner_join", "WRONG", (), "SECRET WORDS"),),
            max_vm_steps=1_000_000,
            max_spill_bytes=2_000_000,
        ),
    }
    return Task(**fields | changes)


def tune_measurement(
    role: Literal["public", "twin", "edge"] = "public",
    submitted: int = 100,
    *,
    name: str = "",
    original: int = 1_000,
    reference: int = 100,
    difference: Difference = EQUAL,
) -> TuneMeasurement:
    """One measurement; by default the reference's own pages."""
    return TuneMeasurement(name or role, role, difference, original, reference, submitted, vm_steps=5_000, spill_bytes=0)


def tune_evidence(*measurements: TuneMeasurement, **fields: Any) -> TuneEvidence:
    """Evidence of a submission that ran."""
    return TuneEvidence(VERSION, measurements, plan="SCAN parcel", row_count=3, wall_ms=2.0, **fields)


def tuned(public: int = 100, twin_1: int | None = None, twin_2: int | None = None) -> TuneEvidence:
    """Equal everywhere, at these pages (by default the same everywhere)."""
    return tune_evidence(
        tune_measurement("public", public),
        # On small data the reference often asks for more than the original: it must not matter.
        *(tune_measurement("edge", 9, name=f"edge_{n}", original=6, reference=20) for n in range(5)),
        tune_measurement("twin", public if twin_1 is None else twin_1, name="twin_1"),
        tune_measurement("twin", public if twin_2 is None else twin_2, name="twin_2"),
    )


def refused(code: ErrorCode = ErrorCode.REFUSED_SYNTAX, message: str = "ddl item 2: has 2 columns", index: int | None = 1) -> TuneEvidence:
    """Evidence of a submission that was refused before anything was measured."""
    return TuneEvidence(VERSION, (), error_code=code, error_message=message, ddl_error_index=index)
