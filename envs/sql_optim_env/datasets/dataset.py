"""What a dataset must offer: real DDL, a list of instances, and a way to build each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sql_optim_env.datasets.instance import Instance

__all__ = ["Dataset", "created_table", "ddl_with_counts"]


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


def created_table(statement: str) -> str:
    """The name of the table that ``statement`` creates, or an empty text."""
    words = statement.partition("(")[0].split()
    return words[2].strip('"') if [word.upper() for word in words[:2]] == ["CREATE", "TABLE"] else ""


def ddl_with_counts(statements: Iterable[str], row_counts: Mapping[str, int]) -> str:
    """A schema as an agent is shown it, with ``-- N rows`` above each table; one that is not in ``row_counts`` gets no comment."""
    parts = []
    for statement in statements:
        count = row_counts.get(created_table(statement))
        comment = "" if count is None else f"-- {count:,} {'row' if count == 1 else 'rows'}\n"
        parts.append(f"{comment}{statement.rstrip().rstrip(';')};")
    return "\n\n".join(parts) + "\n"
