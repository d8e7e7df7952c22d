"""The published vocabulary of issues: what a suggestion's ``issue_type`` may say, and what each word means."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ISSUE_TYPES", "IssueType", "Severity"]


class Severity(StrEnum):
    """How much an issue costs: a rule of thumb is low < 2x, medium < 10x, high above, critical: it alone dominates the query."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class IssueType(StrEnum):
    """Anti-patterns a query can be charged with."""

    SELECT_STAR = "select_star"
    NON_SARGABLE_PREDICATE = "non_sargable_predicate"
    FUNCTION_ON_COLUMN = "function_on_column"
    IMPLICIT_CAST = "implicit_cast"
    CORRELATED_SUBQUERY = "correlated_subquery"
    REPEATED_SUBQUERY = "repeated_subquery"
    IMPLICIT_JOIN = "implicit_join"
    CROSS_JOIN = "cross_join"
    JOIN_FANOUT = "join_fanout"
    NON_EQUI_JOIN = "non_equi_join"
    REDUNDANT_JOIN = "redundant_join"
    SELF_JOIN = "self_join"
    UNNECESSARY_DISTINCT = "unnecessary_distinct"
    COUNT_DISTINCT_MISUSE = "count_distinct_misuse"
    UNION_INSTEAD_OF_UNION_ALL = "union_instead_of_union_all"
    OR_IN_JOIN = "or_in_join"
    LEADING_WILDCARD = "leading_wildcard"
    REGEX_FOR_SIMPLE_MATCH = "regex_for_simple_match"
    UNNECESSARY_SORT = "unnecessary_sort"
    MISSING_LIMIT_PUSHDOWN = "missing_limit_pushdown"
    LATE_FILTER = "late_filter"
    WINDOW_INSTEAD_OF_AGGREGATE = "window_instead_of_aggregate"
    REDUNDANT_WINDOW = "redundant_window"
    LIST_MATERIALIZATION = "list_materialization"
    RECURSION_INSTEAD_OF_SET = "recursion_instead_of_set"
    OVERGRAINED_GROUPING = "overgrained_grouping"
    REPEATED_SCAN = "repeated_scan"


ISSUE_TYPES: dict[IssueType, str] = {
    IssueType.SELECT_STAR: "every column is read or carried where few are needed",
    IssueType.NON_SARGABLE_PREDICATE: "a filter is written so that it cannot use order or statistics of the column",
    IssueType.FUNCTION_ON_COLUMN: "a function is computed for every row where a comparison of the bare column would do",
    IssueType.IMPLICIT_CAST: "a column is converted to another type to be compared, joined or grouped",
    IssueType.CORRELATED_SUBQUERY: "a subquery depends on the outer row and is evaluated for each",
    IssueType.REPEATED_SUBQUERY: "the same or a very similar subquery is written several times",
    IssueType.IMPLICIT_JOIN: "tables are listed with commas and joined in WHERE",
    IssueType.CROSS_JOIN: "all pairs are formed before they are filtered",
    IssueType.JOIN_FANOUT: "a join multiplies rows that are then collapsed again",
    IssueType.NON_EQUI_JOIN: "a join on an inequality or range does the work of an equality or a window",
    IssueType.REDUNDANT_JOIN: "a joined table adds neither rows nor columns to the result",
    IssueType.SELF_JOIN: "a table is joined to itself where one pass would do",
    IssueType.UNNECESSARY_DISTINCT: "DISTINCT over rows that are unique already, or only made ambiguous by the query itself",
    IssueType.COUNT_DISTINCT_MISUSE: "COUNT(DISTINCT) where rows are unique, or to undo a fan-out",
    IssueType.UNION_INSTEAD_OF_UNION_ALL: "UNION removes duplicates that cannot exist",
    IssueType.OR_IN_JOIN: "an OR in a join condition prevents hashing",
    IssueType.LEADING_WILDCARD: "a LIKE pattern begins with a wildcard",
    IssueType.REGEX_FOR_SIMPLE_MATCH: "a regular expression does what an equality, IN or prefix test would",
    IssueType.UNNECESSARY_SORT: "rows are sorted although the order is not used",
    IssueType.MISSING_LIMIT_PUSHDOWN: "expensive work is done for all rows although few are kept",
    IssueType.LATE_FILTER: "rows are removed after expensive work that could have come later",
    IssueType.WINDOW_INSTEAD_OF_AGGREGATE: "a window computes per row what a GROUP BY gives per group",
    IssueType.REDUNDANT_WINDOW: "several windows where one would do",
    IssueType.LIST_MATERIALIZATION: "values are gathered in a list or string only to be counted, searched or taken apart",
    IssueType.RECURSION_INSTEAD_OF_SET: "recursion does what a set operation gives at once",
    IssueType.OVERGRAINED_GROUPING: "rows are grouped on a finer grain than needed and grouped again",
    IssueType.REPEATED_SCAN: "the same table is read several times where one pass would do",
}
