"""The rules of supporting DDL: what they are, in words that an agent reads, and the error that names the one that was broken.

COLLATE and DESC on the one key are settled as follows: an index holds one plain column as the schema defines it, so in ascending order and
under the column's own collation. Another collation or DESC would give the index a second purpose that the schema does not have, and no
measured reference needs either. What is judged is the index that results, so writing ASC, or the column's own collation, is fine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["RULES", "DdlError", "Rule", "describe_rules"]


class Rule(StrEnum):
    """A rule that a DDL item can break."""

    ONE_STATEMENT = "one_statement"
    KIND = "kind"
    TABLE = "table"
    COMPOSITE = "composite"
    EXPRESSION = "expression"
    UNIQUE = "unique"
    PARTIAL = "partial"
    COLLATION = "collation"
    DESCENDING = "descending"
    MAX_INDEXES = "max_indexes"
    SCHEMA = "schema"
    HEADER = "header"


RULES: Final[Mapping[Rule, str]] = MappingProxyType(
    {
        Rule.ONE_STATEMENT: "each DDL item is exactly one statement",
        Rule.KIND: "a DDL item is CREATE INDEX [IF NOT EXISTS] name ON table(column), ANALYZE or ANALYZE table, and nothing else: "
        "no tables, views, triggers, virtual tables, temporary objects, writes, PRAGMAs, VACUUM, DROP or ALTER",
        Rule.TABLE: "an index is on one of the task's tables",
        Rule.COMPOSITE: "an index has exactly one column",
        Rule.EXPRESSION: "an index is on a plain column, not on an expression",
        Rule.UNIQUE: "an index is not UNIQUE",
        Rule.PARTIAL: "an index has no WHERE clause",
        Rule.COLLATION: "an index has its column's own collation: no COLLATE with another one",
        Rule.DESCENDING: "an index is ascending: no DESC (it can be read backwards)",
        Rule.MAX_INDEXES: "no more new indexes than the task allows",
        Rule.SCHEMA: "nothing in the schema changes but for new indexes and the statistics that ANALYZE gathers",
        Rule.HEADER: "nothing about the database file changes (page size, encoding, auto-vacuum, user version, …)",
    }
)
"""Every rule as a sentence without a full stop."""


class DdlError(AgentError):
    """A DDL item that was refused or failed: which one, and the rule it broke, if it broke one."""

    def __init__(self, code: ErrorCode, message: str, *, index: int, rule: Rule | None = None) -> None:
        """``index`` counts from 0; ``message`` says what is wrong with the item, and names the rule."""
        self.index = index
        self.rule = rule
        where = f"ddl item {index + 1}: {message}"
        super().__init__(code, f"{where} (rule: {RULES[rule]})" if rule is not None else where)


def describe_rules(max_indexes: int) -> str:
    """Return the rules of a task that allows ``max_indexes`` new indexes, as lines of text for its instructions."""
    number = {0: "no new index", 1: "one new index"}.get(max_indexes, f"{max_indexes} new indexes")
    return "\n".join(
        (
            f"- At most {number}; each DDL item is exactly one statement.",
            "- Allowed: CREATE INDEX [IF NOT EXISTS] name ON table(column), ANALYZE, ANALYZE table. Nothing else.",
            "- An index has exactly one plain column of a task's table, ascending, in the column's own collation: "
            "no second column, no expression, no UNIQUE, no WHERE, no DESC, no COLLATE with another collation.",
        )
    )
