"""What the task side of a shape writes, and small helpers for wording."""

from __future__ import annotations

from dataclasses import dataclass

from sql_optim_env.tasks.task import TuneVariant

__all__ = ["Draft", "index_on", "plain", "started"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A task's texts; what all generated tasks have in common is added by the generator."""

    title: str
    description: str
    sql: str
    reference_sql: str
    reference_ddl: tuple[str, ...]
    variants: tuple[TuneVariant, ...]
    wrong: tuple[TuneVariant, ...]
    max_indexes: int = 3
    max_vm_steps: int = 8_000_000
    """Twice what any of the shape's own submissions takes, or more."""
    max_spill_bytes: int = 16_000_000


def plain(name: str) -> str:
    """An identifier as words."""
    return name.replace("_", " ")


def index_on(table: str, column: str) -> str:
    """The statement for an index on one column."""
    return f"CREATE INDEX {table}_{column} ON {table}({column})"


def started(words: str) -> str:
    """``words`` as the beginning of a sentence."""
    return words[:1].upper() + words[1:]
