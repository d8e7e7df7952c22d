"""The dataset of a generated task: made when it is asked for, from nothing but its name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.generate.domains import domain_sources
from sql_optim_env.datasets.generate.tune.plan import Plan, ShapeName, plan_of
from sql_optim_env.datasets.generate.tune.shape import Numbers, Shape
from sql_optim_env.datasets.generate.tune.shapes_joined import Anti, Chasm, Ends, Shared
from sql_optim_env.datasets.generate.tune.shapes_one_table import Columns, Fold, Hop, Page
from sql_optim_env.datasets.tune.base import TuneDataset, shared_sources
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["GeneratedTuneDataset", "dataset_of", "generated_dataset", "generator_version", "numbers_of"]

_SHAPES: Final[Mapping[ShapeName, Shape]] = {
    "fold": Fold(),
    "columns": Columns(),
    "page": Page(),
    "anti": Anti(),
    "shared": Shared(),
    "chasm": Chasm(),
    "hop": Hop(),
    "ends": Ends(),
}


class GeneratedTuneDataset(TuneDataset):
    """A dataset whose schema is drawn. :func:`dataset_of` makes a subclass for each task, since a schema belongs to a class."""

    plan: ClassVar[Plan]
    numbers: ClassVar[Numbers]

    @cached_property
    def version(self) -> str:
        """The generator's: a change of any shape or domain may change this data."""
        return generator_version()

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """As the shape draws them."""
        return _SHAPES[self.plan.shape].rows(self.plan.domain, self.numbers, dice, sizes)


def numbers_of(plan: Plan) -> Numbers:
    """What the task draws for its data and its query alike."""
    return _SHAPES[plan.shape].numbers(plan.dice("numbers"))


@cache
def generated_dataset(name: str) -> TuneDataset | None:
    """The dataset of the generated task of that name; None when there is none. Makes no data."""
    plan = plan_of(name)
    return None if plan is None else dataset_of(plan)


def dataset_of(plan: Plan) -> TuneDataset:
    """The dataset of a plan. Makes no data."""
    numbers = numbers_of(plan)
    layout = _SHAPES[plan.shape].layout(plan.domain, numbers)
    facts = {"name": plan.name, "plan": plan, "numbers": numbers}
    schema = {"ddl": layout.ddl, "tables": layout.tables, "sizes": layout.sizes, "references": layout.references, "hot": layout.hot}
    made: type[GeneratedTuneDataset] = type("GeneratedTuneDataset", (GeneratedTuneDataset,), facts | schema)
    return made()


@cache
def generator_version() -> str:
    """A digest of the source of this package, of the domains, and of what all datasets of the family share."""
    digest = hashlib.blake2b(digest_size=12)
    for source in (*shared_sources(), *domain_sources(), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()
