"""What grading needs to know of how an audit episode went, and what it made of it: plain records, no verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sql_optim_env.grading.audit_evidence import Reads
from sql_optim_env.grading.audit_level import Level
from sql_optim_env.tasks.audit.scenario import AnswerField

__all__ = ["AuditRecord", "Marks", "RecordedLook"]


@dataclass(frozen=True, slots=True)
class RecordedLook:
    """A ``query`` or ``profile`` that ran without error."""

    action: int
    """Its 1-based number among the episode's ``query`` and ``profile`` actions; those that failed are counted too."""
    reads: Reads
    sql: str
    repaired_only: bool = False
    """Whether it ran on a copy with a fix alone, since it names what the fix has made: it can check, not find."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An episode up to its submission."""

    schema: Mapping[str, tuple[str, ...]]
    """The broken database's tables, each with its columns."""
    looks: tuple[RecordedLook, ...] = ()
    """In the order in which they were taken."""
    fix: str = ""
    """The standing fix, empty without one: the last script that ran without error."""
    fixed_after: int = 0
    """How many ``query`` and ``profile`` actions there were before the standing fix."""

    @property
    def looks_before(self) -> tuple[RecordedLook, ...]:
        """The looks at the broken database that the standing fix can rest on; all of them without a fix."""
        return tuple(look for look in self.looks if not look.repaired_only and (not self.fix or look.action <= self.fixed_after))

    @property
    def looks_after(self) -> tuple[RecordedLook, ...]:
        """The looks that can have checked the standing fix."""
        return tuple(look for look in self.looks if self.fix and look.action > self.fixed_after)

    @property
    def checks(self) -> tuple[str, ...]:
        """The statements of :attr:`looks_after`."""
        return tuple(look.sql for look in self.looks_after)


@dataclass(frozen=True, slots=True)
class Marks:
    """What an episode showed, before any weight."""

    found_at: int | None
    """Number of the exploring action that found the defect; None when none did."""
    structure_first: bool
    """Whether the defective table's structure was looked at before that."""
    checked: bool
    """Whether a look after the standing fix bears on it and could have shown a failure."""
    answers: Mapping[AnswerField, float] = field(default_factory=dict)
    """The credit of each field that the task asks for: 1.0 right, 0.5 nearly right, 0.0 wrong."""
    levels: tuple[Level, ...] = ()
    """The standing fix on each of :data:`VARIANTS <sql_optim_env.tasks.audit.scenario.VARIANTS>`, ``base`` first; empty without one."""

    @property
    def answer(self) -> float:
        """The mean credit of the fields that were asked for; 1.0 when none was."""
        return sum(self.answers.values()) / len(self.answers) if self.answers else 1.0
