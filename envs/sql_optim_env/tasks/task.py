"""What a task is: frozen data. Grader data (reference, expected issues) never leaves the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sql_optim_env.errors import InfraError
from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = [
    "AuditGrader",
    "Difficulty",
    "ExpectedIssue",
    "Family",
    "RewriteGrader",
    "Split",
    "Task",
    "TuneGrader",
    "TuneVariant",
    "name_of_grader",
]

Family = Literal["rewrite", "tune", "audit"]
Split = Literal["train", "test"]
Difficulty = Literal["easy", "medium", "hard", "expert"]


@dataclass(frozen=True, slots=True)
class ExpectedIssue:
    """An issue that is truly there: its type, the 1-based line of the query it stands on, and how severe it is."""

    issue_type: IssueType
    line: int
    severity: Severity
    also: tuple[IssueType, ...] = ()
    """Types that a reasonable reviewer may give the same defect; any of them matches, once."""


@dataclass(frozen=True, slots=True)
class RewriteGrader:
    """Grader data of a rewrite task. Never shown, never in a state, an error text or a log."""

    reference_sql: str
    issues: tuple[ExpectedIssue, ...]
    summary: str
    """The oracle's summary of the issues, in plain words."""
    optimal: bool = False
    """True when the query is already as good as it gets: a copy together with approval is the right answer."""
    equivalents: tuple[str, ...] = field(default=(), repr=False)
    """Other right answers, in other styles; the catalogue check proves that each is accepted."""


@dataclass(frozen=True, slots=True)
class TuneVariant:
    """A submission of known worth that is not the reference: a half of it, a plausible one, or a wrong one."""

    name: str
    sql: str
    ddl: tuple[str, ...]
    why: str
    """What it teaches, in a sentence."""


@dataclass(frozen=True, slots=True)
class TuneGrader:
    """Grader data of a tune task. Never shown, never in a state, an error text or a log."""

    reference_sql: str
    reference_ddl: tuple[str, ...]
    variants: tuple[TuneVariant, ...]
    """Submissions with the right rows, whose pages the catalogue check measures."""
    wrong: tuple[TuneVariant, ...]
    """Submissions whose rows are wrong on some instance; each must be refused."""
    max_vm_steps: int
    """Virtual machine steps a submission may take on one instance; work there is hidden from the page counter."""
    max_spill_bytes: int
    """Bytes a submission may spill from sorters and temporary tables on one instance."""


@dataclass(frozen=True, slots=True)
class AuditGrader:
    """Grader data of an audit task: from which kind of defect its scenario is drawn. Never shown."""

    kind: str
    """A name of :func:`sql_optim_env.tasks.audit.kinds.kinds`."""
    seed: int
    default_sizes: bool = True
    """Whether a reset without a seed plays the kind's documented sizes."""


@dataclass(frozen=True, slots=True)
class Task:
    """One frozen problem.

    ``sql`` is the query that the agent sees, with the line breaks that expected issues count; ``tables`` are the tables it may use.
    """

    id: str
    name: str
    family: Family
    split: Split
    difficulty: Difficulty
    dataset: str
    dialect: str
    description: str
    sql: str
    tables: tuple[str, ...]
    max_steps: int
    max_explorations: int
    grader: RewriteGrader | TuneGrader | AuditGrader = field(repr=False)
    tags: tuple[str, ...] = ()
    max_indexes: int = 0
    """tune: indexes a submission may create."""
    max_fixes: int = 0
    """audit: fixes an episode may try; 0 where the task is answered without one."""

    @property
    def attempts(self) -> int:
        """What an episode may try: fixes where the task wants one, else submissions."""
        return self.max_fixes or self.max_steps

    @property
    def grader_name(self) -> str:
        """The name of what grades it: says what is asked for, never what the answer is."""
        return name_of_grader(self.family, self.max_fixes)

    @property
    def rewrite(self) -> RewriteGrader:
        """Grader data of a rewrite task. Raises :class:`InfraError` for a task of another family."""
        if not isinstance(self.grader, RewriteGrader):
            raise InfraError(f"task {self.id} is not a rewrite task")
        return self.grader

    @property
    def tune(self) -> TuneGrader:
        """Grader data of a tune task. Raises :class:`InfraError` for a task of another family."""
        if not isinstance(self.grader, TuneGrader):
            raise InfraError(f"task {self.id} is not a tune task")
        return self.grader

    @property
    def audit(self) -> AuditGrader:
        """Grader data of an audit task. Raises :class:`InfraError` for a task of another family."""
        if not isinstance(self.grader, AuditGrader):
            raise InfraError(f"task {self.id} is not an audit task")
        return self.grader


def name_of_grader(family: Family, max_fixes: int) -> str:
    """The name of the grader of a task of ``family`` in which ``max_fixes`` repairs may be tried."""
    if family == "audit":
        return "audit.repair" if max_fixes else "audit.identification"
    return {"rewrite": "rewrite.composite", "tune": "tune.logical_reads"}[family]
