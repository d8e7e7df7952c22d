"""Mutation testing of a repair: which mutants of an audit task's reference script are perfect after all, and which slip through.

A script's mutants are those of its statements, and the script without one of them. Grading sees four databases; the longer search holds
other data of the same scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import sqlglot
from sqlglot.errors import ErrorLevel

from sql_optim_env.cli.mutation.generate import mutants
from sql_optim_env.cli.mutation.mutant import Mutant
from sql_optim_env.cli.mutation.run import MutationTest, Outcome
from sql_optim_env.engines.sqlite import run_script
from sql_optim_env.grading.audit_level import repair_level
from sql_optim_env.sandbox.audit_repair import Built, build, repair_facts
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario
from sql_optim_env.tasks.task import Task

__all__ = ["audit_mutation_test", "script_mutants"]

_SEARCHED: Final = 12
"""Further seeds of the data, each with a database like the one that is seen and one of another distribution."""


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
    graded = [build(scenario, variant) for variant in VARIANTS]
    searched = list(_searched(scenario))
    outcomes = [_outcome(scenario, mutant, graded, searched) for mutant in script_mutants(scenario.reference_fix)]
    return MutationTest(task.id, tuple(outcomes), 0)


def _searched(scenario: Scenario) -> Iterator[Built]:
    for number in range(_SEARCHED):
        other = replace(scenario, seed=f"{scenario.seed}:searched:{number}")
        yield build(other, "base")
        yield build(other, "shifted")


def _outcome(scenario: Scenario, mutant: Mutant, graded: Sequence[Built], searched: Sequence[Built]) -> Outcome:
    refused = _first_imperfect(scenario, mutant.sql, graded)
    if refused is not None:
        return Outcome(mutant, "killed", graded[refused].variant)
    differs = _first_imperfect(scenario, mutant.sql, searched)
    if differs is not None:
        return Outcome(mutant, "missed", f"{searched[differs].variant} {differs // 2}")
    return Outcome(mutant, "equivalent", "")


def _first_imperfect(scenario: Scenario, script: str, databases: Sequence[Built]) -> int | None:
    """The place of the first database that ``script`` does not repair perfectly."""
    for place, built in enumerate(databases):
        if repair_level(scenario, repair_facts(built, lambda database: run_script(database, script).database)) != "perfect":
            return place
    return None
