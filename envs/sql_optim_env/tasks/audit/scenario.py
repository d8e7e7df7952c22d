"""What an audit problem is: a small database with one planted defect, what the agent is told, and what the grader knows.

A scenario is drawn from a kind, a domain and dice: names, counts and values differ from seed to seed. It is frozen and holds no data;
:meth:`Kind.content` makes the data of each of its databases, the one that the agent sees and those that only grade.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Final, Literal

from sql_optim_env.datasets.generate.domains import Domain

__all__ = [
    "ANSWER_FIELDS",
    "VARIANTS",
    "AnswerField",
    "Cell",
    "Content",
    "Defect",
    "ExpectedAnswer",
    "Kind",
    "Row",
    "Scenario",
    "TableTruth",
    "Variant",
]

Cell = str | int | float | None
Row = tuple[Cell, ...]

Variant = Literal["base", "extra_column", "shifted", "hidden_seed"]
VARIANTS: Final[tuple[Variant, ...]] = ("base", "extra_column", "shifted", "hidden_seed")
"""The databases of one scenario, all with the same names: ``base`` is the one that the agent sees; the same data with one more column in
the defective table; data of another distribution (other shares, ranges and sizes); other data of the same distribution.
"""

AnswerField = Literal["answer", "root_cause_table", "offending_key"]
ANSWER_FIELDS: Final[tuple[AnswerField, ...]] = ("answer", "root_cause_table", "offending_key")


@dataclass(frozen=True, slots=True)
class Defect:
    """Where the defect stands. It has been found when a statement has read one of ``columns`` of ``table``."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The right value of each field that the task asks for; an empty text for one that it does not ask for."""

    answer: str = ""
    root_cause_table: str = ""
    offending_key: str = ""

    def asked(self) -> dict[AnswerField, str]:
        """The fields that the task asks for, with their right values."""
        return {name: value for name in ANSWER_FIELDS if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class TableTruth:
    """What a table must hold after a perfect repair: rows over ``columns`` as a multiset.

    Cells are compared with :func:`canonical cells <sql_optim_env.grading.audit_truth>`: text never equals a number, 1 equals 1.0, and
    numbers are equal to four decimals.
    """

    table: str
    columns: tuple[str, ...]
    good: tuple[Row, ...]
    """Rows that no defect touched: each must be there, as it was."""
    repaired: tuple[tuple[Row, ...], ...] = ()
    """For each defective row that a repair has to mend: the rows that it may become."""
    removable: int = 0
    """Rows of the broken database that a repair has to remove."""
    affinities: Mapping[str, str] = field(default_factory=dict)
    """Columns that must be declared with a type of this affinity: TEXT, INTEGER, REAL or NUMERIC (REAL and NUMERIC count as one)."""


@dataclass(frozen=True, slots=True)
class Content:
    """One database with its planted defect, and what it must become."""

    ddl: tuple[str, ...]
    """``CREATE TABLE`` statements, parents first, then ``CREATE INDEX`` if there is any; run before the rows are inserted."""
    rows: Mapping[str, tuple[Row, ...]]
    """Each table's rows in the order in which they are inserted, all columns."""
    truth: tuple[TableTruth, ...]
    """Every table that the repair must leave behind: the target first, then those that it must leave alone, whole."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One audit problem. All but ``description`` and ``fixable`` and the names in ``asks`` is grader data."""

    kind: str
    domain: Domain
    seed: str
    """Seeds the data of its databases."""
    description: str
    """The whole problem in words: the symptom as a user reports it, the rule that tells right from wrong, what has to be handed in.

    It names tables where a user would, never the defect's cause.
    """
    target: str
    """The table that the repair must mend (or, where it does not exist yet, make)."""
    defect: Defect
    expected: ExpectedAnswer
    reference_fix: str
    """A script of one or more statements that repairs every variant; empty for a task that is answered without one."""
    structure_look: str
    """The oracle's first query: the structure of the defective table."""
    column_look: str
    """The oracle's second query: it reads the defective column and shows the defect."""
    check: str
    """The oracle's query after the fix: its result differs between the broken and the repaired database."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What :meth:`Kind.draw` drew for :meth:`Kind.content`: names, sizes, shares."""
    perfect_share: float = 1.0
    """Share of the defective rows that a perfect repair mends."""
    good_decides: bool = True
    """Whether losing the target's good rows is a catastrophe; False where the target does not exist before the repair."""

    @property
    def asks(self) -> tuple[AnswerField, ...]:
        """The fields of ``submit`` that the task asks for."""
        return tuple(self.expected.asked())

    @property
    def fixable(self) -> bool:
        """Whether the task wants a repair; without one it is answered in ``submit``."""
        return bool(self.reference_fix)


class Kind(ABC):
    """One kind of defect. To add one, write a module in ``kinds`` that ends with ``KIND: Final = TheClass()``."""

    name: ClassVar[str]

    @abstractmethod
    def draw(self, domain: Domain, dice: Random, *, seed: str, default: bool) -> Scenario:
        """A scenario in ``domain``. ``default``: of the documented sizes, else of sizes drawn around them."""

    @abstractmethod
    def content(self, scenario: Scenario, variant: Variant) -> Content:
        """The data of one of the scenario's databases: the same every time."""

    @staticmethod
    def dice(scenario: Scenario, purpose: str) -> Random:
        """Dice for one purpose: independent of the draws for another, and the same every time."""
        return Random(f"{scenario.kind}:{scenario.seed}:{purpose}")

    @classmethod
    def data_dice(cls, scenario: Scenario, variant: Variant) -> Random:
        """The dice for a database's rows. ``extra_column`` has those of ``base``: it differs in one column only."""
        return cls.dice(scenario, "base" if variant == "extra_column" else variant)
