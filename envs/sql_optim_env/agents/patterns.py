"""Anti-patterns that can be seen in a syntax tree without knowing the data: the heuristic player's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = ["Finding", "find_issues"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """An issue that a pattern found, on a 1-based line of the query."""

    line: int
    issue_type: IssueType
    severity: Severity


def find_issues(sql: str, dialect: str) -> tuple[Finding, ...]:
    """What the patterns find, one finding per type and line, in the order of lines; nothing when the query cannot be parsed."""
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
        # A bare name may belong to the subquery's own table: only a qualified one proves that the outer row is used.
        scopes = [scope.expression for scope in traverse_scope(tree) if any(column.table for column in scope.external_columns)]
    except SqlglotError:
        return ()
    found = {Finding(_line(node), IssueType.CORRELATED_SUBQUERY, Severity.HIGH) for node in scopes}
    for node in tree.walk():
        found.update(Finding(_line(where), kind, severity) for kind, where, severity in _node_issues(node))
    found.update(_repeated_subqueries(tree))
    return tuple(sorted(found))


def _node_issues(node: exp.Expr) -> Iterator[tuple[IssueType, exp.Expr, Severity]]:
    if isinstance(node, exp.Star) and isinstance(node.parent, (exp.Select, exp.Column)) and node.find_ancestor(exp.Subquery, exp.CTE):
        yield IssueType.SELECT_STAR, node, Severity.LOW
    if isinstance(node, (exp.Like, exp.ILike)) and node.expression.is_string and node.expression.name.startswith("%"):
        yield IssueType.LEADING_WILDCARD, node, Severity.MEDIUM
    if isinstance(node, exp.RegexpLike):
        yield IssueType.REGEX_FOR_SIMPLE_MATCH, node, Severity.MEDIUM
    if isinstance(node, exp.Join):
        yield from _join_issues(node)
    if isinstance(node, exp.Predicate) and node.find_ancestor(exp.Where):
        yield from _predicate_issues(node)
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        yield IssueType.UNION_INSTEAD_OF_UNION_ALL, node.expression, Severity.MEDIUM
    if isinstance(node, exp.Order) and isinstance(node.parent, exp.Select) and _is_inner_without_limit(node.parent):
        yield IssueType.UNNECESSARY_SORT, node, Severity.LOW


def _join_issues(join: exp.Join) -> Iterator[tuple[IssueType, exp.Expr, Severity]]:
    condition = join.args.get("on")
    if join.kind == "CROSS":
        yield IssueType.CROSS_JOIN, join, Severity.HIGH
    elif condition is None and not join.args.get("using") and not join.kind and not join.method and not join.side:
        yield IssueType.IMPLICIT_JOIN, join, Severity.LOW
    if condition is not None:
        if condition.find(exp.Or):
            yield IssueType.OR_IN_JOIN, condition, Severity.CRITICAL
        for cast in condition.find_all(exp.Cast):
            if isinstance(cast.this, exp.Column):
                yield IssueType.IMPLICIT_CAST, cast, Severity.MEDIUM
                break


def _predicate_issues(predicate: exp.Expr) -> Iterator[tuple[IssueType, exp.Expr, Severity]]:
    left = predicate.this
    if isinstance(left, exp.Cast) and isinstance(left.this, exp.Column):
        yield IssueType.NON_SARGABLE_PREDICATE, left, Severity.MEDIUM
    elif isinstance(left, exp.Func) and not isinstance(left, (exp.AggFunc, exp.Cast)) and left.find(exp.Column):
        yield IssueType.FUNCTION_ON_COLUMN, left, Severity.MEDIUM


def _is_inner_without_limit(select: exp.Select) -> bool:
    return isinstance(select.parent, (exp.Subquery, exp.CTE)) and not select.args.get("limit")


def _repeated_subqueries(tree: exp.Expr) -> Iterator[Finding]:
    seen: set[str] = set()
    for subquery in sorted(tree.find_all(exp.Subquery), key=_line):
        text = subquery.this.sql()
        if text in seen:
            yield Finding(_line(subquery), IssueType.REPEATED_SUBQUERY, Severity.HIGH)
        seen.add(text)


def _line(node: exp.Expr) -> int:
    """The first line of the query that a node's own tokens stand on; 1 when none is known."""
    return min((int(part.meta["line"]) for part in node.walk() if "line" in part.meta), default=1)
