"""The small worlds that generated tasks are set in: those of the train split, and others for the test split."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from sql_optim_env.datasets.generate.domains import test, train_1, train_2
from sql_optim_env.datasets.generate.domains.domain import Child, Domain, Link

__all__ = ["DOMAINS", "Child", "Domain", "GeneratedSplit", "Link", "domain_sources"]

GeneratedSplit = Literal["train", "test"]

DOMAINS: Final[Mapping[GeneratedSplit, tuple[Domain, ...]]] = {"train": train_1.DOMAINS + train_2.DOMAINS, "test": test.DOMAINS}
"""The domains of each split; no name of a thing in the test split's is in the train split's."""


def domain_sources() -> tuple[Path, ...]:
    """The source files on which the domains depend."""
    return tuple(sorted(Path(__file__).parent.glob("*.py")))
