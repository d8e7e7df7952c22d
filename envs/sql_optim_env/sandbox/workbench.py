"""What a worker keeps between jobs: open databases, prepared tasks, and the engines that compare and render results.

All of it can be dropped at any moment and is made again when it is needed.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.duckdb.capture import Capture
from sql_optim_env.engines.duckdb.cost import Card, CostModel, build_card
from sql_optim_env.engines.duckdb.database import Database
from sql_optim_env.engines.duckdb.equality import Comparer
from sql_optim_env.engines.duckdb.settings import open_read_only
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox.digest import engine_digest
from sql_optim_env.sandbox.rendering import Renderer
from sql_optim_env.sandbox.worker import WorkerConfig, config, on_distress
from sql_optim_env.tasks.task import Task

__all__ = ["SCORED_ROLES", "Workbench", "task_instances", "workbench"]

SCORED_ROLES = frozenset({"public", "twin"})
"""Roles on which cost means something: the instance is large enough."""

_EXPECTED_RESULTS = 128
"""Results that a worker holds open: the instances of ten tasks. Opening one takes 0.3 ms, a tenth of a small instance's run."""

_ORDER = {"public": 0, "adversarial": 1, "edge": 2, "twin": 3}


def task_instances(task: Task) -> tuple[Instance, ...]:
    """Return every instance on which answers to ``task`` are run, in the order in which they are.

    Public first, since its differences may be shown; then the small ones, which find most wrong answers in a millisecond or two each; the
    twin last.
    """
    dataset = get_dataset(task.dataset)
    found = (*dataset.instances, *dataset.edge_instances([task.sql, task.rewrite.reference_sql]))
    return tuple(sorted(found, key=lambda instance: _ORDER[instance.role]))


class Workbench:
    """Databases that stay open (the least recently used is closed beyond the cap), each with its card where cost counts."""

    def __init__(self, settings: WorkerConfig) -> None:
        self.store = DatasetStore(settings.data_dir)
        self._settings = settings
        self._open: OrderedDict[Instance, Database] = OrderedDict()
        self._expected: OrderedDict[Path, Capture] = OrderedDict()
        self._comparer: Comparer | None = None
        self._renderer: Renderer | None = None
        self._numbers = itertools.count()

    def database(self, instance: Instance) -> Database:
        """Return the open database of ``instance``, built first if it is missing. Raises InfraError when it cannot be opened."""
        if instance in self._open:
            self._open.move_to_end(instance)
            return self._open[instance]
        while len(self._open) >= self._settings.open_databases:
            self._open.popitem(last=False)[1].close()
        path = self.store.path(instance)
        if not path.exists():
            self.store.ensure(instance)
        try:
            database = self._opened(instance, path)
        except InfraError:
            # Checksums are not read on every start of a worker, only now that there is a reason to.
            database = self._opened(instance, self.store.ensure(instance))
        self._open[instance] = database
        return database

    def expected(self, path: Path) -> Capture:
        """Return a kept result. Its rows are mapped from the file, so what is held open is an address and a descriptor."""
        if path in self._expected:
            self._expected.move_to_end(path)
            return self._expected[path]
        while len(self._expected) >= _EXPECTED_RESULTS:
            self._expected.popitem(last=False)
        capture = self._expected[path] = Capture.load(path)
        return capture

    def comparer(self) -> Comparer:
        """Return the engine that compares results."""
        if self._comparer is None:
            settings = self._settings
            self._comparer = Comparer(memory_mb=settings.memory_mb, spill_mb=settings.spill_mb, temp_dir=self._temp_dir())
        return self._comparer

    def renderer(self) -> Renderer:
        """Return the engine that turns rows into JSON values."""
        if self._renderer is None:
            self._renderer = Renderer()
        return self._renderer

    def verify(self, instance: Instance) -> None:
        """Close the database of ``instance`` and check its file, which is rebuilt if it is damaged."""
        if instance in self._open:
            self._open.pop(instance).close()
        self.store.ensure(instance)

    def release(self) -> None:
        """Close everything."""
        while self._open:
            self._open.popitem()[1].close()
        self._expected.clear()
        if self._comparer is not None:
            self._comparer.close()
            self._comparer = None
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        pa.default_memory_pool().release_unused()

    def _opened(self, instance: Instance, path: Path) -> Database:
        settings = self._settings
        card = self._card(instance) if instance.role in SCORED_ROLES else None
        return Database(path, memory_mb=settings.memory_mb, spill_mb=settings.spill_mb, temp_dir=self._temp_dir(), card=card)

    def _card(self, instance: Instance) -> Card:
        def make(path: Path) -> None:
            source = self.store.path(instance)
            try:
                with open_read_only(
                    source, memory_mb=self._settings.memory_mb, spill_mb=self._settings.spill_mb, temp_dir=self._temp_dir()
                ) as con:
                    path.write_text(build_card(con).to_json(), encoding="utf-8")
            except duckdb.Error as error:
                raise InfraError(f"instance {instance.name} of {instance.dataset} cannot be described: {type(error).__name__}") from error

        stored = self.store.derived(instance, f"card {CostModel.load().version} {engine_digest()}", "json", make)
        return Card.from_json(stored.read_text(encoding="utf-8"))

    def _temp_dir(self) -> Path:
        # One for each engine instance: their spill files have the same names.
        return self._settings.scratch / f"spill-{next(self._numbers)}"


@cache
def workbench() -> Workbench:
    """Return the workbench of this worker."""
    bench = Workbench(config())
    on_distress(bench.release)
    return bench
