"""A database of an audit problem, and what a repair has made of it held against what it should have become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sql_optim_env.engines.sqlite import build_database
from sql_optim_env.engines.sqlite.tables import declared_types, read_rows
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.grading.audit_evidence import RepairFacts
from sql_optim_env.grading.audit_truth import FoundRows, hold_against
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import Content, Scenario, TableTruth, Variant

__all__ = ["Built", "build", "repair_facts"]

_Rows = Mapping[str, FoundRows | None]


@dataclass(frozen=True, slots=True)
class Built:
    """One broken database of a scenario."""

    variant: Variant
    database: bytes
    content: Content
    rows: _Rows
    """The rows of each table of the truth, as they are read from the broken database."""


def build(scenario: Scenario, variant: Variant) -> Built:
    """One of the scenario's databases: the same bytes every time."""
    content = kinds()[scenario.kind].content(scenario, variant)
    database = build_database(content.ddl, content.rows)
    return Built(variant, database, content, _rows(database, content.truth))


def repair_facts(built: Built, repair: Callable[[bytes], bytes]) -> RepairFacts:
    """The facts of what ``repair`` makes of the database; of one that fails, or that leaves more than can be read, its error code."""
    try:
        return _held(built, repair(built.database))
    except AgentError as error:
        return _held(built, built.database, error.code)


def _held(built: Built, after: bytes, error_code: ErrorCode | None = None) -> RepairFacts:
    truth = built.content.truth
    affinities = {each.table: declared_types(after, each.table) for each in truth}
    return hold_against(built.variant, truth, built.rows, _rows(after, truth), affinities, error_code=error_code)


def _rows(database: bytes, truths: tuple[TableTruth, ...]) -> _Rows:
    return {truth.table: read_rows(database, truth.table, truth.columns) for truth in truths}
