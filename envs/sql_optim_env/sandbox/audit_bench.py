"""What a worker keeps of audit problems between jobs: their databases as bytes, and copies that a fix has been applied to.

All of it is a pure function of a task, a seed and a script, made in memory: there is no file to prepare, and nothing to clean up.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Generic, TypeVar

import sql_optim_env.tasks.audit as audit
from sql_optim_env.datasets.generate.domains import domain_sources
from sql_optim_env.engines.sqlite import assert_engine
from sql_optim_env.engines.sqlite.script import run_script
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox.audit_repair import Built, build
from sql_optim_env.sandbox.tune_baseline import time_left
from sql_optim_env.sandbox.worker import on_distress
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.scenario import Scenario, Variant
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["AuditBench", "Problem", "audit_bench", "audit_digest"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_KEPT_DATABASES: Final = 64
"""Databases of a few hundred kilobytes, with the rows they should hold: those of sixteen scenarios."""

_KEPT_REPAIRS: Final = 16
"""Repaired copies, each of one session between two of its looks."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One drawn audit problem, by what it was drawn from."""

    task_id: str
    seed: int | None
    scenario: Scenario


class AuditBench:
    """Databases and repaired copies, the least recently used dropped first. All of it can be dropped at any moment."""

    def __init__(self) -> None:
        self._built: _Recent[tuple[str, int | None, Variant], Built] = _Recent(_KEPT_DATABASES)
        self._repaired: _Recent[tuple[str, int | None, str], bytes] = _Recent(_KEPT_REPAIRS)

    @staticmethod
    def problem(task_id: str, seed: int | None) -> Problem:
        """The problem that ``seed`` draws. Raises UnknownTaskError, or InfraError for a task of another family."""
        return Problem(task_id, seed, scenario_of(catalogue().get(task_id), seed))

    def built(self, problem: Problem, variant: Variant = "base") -> Built:
        """One of the problem's databases."""
        key = (problem.task_id, problem.seed, variant)
        found = self._built.get(key)
        if found is None:
            assert_engine()
            found = build(problem.scenario, variant)
            self._built.put(key, found)
        return found

    def repaired(self, problem: Problem, fix: str) -> bytes:
        """The database that the agent sees, with ``fix`` applied to it. Raises what ``run_script`` raises."""
        key = (problem.task_id, problem.seed, fix)
        found = self._repaired.get(key)
        if found is None:
            found = run_script(self.built(problem).database, fix, deadline_s=time_left()).database
            self.keep_repaired(problem, fix, found)
        return found

    def keep_repaired(self, problem: Problem, fix: str, database: bytes) -> None:
        """Remember what ``fix`` has made of the database that the agent sees."""
        self._repaired.put((problem.task_id, problem.seed, fix), database)

    def release(self) -> None:
        """Drop everything."""
        self._built.clear()
        self._repaired.clear()


class _Recent(Generic[K, V]):
    """A mapping that forgets what was not asked for lately."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key in self._items:
            self._items.move_to_end(key)
        return self._items.get(key)

    def put(self, key: K, value: V) -> None:
        self._items[key] = value
        self._items.move_to_end(key)
        while len(self._items) > self._size:
            self._items.popitem(last=False)

    def clear(self) -> None:
        self._items.clear()


@cache
def audit_bench() -> AuditBench:
    """The bench of this worker."""
    bench = AuditBench()
    on_distress(bench.release)
    return bench


@cache
def audit_digest() -> str:
    """A digest of the sources that draw scenarios: while it stays, the same task and seed are the same problem."""
    root = Path(next(iter(audit.__path__)))
    sources = sorted(root.rglob("*.py"))
    if not sources:
        raise InfraError("the sources of the audit family are not there")
    digest = hashlib.blake2b(digest_size=12)
    for path in (*sources, *domain_sources()):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
