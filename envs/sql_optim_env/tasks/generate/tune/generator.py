"""Makes a generated task from its id, and says what there is to be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Final

from sql_optim_env.datasets.generate.tune import COUNTS, Numbers, generated_dataset, numbers_of, plan_of, task_name
from sql_optim_env.datasets.generate.tune.domain import Domain
from sql_optim_env.datasets.generate.tune.plan import ShapeName
from sql_optim_env.tasks.generate.tune import joined, one_table
from sql_optim_env.tasks.generate.tune.draft import Draft
from sql_optim_env.tasks.splits import SPLITS
from sql_optim_env.tasks.task import Task, TuneGrader

__all__ = ["generated_task", "generated_task_ids"]

_WRITERS: Final[Mapping[ShapeName, Callable[[Domain, Numbers, Random], Draft]]] = {
    "fold": one_table.fold,
    "columns": one_table.columns,
    "page": one_table.page,
    "hop": one_table.hop,
    "anti": joined.anti,
    "shared": joined.shared,
    "chasm": joined.chasm,
    "ends": joined.ends,
}


def generated_task_ids() -> tuple[str, ...]:
    """The ids of all generated tasks, a split after the other."""
    return tuple(task_name(split, index) for split in SPLITS for index in range(COUNTS[split]))


@cache
def generated_task(task_id: str) -> Task | None:
    """The generated task of that id; None when there is none. Writes its texts and makes no data."""
    plan, dataset = plan_of(task_id), generated_dataset(task_id)
    if plan is None or dataset is None:
        return None
    draft = _WRITERS[plan.shape](plan.domain, numbers_of(plan), plan.dice("words"))
    return Task(
        id=task_id,
        name=draft.title,
        family="tune",
        split=next(split for split in SPLITS if split == plan.split),
        difficulty=draft.difficulty,
        dataset=task_id,
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
