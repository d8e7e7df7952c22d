"""What all sessions of a server share: settings, tasks, datasets, the sandbox, and whether they are ready."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sql_optim_env.datasets.generate.tune import generator_version
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.sqlite import assert_engine, engine_version
from sql_optim_env.errors import InfraError
from sql_optim_env.families.base import FamilyRegistry
from sql_optim_env.families.registry import builtin_families
from sql_optim_env.grading.audit_evidence import AuditBrief, AuditEvidence, ColumnFacts, FixResult, Look
from sql_optim_env.grading.evidence import ExplainResult, QueryResult, RewriteEvidence
from sql_optim_env.grading.tune_evidence import TuneEvidence
from sql_optim_env.sandbox import audit_jobs, jobs, tune_jobs
from sql_optim_env.sandbox.audit_bench import audit_digest
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.server.metrics import Metrics
from sql_optim_env.server.scratch import SandboxScratch
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.catalogue import Catalogue, catalogue
from sql_optim_env.tasks.task import Family, Task

__all__ = ["Readiness", "Runtime", "SandboxRunner"]

_LOG = logging.getLogger(__name__)

PREPARE_DEADLINE_S = 120.0
"""Seconds one task's preparation may take: its slow original is run on every instance, and its edge instances are built."""

_GRADE_DEADLINES = 3
"""Deadlines of a statement that grading an audit episode may take: it runs the fix on four databases, and then every check. What each may
use is capped in steps, so that this is met only on a machine that is far too busy.
"""

_PREPARE: Mapping[Family, Callable[[str], Any]] = {
    "rewrite": jobs.prepare_task,
    "tune": tune_jobs.prepare_tune,
    "audit": audit_jobs.prepare_audit,
}
"""The job that prepares a task of each family."""

Status = Literal["starting", "ready", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Readiness:
    """What ``/ready`` says. ``progress`` is a sentence for people; ``error`` is set when the status is ``failed``."""

    status: Status
    progress: str
    error: str = ""

    @property
    def ready(self) -> bool:
        """Whether a reset would be answered at once."""
        return self.status == "ready"


class SandboxRunner:
    """Runs an episode's statements in the sandbox's workers."""

    def __init__(self, sandbox: Sandbox, settings: Settings) -> None:
        self._sandbox = sandbox
        self._measure = settings.measure
        self._deadline_s = settings.deadline_s

    def grade(self, task: Task, sql: str) -> RewriteEvidence:
        """Run a submission on every instance of its task."""
        return self._sandbox.call(jobs.grade_rewrite, task.id, sql, self._measure)

    def query(self, task: Task, sql: str) -> QueryResult:
        """Run an exploring query on the public instance."""
        return self._sandbox.call(jobs.run_query, task.id, sql)

    def explain(self, task: Task, sql: str) -> ExplainResult:
        """Plan and measure a statement on the public instance."""
        return self._sandbox.call(jobs.explain_query, task.id, sql)

    def grade_tune(self, task: Task, sql: str, ddl: tuple[str, ...]) -> TuneEvidence:
        """Run a submission on every instance of its task."""
        return self._sandbox.call(tune_jobs.grade_tune, task.id, sql, ddl)

    def open_scratch(self, task: Task) -> SandboxScratch:
        """A copy of the task's public instance for one episode."""
        return SandboxScratch(self._sandbox, task.id)

    def audit_open(self, task: Task, seed: int | None) -> AuditBrief:
        """The broken database that ``seed`` draws, as an episode opens."""
        return self._sandbox.call(audit_jobs.audit_open, task.id, seed)

    def audit_query(self, task: Task, seed: int | None, sql: str, fix: str) -> Look:
        """Run a reading statement on the broken database, and on a copy with ``fix`` applied."""
        return self._sandbox.call(audit_jobs.audit_query, task.id, seed, sql, fix)

    def audit_profile(self, task: Task, seed: int | None, table: str, column: str, fix: str) -> tuple[ColumnFacts, Look]:
        """Describe a column of the broken database."""
        return self._sandbox.call(audit_jobs.audit_profile, task.id, seed, table, column, fix)

    def audit_fix(self, task: Task, seed: int | None, script: str) -> FixResult:
        """Run a repairing script on a fresh copy of the broken database."""
        return self._sandbox.call(audit_jobs.audit_fix, task.id, seed, script)

    def audit_grade(self, task: Task, seed: int | None, fix: str, checks: tuple[str, ...]) -> AuditEvidence:
        """Run ``fix`` on every database of the scenario, and hold the checks against the rightly repaired one."""
        return self._sandbox.call(audit_jobs.audit_grade, task.id, seed, fix, checks, deadline_s=_GRADE_DEADLINES * self._deadline_s)


class Runtime:
    """Owns what sessions share. ``start`` returns at once and prepares in the background; ``close`` ends everything and is idempotent."""

    def __init__(self, settings: Settings, tasks: Catalogue | None = None, families: FamilyRegistry | None = None) -> None:
        self.settings = settings
        self.tasks = tasks if tasks is not None else catalogue()
        self.families = families if families is not None else builtin_families()
        self.metrics = Metrics()
        self._store = DatasetStore(settings.data_dir, self._say, settings.generated_dir)
        self._sandbox = Sandbox(
            workers=settings.workers,
            data_dir=settings.data_dir,
            generated_dir=settings.generated_dir,
            deadline_s=settings.deadline_s,
            limits=WorkerLimits(data_mb=settings.worker_memory_mb),
            scratch_root=settings.scratch_dir,
        )
        self.metrics.watch_sandbox(lambda: asdict(self._sandbox.metrics()))
        self.runner = SandboxRunner(self._sandbox, settings)
        self._changed = threading.Condition()
        self._readiness = Readiness("starting", "starting")
        self._schema_info: dict[str, str] = {}
        self._first_resets: dict[str, threading.Lock] = {}
        self._preparation: threading.Thread | None = None

    def start(self) -> None:
        """Start the workers and build what hand-made tasks need, in a thread of its own. Does nothing the second time."""
        with self._changed:
            if self._preparation is not None or self._readiness.status == "stopped":
                return
            self._preparation = threading.Thread(target=self._prepare, name="prepare", daemon=True)
            self._preparation.start()

    def close(self) -> None:
        """Stop preparing, stop the workers. Steps that are under way get an ``InfraError``."""
        with self._changed:
            if self._readiness.status == "stopped":
                return
            self._readiness = Readiness("stopped", "the server is stopping")
            self._changed.notify_all()
        self._sandbox.close()
        if self._preparation is not None:
            self._preparation.join(timeout=5.0)

    @property
    def readiness(self) -> Readiness:
        """What the server can do now; ``ready`` only while its workers answer."""
        with self._changed:
            known = self._readiness
        if known.ready and not self._sandbox.ready():
            return Readiness("starting", "waiting for the workers")
        return known

    def wait_ready(self, timeout_s: float | None = None) -> None:
        """Return once tasks can be played. Raises ``InfraError`` after ``timeout_s`` (default: the setting), or when they never can."""
        limit = self.settings.ready_wait_s if timeout_s is None else timeout_s
        with self._changed:
            self._changed.wait_for(lambda: self._readiness.status != "starting", limit)
            state = self._readiness
        if state.status == "starting":
            raise InfraError(f"the server is not ready yet: {state.progress}")
        if not state.ready:
            raise InfraError(state.error or state.progress)

    def schema_info(self, task: Task) -> str:
        """The DDL with row counts that ``task`` shows; empty for one whose database is drawn by the seed of a reset, so that its episode
        says it. Only after the server has become ready.

        A generated task is built and measured here when it is asked for the first time, about a second's work for a worker; whoever asks
        for it meanwhile waits. Raises ``InfraError`` when that fails, and the next one to ask tries again.
        """
        if not task.dataset:
            return ""
        known = self._schema_info.get(task.dataset)
        if known is not None:
            return known
        with self._changed:
            lock = self._first_resets.setdefault(task.dataset, threading.Lock())
        with lock:
            if task.dataset not in self._schema_info:
                self._prepare_task(task)
                self._describe(task.dataset)
            return self._schema_info[task.dataset]

    def versions(self) -> Mapping[str, str]:
        """Versions of what a score depends on, for ``/ready``: each dataset that several tasks share, a digest over all and the
        generator of further ones, and one of what draws the problems of the audit family.
        """
        tasks = self._datasets()
        datasets = {name: get_dataset(name).version for name in sorted(tasks)}
        return {
            "engine_sqlite": engine_version(),
            "datasets": hashlib.blake2b(repr((datasets, generator_version())).encode(), digest_size=12).hexdigest(),
            "audit_scenarios": audit_digest(),
            **{f"dataset_{name}": version for name, version in datasets.items() if tasks[name] > 1},
        }

    def _say(self, message: str) -> None:
        with self._changed:
            if self._readiness.status == "stopped":
                raise InfraError("the server is stopping")
            if self._readiness.status == "starting":
                self._readiness = Readiness("starting", message)
        _LOG.info("%s", message)

    def _prepare(self) -> None:
        try:
            assert_engine()
            self._sandbox.start()
            datasets = self._datasets()
            for name in sorted(name for name, tasks in datasets.items() if tasks > 1):
                # Before its tasks, which would wait for each other. One that serves a single task is built by the worker that prepares it.
                self._build(name)
            self._prepare_tasks()
            for name in sorted(datasets):
                self._describe(name)
            self._finish(Readiness("ready", "ready"))
            _LOG.info("ready: %d tasks", len(self.tasks.hand_made()))
        except Exception as error:
            self._finish(Readiness("failed", "preparation failed", f"{type(error).__name__}: {error}"))
            if self.readiness.status != "stopped":
                _LOG.exception("preparation failed")

    def _datasets(self) -> Counter[str]:
        """The datasets of the hand-made tasks that have one, and how many tasks each serves."""
        return Counter(task.dataset for task in self.tasks.hand_made() if task.dataset)

    def _describe(self, name: str) -> None:
        dataset = get_dataset(name)
        self._schema_info[name] = dataset.schema_info(self._store.row_counts(dataset.public))

    def _finish(self, state: Readiness) -> None:
        with self._changed:
            if self._readiness.status != "stopped":
                self._readiness = state
            self._changed.notify_all()

    def _build(self, name: str) -> None:
        dataset = get_dataset(name)
        for position, instance in enumerate(dataset.instances, 1):
            self._say(f"dataset {name}: instance {position} of {len(dataset.instances)} ({instance.name})")
            self._store.ensure(instance)

    def _prepare_tasks(self) -> None:
        tasks = self.tasks.hand_made()
        done = 0
        with ThreadPoolExecutor(max_workers=self.settings.workers, thread_name_prefix="prepare") as pool:
            for _ in pool.map(self._prepare_task, tasks):
                done += 1
                self._say(f"tasks: {done} of {len(tasks)} prepared")

    def _prepare_task(self, task: Task) -> None:
        self._sandbox.call(_PREPARE[task.family], task.id, deadline_s=PREPARE_DEADLINE_S)
