"""What the original and the reference of a tune task ask for on every instance, and the bytes of those instances.

The figures are measured by the very code, in the very build, that measures a submission: the key under which they are kept holds the
instance's content hash, all texts, and :func:`tune_digest`, so a figure of another SQLite, of other compile options or of other measuring
code is never found.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final, Literal

import sql_optim_env.engines.sqlite as engine
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.sqlite import Caps, Capture, Run, apply_ddl, assert_engine, compare, engine_version, measure
from sql_optim_env.errors import AgentError, InfraError
from sql_optim_env.sandbox.worker import config, on_distress, remaining_s
from sql_optim_env.tasks.task import Task

__all__ = [
    "LEAST_EDGES",
    "LEAST_GAIN",
    "LEAST_TWINS",
    "TuneBaseline",
    "TuneBench",
    "TuneInstanceBaseline",
    "TunePrepared",
    "TunePreparedInstance",
    "TuneRole",
    "task_caps",
    "time_left",
    "tune_bench",
    "tune_digest",
    "tune_instances",
]

TuneRole = Literal["public", "twin", "edge"]

LEAST_GAIN: Final = 4
"""The original must ask for this many times the pages of the reference, on every scored instance: below it the log scale is mostly noise
between neighbouring plans.
"""
LEAST_TWINS: Final = 2
LEAST_EDGES: Final = 5

_LAYOUT: Final = 1
"""Raise it when the meaning of the kept figures changes."""

_ORDER: Final[dict[str, int]] = {"public": 0, "edge": 1, "twin": 2}

_CACHED_BYTES: Final = 96 << 20
"""Databases that a worker keeps as bytes: the three large instances of two or three tasks."""

_CACHED_RESULTS: Final = 128

_GRACE_S: Final = 0.25
"""Seconds before the worker's deadline at which a statement stops itself: cheaper than a new worker, with the same code."""


@dataclass(frozen=True, slots=True)
class TuneInstanceBaseline:
    """The original and the reference on one instance. On ``edge`` instances pages are measured and never scored."""

    instance: str
    role: TuneRole
    original_pages: int
    reference_pages: int
    original_vm_steps: int
    reference_vm_steps: int
    reference_spill_bytes: int
    row_count: int
    """Rows of the right result."""


@dataclass(frozen=True, slots=True)
class TuneBaseline:
    """All instances of one task, in the order in which submissions are run on them."""

    task_id: str
    engine_version: str
    instances: tuple[TuneInstanceBaseline, ...]


@dataclass(frozen=True, slots=True)
class TunePreparedInstance:
    """An instance with its baseline and the file that holds the right result."""

    instance: Instance
    baseline: TuneInstanceBaseline
    expected: Path


class TuneBench:
    """What a worker keeps between jobs: databases as bytes, right results, and the scratch copy that was used last.

    All of it can be dropped at any moment. The copy is known by its path, under which no other content is ever written.
    """

    def __init__(self, store: DatasetStore) -> None:
        self.store = store
        self._databases: OrderedDict[Instance, bytes] = OrderedDict()
        self._expected: OrderedDict[Path, Capture] = OrderedDict()
        self._copy: tuple[Path, bytes] | None = None

    def database(self, instance: Instance) -> bytes:
        """The bytes of ``instance``, whole by its checksum; built first if it is missing or damaged."""
        if instance in self._databases:
            self._databases.move_to_end(instance)
            return self._databases[instance]
        found = _read(self.store.ensure(instance))
        self._databases[instance] = found
        while len(self._databases) > 1 and sum(map(len, self._databases.values())) > _CACHED_BYTES:
            self._databases.popitem(last=False)
        return found

    def expected(self, path: Path) -> Capture:
        """A kept result."""
        if path in self._expected:
            self._expected.move_to_end(path)
            return self._expected[path]
        while len(self._expected) >= _CACHED_RESULTS:
            self._expected.popitem(last=False)
        capture = self._expected[path] = Capture.load(path)
        return capture

    def copy(self, path: Path) -> bytes:
        """The bytes of a scratch copy."""
        if self._copy is None or self._copy[0] != path:
            self._copy = None  # before the next one is read, so that two of them are never held at once
            self._copy = (path, _read(path))
        return self._copy[1]

    def keep_copy(self, path: Path, content: bytes) -> None:
        """Remember a copy whose file at ``path`` is about to be there, so that it need not be read."""
        self._copy = (path, content)

    def forget(self, instance: Instance) -> None:
        """Drop a database that the engine could not read; its file is checked before it is used again."""
        self._databases.pop(instance, None)

    def release(self) -> None:
        """Drop everything."""
        self._databases.clear()
        self._expected.clear()
        self._copy = None


@cache
def tune_bench() -> TuneBench:
    """The bench of this worker."""
    bench = TuneBench(DatasetStore(config().data_dir, generated=config().generated_dir))
    on_distress(bench.release)
    return bench


@cache
def tune_digest() -> str:
    """A digest of the engine build and of the code that measures with it; part of the key of every kept figure."""
    digest = hashlib.blake2b(engine_version().encode(), digest_size=12)
    for path in sorted(Path(next(iter(engine.__path__))).glob("*.py")):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return f"{engine_version()} {digest.hexdigest()}"


def tune_instances(task: Task) -> tuple[Instance, ...]:
    """Every instance that a submission is run on, in that order: public, since its differences may be shown; the small edge ones, which
    find most wrong answers; the twins. Raises InfraError when there are too few of a role.
    """
    found = sorted(get_dataset(task.dataset).instances, key=lambda instance: _ORDER[instance.role])
    counts = {role: sum(instance.role == role for instance in found) for role in _ORDER}
    if counts["public"] != 1 or counts["twin"] < LEAST_TWINS or counts["edge"] < LEAST_EDGES:
        raise InfraError(f"dataset {task.dataset} cannot grade a tune task: it has the instances {counts}")
    return tuple(found)


def task_caps(task: Task) -> Caps:
    """What a submission to ``task`` may use on one instance, within what is left of the job's time."""
    return Caps(max_vm_steps=task.tune.max_vm_steps, max_spill_bytes=task.tune.max_spill_bytes, deadline_s=time_left())


def time_left() -> float:
    """Seconds that a statement may take so that it ends before its worker is ended."""
    return max(remaining_s() - _GRACE_S, 0.05)


class TunePrepared:
    """A task ready to be graded. Making one measures whatever was not measured before.

    Raises InfraError when the task is broken: the engine is another one, a submission of its own fails or is not admitted, the reference's
    result differs from the original's on some instance, or the reference does not gain enough on a scored one.
    """

    def __init__(self, bench: TuneBench, task: Task) -> None:
        assert_engine()
        self.task = task
        self._bench = bench
        self.instances: tuple[TunePreparedInstance, ...] = tuple(self._prepare(tune_instances(task)))

    @property
    def public(self) -> Instance:
        """The instance the agent sees."""
        return self.instances[0].instance

    @property
    def baseline(self) -> TuneBaseline:
        """The figures alone."""
        return TuneBaseline(self.task.id, engine_version(), tuple(item.baseline for item in self.instances))

    def _prepare(self, instances: tuple[Instance, ...]) -> Iterator[TunePreparedInstance]:
        store, task = self._bench.store, self.task
        caps = (task.tune.max_vm_steps, task.tune.max_spill_bytes)
        for instance in instances:
            key = f"tune {_LAYOUT} {tune_digest()} {_digest(task.sql, task.tables)}"
            expected = store.derived(instance, f"{key} expected", "json", partial(self._save_expected, instance))
            key = f"{key} {_digest(task.tune.reference_sql, task.tune.reference_ddl, task.max_indexes, caps)} baseline"
            figures = store.derived(instance, key, "json", partial(self._save_figures, instance, expected))
            yield TunePreparedInstance(instance, TuneInstanceBaseline(**json.loads(figures.read_bytes())), expected)

    def _save_expected(self, instance: Instance, path: Path) -> None:
        self._measured("original", instance, self.task.sql, ()).capture.save(path)

    def _save_figures(self, instance: Instance, expected: Path, path: Path) -> None:
        task = self.task
        original = self._measured("original", instance, task.sql, ())
        reference = self._measured("reference", instance, task.tune.reference_sql, task.tune.reference_ddl)
        right = Capture.load(expected)
        for name, run in (("original", original), ("reference", reference)):
            if not compare(right, run.capture, examples=0).equal:
                raise InfraError(f"task {task.id} is broken: its {name} differs on instance {instance.name}")
        if instance.role != "edge" and original.pages < LEAST_GAIN * reference.pages:
            gain = f"{original.pages:,} pages against {reference.pages:,}"
            raise InfraError(f"task {task.id} is broken: its reference gains too little on instance {instance.name} ({gain})")
        figures = TuneInstanceBaseline(
            instance=instance.name,
            role=_role(instance),
            original_pages=original.pages,
            reference_pages=reference.pages,
            original_vm_steps=original.vm_steps,
            reference_vm_steps=reference.vm_steps,
            reference_spill_bytes=reference.spill_bytes,
            row_count=right.row_count,
        )
        path.write_text(json.dumps(asdict(figures)), encoding="utf-8")

    def _measured(self, name: str, instance: Instance, sql: str, ddl: tuple[str, ...]) -> Run:
        """Run one of the task's own submissions in the clean room, under the caps that hold for all."""
        task = self.task
        try:
            database = self._bench.database(instance)
            database = apply_ddl(database, ddl, tables=task.tables, max_indexes=task.max_indexes, deadline_s=time_left())
            return measure(database, sql, tables=task.tables, caps=task_caps(task))
        except AgentError as error:
            raise InfraError(f"task {task.id} is broken: its {name} fails on instance {instance.name} ({error.code.value})") from error


def _role(instance: Instance) -> TuneRole:
    if instance.role == "adversarial":  # no dataset of this family has one; this tells the type checker
        raise InfraError(f"instance {instance.name} of {instance.dataset} has a role that tune tasks do not know")
    return instance.role


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InfraError(f"{path.name} cannot be read: {error.strerror or error}") from error


def _digest(*parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()
