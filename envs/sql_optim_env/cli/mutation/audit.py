"""Mutation testing of a repair: which mutants of an audit task's reference script are perfect after all, and which slip through.

A script's mutants are those of its statements, and the script without one of them. Grading sees four databases; the longer search holds
other data of the same scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import sqlglot
from sqlglot.errors import ErrorLevel

from sql_optim_env.cli.mutation.generate import mutants
from sql_optim_env.cli.mutation.mutant import Mutant
from sql_optim_env.cli.mutation.run import MutationTest, Outcome
from sql_optim_env.engines.sqlite import build_database, declared_types, read_rows, run_script
from sql_optim_env.errors import AgentError
from sql_optim_env.grading.audit import repair_level
from sql_optim_env.grading.audit_truth import hold_against
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS, Content, Scenario, Variant
from sql_optim_env.tasks.task import Task

__all__ = ["audit_mutation_test", "script_mutants"]

_SEARCHED: Final = 12
"""Further seeds of the data, each with a database like the one that is seen and one of another distribution."""


@dataclass(frozen=True, slots=True)
class _Database:
    name: str
    variant: Variant
    content: Content
    broken: bytes


def script_mutants(script: str) -> tuple[Mutant, ...]:
    """Every script that differs from ``script`` in one change of one statement, or in a statement that is missing."""
    trees = sqlglot.parse(script, dialect="sqlite")
    statements = [tree.sql(dialect="sqlite", unsupported_level=ErrorLevel.IGNORE) for tree in trees if tree is not None]
    found = []
    for place, statement in enumerate(statements):
        for mutant in mutants(statement, "sqlite"):
            found.append(Mutant(mutant.kind, ";\n".join([*statements[:place], mutant.sql, *statements[place + 1 :]])))
        if len(statements) > 1:
            found.append(Mutant("statement dropped", ";\n".join([*statements[:place], *statements[place + 1 :]])))
    return tuple(found)


def audit_mutation_test(task: Task, seed: int | None = None) -> MutationTest:
    """Judge the mutants of the repair that ``task`` asks for. A task without a repair has none."""
    scenario = scenario_of(task, seed)
    if not scenario.fixable:
        return MutationTest(task.id, (), 0)
    graded = [_database(scenario, variant, variant) for variant in VARIANTS]
    searched = list(_searched(scenario))
    outcomes = [_outcome(scenario, mutant, graded, searched) for mutant in script_mutants(scenario.reference_fix)]
    return MutationTest(task.id, tuple(outcomes), 0)


def _searched(scenario: Scenario) -> Iterator[_Database]:
    for number in range(_SEARCHED):
        other = replace(scenario, seed=f"{scenario.seed}:searched:{number}")
        for variant in ("base", "shifted"):
            yield _database(other, variant, f"{variant} {number}")


def _database(scenario: Scenario, variant: Variant, name: str) -> _Database:
    content = kinds()[scenario.kind].content(scenario, variant)
    return _Database(name, variant, content, build_database(content.ddl, content.rows))


def _outcome(scenario: Scenario, mutant: Mutant, graded: list[_Database], searched: list[_Database]) -> Outcome:
    refused = next((database.name for database in graded if not _perfect(scenario, mutant.sql, database)), "")
    if refused:
        return Outcome(mutant, "killed", refused)
    differs = next((database.name for database in searched if not _perfect(scenario, mutant.sql, database)), "")
    return Outcome(mutant, "missed" if differs else "equivalent", differs)


def _perfect(scenario: Scenario, script: str, database: _Database) -> bool:
    truth = database.content.truth
    try:
        after = run_script(database.broken, script).database
        before, found = ({t.table: read_rows(each, t.table, t.columns) for t in truth} for each in (database.broken, after))
    except AgentError:
        return False
    affinities = {t.table: declared_types(after, t.table) for t in truth}
    return repair_level(scenario, hold_against(database.variant, truth, before, found, affinities)) == "perfect"
