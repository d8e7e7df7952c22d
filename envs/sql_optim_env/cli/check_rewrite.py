"""The rewrite half of ``sql-optim check``: is every rewrite task of the catalogue what it claims to be?

Each claim is checked on the engine that grades, on every instance that grades. CPU times come from a clock, so they are judged here and
never in a unit test.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

import duckdb

from sql_optim_env.cli.claims import Claim
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.engines.duckdb import Capture, policy_for
from sql_optim_env.errors import AgentError
from sql_optim_env.grading.analysis import clean_summary_score, summary_score
from sql_optim_env.sandbox.baseline import run
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.workbench import SCORED_ROLES, Workbench, task_instances
from sql_optim_env.sandbox.worker import WorkerConfig
from sql_optim_env.tasks.task import Difficulty, Task

__all__ = ["LEAST_HEADROOM", "Careless", "Claim", "Ratio", "TaskBench", "TaskCheck", "check_task", "load_careless"]

LEAST_HEADROOM: Final[dict[Difficulty, float]] = {"easy": 2.0, "medium": 5.0, "hard": 5.0, "expert": 5.0}
"""How many times cheaper than the original the reference must be, in cost and in CPU time, on every scored instance."""
OPTIMAL_MARGIN: Final = 1.05
"""No known alternative to an optimal query may be more than this many times cheaper."""
OPTIMAL_CPU_MARGIN: Final = 1.25
"""The same for CPU time, whose smallest of a few short readings is no sharper than that on a busy machine."""
MOST_ROWS: Final = 20_000
"""Largest result on the public instance: comparing and showing larger ones would dominate a step."""
ORIGINAL_CPU_MS: Final = (40.0, 600.0)
"""What the original of a headroom task may take on the public instance: long enough to be measured, short enough to be stepped."""


@dataclass(frozen=True, slots=True)
class Careless:
    """A rewrite that looks right and is not, and why."""

    why: str
    sql: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """Original over rewrite on one scored instance; above 1 the rewrite is cheaper."""

    instance: str
    cost: float
    cpu: float


@dataclass(frozen=True, slots=True)
class TaskCheck:
    """The verdict on one task."""

    task_id: str
    claims: tuple[Claim, ...]
    headroom: tuple[Ratio, ...]
    """Reference against original, an entry for each scored instance."""
    original_ms: float
    """Clock: CPU milliseconds of the original on the public instance."""

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)


@dataclass(frozen=True, slots=True)
class _Outcome:
    capture: Capture
    cost: int
    cpu_ms: float


class TaskBench:
    """Runs statements on the instances of one task as grading does, and remembers what the original gave. Context manager."""

    def __init__(self, task: Task, data_dir: Path, *, repeats: int = 3) -> None:
        """``repeats``: runs of a statement whose CPU time is wanted; the smallest counts."""
        self._task, self._repeats = task, repeats
        self.instances = task_instances(task)
        self.scored = tuple(instance for instance in self.instances if instance.role in SCORED_ROLES)
        self._policy = policy_for(task.sql, task.tables)
        self._data_dir = data_dir
        self.hidden_work: set[tuple[str, str]] = set()
        """Statements, with the instance's name, whose CPU time was far above what their cost explains."""
        self._originals: dict[Instance, _Outcome] = {}

    def __enter__(self) -> TaskBench:
        self._home = tempfile.TemporaryDirectory(prefix="sql-optim-check-")
        settings = WorkerConfig(
            home=Path(self._home.name),
            data_dir=self._data_dir,
            memory_mb=256,
            spill_mb=256,
            open_databases=len(self.instances),
            limits=WorkerLimits(),
        )
        settings.scratch.mkdir()
        self._bench = Workbench(settings)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bench.release()
        self._home.cleanup()

    def run(self, sql: str, instance: Instance, *, repeats: int = 1) -> _Outcome:
        """Run ``sql`` on ``instance``. Raises AgentError."""
        database = self._bench.database(instance)
        statement = database.admit(sql, self._policy)
        runs = [run(database, statement, priced=instance in self.scored) for _ in range(repeats)]
        if all(each.execution.hidden_work for each in runs):
            self.hidden_work.add((sql, instance.name))
        return _Outcome(
            capture=runs[0].capture,
            cost=runs[0].execution.cost,
            cpu_ms=min(each.execution.cpu_ms for each in runs),
        )

    def original(self, instance: Instance) -> _Outcome:
        """What the task's own query gives on ``instance``, and what it takes there."""
        if instance not in self._originals:
            self._originals[instance] = self.run(self._task.sql, instance, repeats=self._repeats if instance in self.scored else 1)
        return self._originals[instance]

    def ratio(self, sql: str, instance: Instance) -> Ratio:
        """The original over ``sql`` on a scored instance. Raises AgentError."""
        original, rewrite = self.original(instance), self.run(sql, instance, repeats=self._repeats)
        return Ratio(instance.name, original.cost / max(rewrite.cost, 1), original.cpu_ms / max(rewrite.cpu_ms, 1e-3))

    def difference(self, sql: str) -> str:
        """The first instance on which ``sql`` does not give the original's result, and how; empty when there is none. Raises AgentError."""
        # Small instances first: they tell most mistakes apart in a millisecond.
        for instance in sorted(self.instances, key=lambda instance: instance in self.scored):
            verdict = self._bench.comparer().compare(self.original(instance).capture, self.run(sql, instance).capture)
            if not verdict.equal:
                return f"on {instance.name}: {verdict.message}"
        return ""

    def settled(self, instance: Instance) -> bool:
        """Whether the original gives the same on a copy of ``instance`` whose rows lie in another order, computed by four threads."""
        with duckdb.connect(config={"threads": 4, "preserve_insertion_order": False, "arrow_lossless_conversion": True}) as con:
            con.execute("SET TimeZone = 'UTC'")
            source = str(self._bench.store.ensure(instance)).replace("'", "''")
            con.execute(f"ATTACH '{source}' AS source (READ_ONLY)")
            for table in self._task.tables:
                con.execute(f"CREATE TABLE {table} AS FROM source.{table} ORDER BY hash(id + 1)")
            con.execute("DETACH source")
            shuffled = con.sql(self._task.sql).to_arrow_reader(100_000).read_all()
        original = self.original(instance).capture
        return self._bench.comparer().compare(original, Capture.of(original.columns, shuffled)).equal


def check_task(task: Task, data_dir: Path, careless: Sequence[Careless] = (), *, repeats: int = 3) -> TaskCheck:
    """Check every claim of ``task``; ``careless`` are rewrites that grading must refuse. Raises AgentError when the task does not run."""
    with TaskBench(task, data_dir, repeats=repeats) as bench:
        headroom = tuple(bench.ratio(task.rewrite.reference_sql, instance) for instance in bench.scored)
        claims = (
            *_about_texts(task),
            *_about_results(task, bench),
            *(_about_optimality(task, bench) if task.rewrite.optimal else _about_headroom(task, bench, headroom)),
            *_about_rewrites(task, bench, careless),
        )
        return TaskCheck(task.id, claims, headroom, bench.original(bench.scored[0]).cpu_ms)


def _about_texts(task: Task) -> Iterator[Claim]:
    lines = len(task.sql.splitlines())
    outside = [issue.issue_type.value for issue in task.rewrite.issues if not 1 <= issue.line <= lines]
    yield Claim("every issue stands on a line of the query", not outside, ", ".join(outside) or f"{len(task.rewrite.issues)} issues")
    summary = task.rewrite.summary
    worth = clean_summary_score(summary) if task.rewrite.optimal else summary_score(task.rewrite.issues, summary)
    yield Claim("the summary names what is there and nothing else", worth == 1.0, f"{worth:.3f} of 1")


def _about_results(task: Task, bench: TaskBench) -> Iterator[Claim]:
    rows = {instance.name: bench.original(instance).capture.row_count for instance in bench.instances}
    empty = [instance.name for instance in bench.scored if not rows[instance.name]]
    edges = [rows[instance.name] for instance in bench.instances if instance.role == "edge"]
    if edges and not any(edges):
        empty.append("every edge instance")
    yield Claim("the result has rows on public and twin and on an edge instance", not empty, "none on " + ", ".join(empty) if empty else "")
    public = bench.scored[0].name
    yield Claim(f"the result is small enough (≤ {MOST_ROWS:,} rows)", rows[public] <= MOST_ROWS, f"{rows[public]:,} rows")
    # The instances of the public size are the twin on a larger scale: shuffling them would tell nothing new.
    unstable = [
        instance.name for instance in bench.instances if instance.name not in ("public", "mirrored") and not bench.settled(instance)
    ]
    yield Claim("the result depends neither on the order of rows nor on threads", not unstable, ", ".join(unstable))


def _about_headroom(task: Task, bench: TaskBench, headroom: Sequence[Ratio]) -> Iterator[Claim]:
    least = LEAST_HEADROOM[task.difficulty]
    costs, times = min(ratio.cost for ratio in headroom), min(ratio.cpu for ratio in headroom)
    yield Claim(f"the reference costs {least:g} times less", costs >= least, f"{costs:.1f}x")
    yield Claim(f"the reference takes {least:g} times less CPU time", times >= least, f"{times:.1f}x", clock=True)
    cpu_ms = bench.original(bench.scored[0]).cpu_ms
    low, high = ORIGINAL_CPU_MS
    yield Claim(f"the original takes {low:g} to {high:g} ms", low <= cpu_ms <= high, f"{cpu_ms:.0f} ms", clock=True)


def _about_optimality(task: Task, bench: TaskBench) -> Iterator[Claim]:
    """An alternative beats an optimal query when it is cheaper on both scored instances: grading takes the minimum of them."""
    cheaper, faster = [], []
    for number, sql in enumerate(task.rewrite.equivalents, 1):
        ratios = [bench.ratio(sql, instance) for instance in bench.scored]
        cost, cpu = min(ratio.cost for ratio in ratios), min(ratio.cpu for ratio in ratios)
        if cost > OPTIMAL_MARGIN:
            cheaper.append(f"equivalent {number} ({cost:.2f}x)")
        if cpu > OPTIMAL_CPU_MARGIN:
            faster.append(f"equivalent {number} ({cpu:.2f}x)")
    yield Claim("no known alternative costs less", not cheaper, ", ".join(cheaper))
    yield Claim("no known alternative takes less CPU time", not faster, ", ".join(faster), clock=True)


def _about_rewrites(task: Task, bench: TaskBench, careless: Iterable[Careless]) -> Iterator[Claim]:
    refused = [f"{name}: {verdict}" for name, sql in _right_answers(task) if (verdict := _verdict(bench, sql))]
    yield Claim(f"the reference and {len(task.rewrite.equivalents)} equivalents are accepted", not refused, "; ".join(refused))
    known = dict(((task.sql, "original"), *((sql, name) for name, sql in _right_answers(task))))
    hidden = sorted(f"{known[sql]} on {instance}" for sql, instance in bench.hidden_work if sql in known)
    yield Claim("the cost explains the CPU time of every right answer", not hidden, ", ".join(hidden), clock=True)
    for wrong in careless:
        try:
            seen = bench.difference(wrong.sql)
        except AgentError as error:
            # A careless rewrite must fail for its result; one that does not even run proves nothing.
            yield Claim(f"refused: {wrong.why}", False, str(error))
        else:
            yield Claim(f"refused: {wrong.why}", bool(seen), seen or "equal on every instance")


def _right_answers(task: Task) -> Iterator[tuple[str, str]]:
    yield "reference", task.rewrite.reference_sql
    for number, sql in enumerate(task.rewrite.equivalents, 1):
        yield f"equivalent {number}", sql


def _verdict(bench: TaskBench, sql: str) -> str:
    try:
        return bench.difference(sql)
    except AgentError as error:
        return str(error)


def load_careless(directory: Path, task_id: str) -> tuple[Careless, ...]:
    """The careless rewrites of a task, from ``<directory>/<task id>.toml``: ``[[careless]]`` tables with ``why`` and ``sql``."""
    path = directory / f"{task_id}.toml"
    if not path.exists():
        return ()
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["careless"]
    return tuple(Careless(entry["why"], entry["sql"].strip()) for entry in entries)
