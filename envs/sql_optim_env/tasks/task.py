"""What a task is: frozen data. Grader data (reference, expected issues) never leaves the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = ["Difficulty", "ExpectedIssue", "Family", "RewriteGrader", "Split", "Task"]

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
    grader: RewriteGrader = field(repr=False)
    tags: tuple[str, ...] = ()
