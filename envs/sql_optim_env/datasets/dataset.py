"""What a dataset must offer: real DDL, a list of instances, and a way to build each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sql_optim_env.datasets.instance import Instance

__all__ = ["Dataset"]


class Dataset(ABC):
    """A schema and a seeded generator.

    Building is a pure function: the same instance gives the same database under the same engine version, on every machine.
    """

    name: ClassVar[str]
    dialect: ClassVar[str]
    """The engine that builds and queries it, as sqlglot and the task catalogue name it."""
    ddl: ClassVar[str]
    """The statements the tables are created with; a rewrite may rely on the constraints declared here, and on nothing else."""
    tables: ClassVar[tuple[str, ...]]
    """Table names in the order in which they can be filled (parents first)."""

    @property
    @abstractmethod
    def version(self) -> str:
        """A digest of the generator: it changes when the data may change."""

    @property
    @abstractmethod
    def engine_version(self) -> str:
        """The version of the engine that writes the files."""

    @property
    @abstractmethod
    def instances(self) -> tuple[Instance, ...]:
        """The instances every task of this dataset shares: public first, then the twin, then the adversarial ones."""

    @abstractmethod
    def build(self, instance: Instance, path: Path) -> dict[str, int]:
        """Write a complete database file at ``path``, which must not exist, and return the number of rows per table."""

    @abstractmethod
    def schema_info(self, row_counts: Mapping[str, int]) -> str:
        """The DDL as the agent sees it, with the number of rows of each table as comments."""

    @abstractmethod
    def edge_instances(self, sqls: Sequence[str]) -> tuple[Instance, ...]:
        """Small instances built around the literals of ``sqls`` (the queries of one task; trusted text)."""

    @property
    def public(self) -> Instance:
        """The instance the agent sees."""
        return self.instances[0]
