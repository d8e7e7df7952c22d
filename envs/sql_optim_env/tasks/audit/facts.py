"""What is fixed about the tasks of each kind of defect, whether they were made by hand or generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sql_optim_env.tasks.task import Difficulty

__all__ = ["KIND_FACTS", "KindFacts"]


@dataclass(frozen=True, slots=True)
class KindFacts:
    """The public side of a kind's tasks. Nothing here tells what the defect is: the words are those of someone who reports it."""

    name: str
    description: str
    """What a task of this kind is about, before a seed has drawn its database."""
    difficulty: Difficulty
    max_fixes: int
    """Repairs that an episode may try; 0 where the task is answered without one."""
    max_explorations: int = 15


KIND_FACTS: Final[Mapping[str, KindFacts]] = {
    "null_audit": KindFacts(
        "A column that is mostly empty",
        "A report on one table came out thin. Find out which of the columns is to blame and name it.",
        "easy",
        0,
    ),
    "type_repair": KindFacts(
        "Amounts that do not add up",
        "Sums and orderings of a table's amounts come out wrong. Repair the table so that they are amounts again, without losing any.",
        "medium",
        3,
    ),
    "dedup_bug": KindFacts(
        "Everything counted twice",
        "A total is far above what the paper files say. Find out why, repair the table, and name the place where it began.",
        "hard",
        5,
    ),
    "fk_integrity": KindFacts(
        "Entries that belong to nobody",
        "Part of a ledger vanishes from every report that names who an entry belongs to. Repair the ledger and keep what is good.",
        "hard",
        4,
    ),
    "schema_drift": KindFacts(
        "Two sources, one table",
        "Two sources of the same facts are written differently. Bring both of them into one table of a given form.",
        "medium",
        4,
    ),
    "timezone_shift": KindFacts(
        "Confirmed before it happened",
        "Some events are on record at times at which they cannot have happened. Repair the record so that each stands at its own time.",
        "expert",
        5,
    ),
    "unit_mixup": KindFacts(
        "Sums that no slip confirms",
        "What was measured adds up to something that the slips beside it do not confirm. Repair the measured values.",
        "expert",
        5,
    ),
    "scd_overlap": KindFacts(
        "Two versions of the same day",
        "A history gives two answers for some days on which there can only be one. Repair the history.",
        "hard",
        4,
    ),
    "join_fanout": KindFacts(
        "A report that grew on its own",
        "A report shows more than was ever recorded, though the records are right. Repair it, and name the table and the key.",
        "medium",
        4,
    ),
    "near_duplicates": KindFacts(
        "The same name, written differently",
        "A register holds some of its entries several times under slightly different spellings. Repair it and what refers to it.",
        "hard",
        5,
    ),
    "truncated_load": KindFacts(
        "Lines that never arrived",
        "The books hold less than was handed in. Repair them so that they hold exactly what they should.",
        "hard",
        4,
    ),
}
"""By the kind's name, in an order that must not change: a generated task's number picks its kind by place."""
