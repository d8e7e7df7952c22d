"""Makes generated tasks, and says which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Final

from sql_optim_env.datasets.generate.domains.domain import Domain
from sql_optim_env.datasets.generate.tune import COUNTS, Numbers, Plan, ShapeName, dataset_of, make_plan, numbers_of
from sql_optim_env.tasks.entry import TaskEntry
from sql_optim_env.tasks.generate.tune import joined, one_table
from sql_optim_env.tasks.generate.tune.draft import Draft
from sql_optim_env.tasks.splits import SPLITS
from sql_optim_env.tasks.task import Difficulty, Split, Task, TuneGrader

__all__ = ["generated_entries", "generated_task"]

_WRITERS: Final[Mapping[ShapeName, tuple[Callable[[Domain, Numbers, Random], Draft], Difficulty]]] = {
    "fold": (one_table.fold, "easy"),
    "columns": (one_table.columns, "medium"),
    "page": (one_table.page, "hard"),
    "hop": (one_table.hop, "expert"),
    "anti": (joined.anti, "hard"),
    "shared": (joined.shared, "hard"),
    "chasm": (joined.chasm, "medium"),
    "ends": (joined.ends, "hard"),
}


def generated_entries() -> tuple[TaskEntry, ...]:
    """Every generated task, a split after the other; none of them is made."""
    return tuple(_entry(split, index) for split in SPLITS for index in range(COUNTS[split]))


def generated_task(plan: Plan) -> Task:
    """The task of a plan. Writes its texts and makes no data."""
    dataset = dataset_of(plan)
    write, difficulty = _WRITERS[plan.shape]
    draft = write(plan.domain, numbers_of(plan), plan.dice("words"))
    return Task(
        id=plan.name,
        name=draft.title,
        family="tune",
        split=plan.split,
        difficulty=difficulty,
        dataset=plan.name,
        dialect=dataset.dialect,
        description=draft.description,
        sql=draft.sql,
        tables=dataset.tables,
        max_steps=1,
        max_explorations=4 * (draft.max_indexes + 1),
        grader=TuneGrader(
            reference_sql=draft.reference_sql,
            reference_ddl=draft.reference_ddl,
            variants=draft.variants,
            wrong=draft.wrong,
            max_vm_steps=draft.max_vm_steps,
            max_spill_bytes=draft.max_spill_bytes,
        ),
        tags=("generated",),
        max_indexes=draft.max_indexes,
    )


def _entry(split: Split, index: int) -> TaskEntry:
    plan = make_plan(split, index)
    return TaskEntry(plan.name, "tune", split, _WRITERS[plan.shape][1], cache(lambda: generated_task(plan)))
