"""What the original and the reference of a task do on every instance: measured once, kept with the dataset, read by every grade.

The key of a kept figure holds the instance's content hash, both queries, and :func:`engine_digest`, so that figures of different engines,
weights or data never meet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from sql_optim_env.datasets.instance import Instance, Role
from sql_optim_env.engines.duckdb.admission import AdmissionPolicy, Statement, policy_for
from sql_optim_env.engines.duckdb.capture import Capture
from sql_optim_env.engines.duckdb.cost import CostModel
from sql_optim_env.engines.duckdb.database import Database, Run
from sql_optim_env.errors import AgentError, InfraError
from sql_optim_env.sandbox.digest import engine_digest
from sql_optim_env.sandbox.timing import paired_cpu_ms
from sql_optim_env.sandbox.workbench import SCORED_ROLES, Workbench, task_instances
from sql_optim_env.tasks.task import Task

__all__ = ["MAX_RESULT_BYTES", "MAX_RESULT_ROWS", "Baseline", "InstanceBaseline", "Prepared", "PreparedInstance", "run"]

MAX_RESULT_ROWS = 2_000_000
"""Most rows a result may have: twice the largest table."""

MAX_RESULT_BYTES = 192 << 20
"""Most bytes a captured result may have; the capture and its comparison have to fit into the worker's memory."""

_LAYOUT = 1
"""Raise it when the meaning of the kept figures changes."""

_TIMING_BUDGET_S = 2.0


@dataclass(frozen=True, slots=True)
class InstanceBaseline:
    """The original and the reference on one instance. Costs are 0 on instances where cost means nothing (``adversarial``, ``edge``)."""

    instance: str
    role: Role
    original_cost: int
    reference_cost: int
    original_ms: float
    """Clock: CPU milliseconds; on scored instances the median of interleaved runs."""
    reference_ms: float
    """Clock: CPU milliseconds, taken in turns with the original's."""
    row_count: int
    """Rows of the right result."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """All instances of one task, in the order in which answers are run on them."""

    task_id: str
    cost_version: str
    instances: tuple[InstanceBaseline, ...]


@dataclass(frozen=True, slots=True)
class PreparedInstance:
    """An instance with its baseline and the file that holds the right result."""

    instance: Instance
    baseline: InstanceBaseline
    expected: Path


class Prepared:
    """A task ready to be graded. Making one measures whatever was not measured before.

    Raises InfraError when the task is broken: a query of its own fails, or the reference's result differs from the original's.
    """

    def __init__(self, bench: Workbench, task: Task) -> None:
        self.task = task
        self.policy: AdmissionPolicy = policy_for(task.sql, task.tables)
        self._bench = bench
        instances = task_instances(task)
        database = bench.database(instances[0])
        self.cost_version = CostModel.load().version
        try:
            self.original: Statement = database.admit(task.sql, self.policy)
            self._reference: Statement = database.admit(task.rewrite.reference_sql, self.policy)
        except AgentError as error:
            raise InfraError(f"task {task.id} holds a query that is not admitted ({error.code.value})") from error
        self.instances: tuple[PreparedInstance, ...] = tuple(self._prepare(instances))

    @property
    def public(self) -> Instance:
        """The instance the agent sees."""
        return self.instances[0].instance

    @property
    def baseline(self) -> Baseline:
        """The figures alone."""
        return Baseline(self.task.id, self.cost_version, tuple(item.baseline for item in self.instances))

    def _prepare(self, instances: tuple[Instance, ...]) -> Iterator[PreparedInstance]:
        store = self._bench.store
        for instance in instances:
            key = f"{_LAYOUT} {engine_digest()} {_digest(self.task.sql)}"
            expected = store.derived(instance, f"expected {key}", "arrow", partial(self._save_expected, instance))
            key = f"{key} {_digest(self.task.rewrite.reference_sql)}"
            figures = store.derived(instance, f"baseline {key}", "json", partial(self._save_figures, instance, expected))
            yield PreparedInstance(instance, InstanceBaseline(**json.loads(figures.read_bytes())), expected)

    def _save_expected(self, instance: Instance, path: Path) -> None:
        capture = self._trusted(instance, self.original, "original").capture
        capture.save(path, distinct=self._bench.comparer().has_distinct_rows)

    def _save_figures(self, instance: Instance, expected: Path, path: Path) -> None:
        original = self._trusted(instance, self.original, "original")
        reference = self._trusted(instance, self._reference, "reference")
        right = Capture.load(expected)
        for name, capture in (("original", original.capture), ("reference", reference.capture)):
            difference = self._bench.comparer().compare(right, capture)
            if not difference.equal:
                raise InfraError(f"task {self.task.id} is broken: its {name} differs on instance {instance.name}")
        original_ms, reference_ms = original.execution.cpu_ms, reference.execution.cpu_ms
        if instance.role in SCORED_ROLES:
            database = self._bench.database(instance)
            original_ms, reference_ms = paired_cpu_ms(
                lambda: run(database, self.original, priced=False).execution.cpu_ms,
                lambda: run(database, self._reference, priced=False).execution.cpu_ms,
                budget_s=_TIMING_BUDGET_S,
            )
        figures = InstanceBaseline(
            instance=instance.name,
            role=instance.role,
            original_cost=original.execution.cost,
            reference_cost=reference.execution.cost,
            original_ms=original_ms,
            reference_ms=reference_ms,
            row_count=right.row_count,
        )
        path.write_text(json.dumps(asdict(figures)), encoding="utf-8")

    def _trusted(self, instance: Instance, statement: Statement, name: str) -> Run:
        try:
            return run(self._bench.database(instance), statement, priced=instance.role in SCORED_ROLES)
        except AgentError as error:
            raise InfraError(f"task {self.task.id} is broken: its {name} fails on instance {instance.name} ({error.code.value})") from error


def run(database: Database, statement: Statement, *, priced: bool) -> Run:
    """Run a statement within the limits of a result; see ``Database.run``."""
    return database.run(statement, max_rows=MAX_RESULT_ROWS, max_bytes=MAX_RESULT_BYTES, priced=priced)


def _digest(sql: str) -> str:
    return hashlib.blake2b(sql.encode(), digest_size=12).hexdigest()
