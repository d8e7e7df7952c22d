"""The tune half of ``sql-optim check``: what each known submission of a task reads, on five seeds, and what the task claims of it.

Pages are deterministic, so no claim here depends on a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

from sql_optim_env.cli.claims import Claim
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.sqlite import Caps, Capture, Run, apply_ddl, compare, measure
from sql_optim_env.errors import AgentError
from sql_optim_env.grading.score import log_score
from sql_optim_env.sandbox.tune_baseline import LEAST_GAIN, tune_instances
from sql_optim_env.tasks.task import Task

__all__ = ["FRESH_SEEDS", "SHAPES", "TuneCheck", "check_tune_task", "medians"]

FRESH_SEEDS: Final = (5, 71)
"""Seeds beside the public one and the twins': sizes were not set while looking at them."""

SHAPES: Final = ("original", "indexes only", "rewrite only", "both", "plausible")
"""The submissions every task is shown with; a task whose reference has no DDL has no halves."""


@dataclass(frozen=True, slots=True)
class TuneCheck:
    """The verdict on one tune task. ``pages``: for each shape its logical reads on the five seeds."""

    task_id: str
    claims: tuple[Claim, ...]
    pages: Mapping[str, tuple[int, ...]]

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)


@dataclass(frozen=True, slots=True)
class _Submission:
    name: str
    sql: str
    ddl: tuple[str, ...]


def check_tune_task(task: Task, store: DatasetStore) -> TuneCheck:
    """Measure the task's known submissions and judge what it claims. Raises AgentError or InfraError when its own queries do not run."""
    seeds = _seeds(task)
    databases = {instance: store.ensure(instance).read_bytes() for instance in (*tune_instances(task), *seeds[3:])}
    originals = {instance: _run(task, database, _Submission("original", task.sql, ())) for instance, database in databases.items()}
    right = {instance: run.capture for instance, run in originals.items()}
    pages: dict[str, tuple[int, ...]] = {}
    claims: list[Claim] = []
    for submission in _shapes(task):
        runs = {instance: _run(task, databases[instance], submission) for instance in databases}
        pages[submission.name] = tuple(runs[instance].pages for instance in seeds)
        wrong = [instance.name for instance, run in runs.items() if not compare(right[instance], run.capture, examples=0).equal]
        claims.append(Claim(f"{submission.name} has the right rows everywhere", not wrong, ", ".join(wrong) or "equal"))
    claims += _about_pages(pages)
    claims += _about_edges(right)
    for variant in task.tune.wrong:
        caught = _caught(task, databases, right, _Submission(variant.name, variant.sql, variant.ddl))
        claims.append(Claim(f"the wrong submission {variant.name} is refused", bool(caught), ", ".join(caught) or "equal everywhere"))
    return TuneCheck(task.id, tuple(claims), pages)


def _seeds(task: Task) -> tuple[Instance, ...]:
    """Public, both twins, and instances of the same size under seeds that no grade uses."""
    scored = tuple(instance for instance in tune_instances(task) if instance.role != "edge")
    public = get_dataset(task.dataset).public
    return (*scored, *(Instance(public.dataset, f"fresh_{seed}", "twin", seed, public.profile, public.payload) for seed in FRESH_SEEDS))


def _shapes(task: Task) -> Iterator[_Submission]:
    grader = task.tune
    yield _Submission("original", task.sql, ())
    if grader.reference_ddl and grader.reference_sql != task.sql:
        yield _Submission("indexes only", task.sql, grader.reference_ddl)
        yield _Submission("rewrite only", grader.reference_sql, ())
    yield _Submission("both", grader.reference_sql, grader.reference_ddl)
    for variant in grader.variants:
        if variant.name == "plausible":
            yield _Submission("plausible", variant.sql, variant.ddl)


def _run(task: Task, database: bytes, submission: _Submission) -> Run:
    """Run a submission in the clean room, under the task's caps."""
    caps = Caps(max_vm_steps=task.tune.max_vm_steps, max_spill_bytes=task.tune.max_spill_bytes)
    prepared = apply_ddl(database, submission.ddl, tables=task.tables, max_indexes=task.max_indexes)
    return measure(prepared, submission.sql, tables=task.tables, caps=caps)


def _about_pages(pages: Mapping[str, tuple[int, ...]]) -> Iterator[Claim]:
    gains = [original / reference for original, reference in zip(pages["original"], pages["both"], strict=True)]
    seen = ", ".join(f"{gain:.1f}x" for gain in gains)
    yield Claim(f"the reference reads at least {LEAST_GAIN} times fewer pages on every seed", min(gains) >= LEAST_GAIN, seen)
    yield Claim("the gain moves by less than half from seed to seed", max(gains) < 1.5 * min(gains), seen)
    for name in ("indexes only", "rewrite only", "plausible"):
        if name in pages:
            scores = [log_score(*each) for each in zip(pages["original"], pages[name], pages["both"], strict=True)]
            yield Claim(f"{name} is not the whole answer", min(scores) < 0.95, f"score {min(scores):.2f}")


def _about_edges(right: Mapping[Instance, Capture]) -> Iterator[Claim]:
    found = [instance.name for instance, capture in right.items() if instance.role == "edge" and capture.row_count]
    yield Claim("the query finds rows on edge instances", len(found) >= 3, ", ".join(found) or "none")


def _caught(task: Task, databases: Mapping[Instance, bytes], right: Mapping[Instance, Capture], submission: _Submission) -> list[str]:
    caught = []
    for instance, database in databases.items():
        try:
            equal = compare(right[instance], _run(task, database, submission).capture, examples=0).equal
        except AgentError:
            equal = False
        if not equal:
            caught.append(instance.name)
    return caught


def medians(result: TuneCheck) -> list[str]:
    """The median of each shape's pages over the five seeds, in the order of :data:`SHAPES`; a dash for a shape the task has not."""
    return [f"{median(result.pages[name]):,.0f}" if name in result.pages else "-" for name in SHAPES]
