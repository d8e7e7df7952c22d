"""Mutation testing of a task: which mutants of its reference are refused, which are equal after all, and which slip through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from sql_optim_env.cli.mutation.constants import constants
from sql_optim_env.cli.mutation.databases import OUT_OF_RESOURCES, Databases
from sql_optim_env.cli.mutation.generate import mutants
from sql_optim_env.cli.mutation.mutant import Mutant
from sql_optim_env.cli.mutation.shop_databases import ShopDatabases
from sql_optim_env.cli.mutation.tune_databases import TuneDatabases
from sql_optim_env.cli.task_jobs import grade, prepare
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.errors import AgentError
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.task import Task

__all__ = ["FATES", "LEAST_KILL_RATE", "Fate", "MutationTest", "Outcome", "kill_rate", "mutation_test"]

LEAST_KILL_RATE: Final = 0.99

Fate = Literal["killed", "equivalent", "missed"]
"""Refused at grading; on no database that was tried seen to differ (a mutant that never ends is among these: grading stops it); accepted at
grading although it differs on some database.
"""
FATES: Final[tuple[Fate, ...]] = get_args(Fate)

_MOST_UNDECIDED: Final = 5
"""Databases of the longer search on which a mutant may run out of time or memory before it is left alone: it ends nowhere else either."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant, and on which database that was seen (for a missed one: where it differs)."""

    mutant: Mutant
    fate: Fate
    where: str


@dataclass(frozen=True, slots=True)
class MutationTest:
    """All mutants of one task that run at all."""

    task_id: str
    outcomes: tuple[Outcome, ...]
    disputed: int
    """Databases of the search on which the task's own queries differ, so that none of them says anything."""

    def count(self, fate: Fate) -> int:
        """How many mutants came to that."""
        return Counter(outcome.fate for outcome in self.outcomes)[fate]

    @property
    def kill_rate(self) -> float:
        """Killed among those that differ somewhere; 1 when none does."""
        return kill_rate([self])


def kill_rate(tests: Iterable[MutationTest]) -> float:
    """Killed among the mutants of all tests that differ somewhere; 1 when none does."""
    counted = list(tests)
    killed, missed = (sum(test.count(fate) for test in counted) for fate in ("killed", "missed"))
    return killed / (killed + missed) if killed + missed else 1.0


def mutation_test(
    task: Task, store: DatasetStore, sandbox: Sandbox, *, wanted: Callable[[int, Mutant], bool] = lambda number, mutant: True
) -> MutationTest:
    """Judge the mutants of ``task``'s reference; ``wanted`` picks among them by number. Raises InfraError when the task is broken.

    A mutant first meets the small instances in this process, since any of them refuses it in a millisecond; what is left is graded by the
    real job, and what that accepts goes through the longer search.
    """
    databases: Databases[Any, Any] = ShopDatabases(task, store) if task.family == "rewrite" else TuneDatabases(task, store)
    prepare(sandbox, task)
    reference = task.rewrite.reference_sql if task.family == "rewrite" else task.tune.reference_sql
    made = (*mutants(reference, task.dialect), *constants(reference, databases.public()))
    chosen = [mutant for number, mutant in enumerate(made) if wanted(number, mutant)]
    outcomes = tuple(_outcomes(task, databases, sandbox, chosen))
    return MutationTest(task.id, outcomes, len(databases.disputed))


def _outcomes(task: Task, databases: Databases[Any, Any], sandbox: Sandbox, made: Iterable[Mutant]) -> Iterator[Outcome]:
    left: dict[Mutant, str] = {}
    for mutant in made:
        sql = databases.fitted(mutant.sql)
        if sql is None:
            continue
        fitted = Mutant(mutant.kind, sql)
        caught = next((key for key in databases.grading() if databases.verdict(sql, key).differs), None)
        if caught is not None:
            yield Outcome(fitted, "killed", str(caught))
            continue
        refused_for, resources = _graded(task, sandbox, sql)
        if refused_for and not resources:
            yield Outcome(fitted, "killed", refused_for)
        else:
            left[fitted] = refused_for
    differing = _search(databases, left)
    for mutant, refused_for in left.items():
        if mutant not in differing:
            yield Outcome(mutant, "equivalent", "")
        else:
            yield Outcome(mutant, "killed" if refused_for else "missed", refused_for or differing[mutant])


def _search(databases: Databases[Any, Any], mutants: Iterable[Mutant]) -> dict[Mutant, str]:
    """The mutants that differ on some database of the longer search, with the database."""
    left, differing, undecided = list(mutants), dict[Mutant, str](), Counter[Mutant]()

    def differs(mutant: Mutant, key: Any) -> bool:
        verdict = databases.verdict(mutant.sql, key)
        undecided[mutant] += verdict.undecided
        if verdict.differs:
            differing[mutant] = str(key)
        return verdict.differs

    for key in databases.searched():  # a database at a time, since making one takes longer than a query
        left = [mutant for mutant in left if undecided[mutant] < _MOST_UNDECIDED and not differs(mutant, key)]
        if not left:
            break
    for mutant in left:
        next((key for key in databases.searched_for(mutant.sql) if undecided[mutant] >= _MOST_UNDECIDED or differs(mutant, key)), None)
    return differing


def _graded(task: Task, sandbox: Sandbox, sql: str) -> tuple[str, bool]:
    """Why grading refuses ``sql`` (empty: it does not), and whether that was for time or memory alone."""
    try:
        evidence = grade(sandbox, task, sql)
    except AgentError as error:
        return error.code.value, error.code in OUT_OF_RESOURCES
    if evidence.equal:
        return "", False
    if evidence.error_code is not None:
        return evidence.error_code.value, evidence.error_code in OUT_OF_RESOURCES
    return f"different on {evidence.measurements[-1].instance}", False
