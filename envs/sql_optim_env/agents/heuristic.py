"""A player without a model: sqlglot's rewriting rules, and a review from patterns in the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer import optimize

from sql_optim_env.agents.audit_heuristic import audit_action
from sql_optim_env.agents.patterns import Finding, find_issues
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, Suggestion

__all__ = ["HeuristicPlayer"]


@dataclass(frozen=True, slots=True)
class HeuristicPlayer:
    """Rewrites with sqlglot's optimizer and lists what its patterns find; approves a query in which they find nothing.

    When its rewrite failed or gave another result, it hands in the original with the review.
    """

    name: str = "heuristic"

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The rewrite first, the safe answer after a failure; in ``audit`` what two rules of thumb say."""
        if observation.family == "audit":
            return audit_action(observation)
        findings = find_issues(observation.sql_query, observation.dialect)
        execution = observation.last_execution
        failed = observation.error is not None or (execution is not None and execution.equal is False)
        sql = observation.sql_query if failed or not findings else _rewritten(observation)
        return SQLOptimAction(
            optimized_query=sql,
            suggestions=[_suggestion(finding) for finding in findings],
            summary=_summary(findings),
            approved=not findings,
        )


def _rewritten(observation: SQLOptimObservation) -> str:
    """The query after sqlglot's rules, or as it was where sqlglot cannot follow."""
    try:
        schema = _schema(observation.schema_info, observation.dialect)
        tree = optimize(observation.sql_query, schema=schema, dialect=observation.dialect)
        return str(tree.sql(dialect=observation.dialect))
    except SqlglotError:
        return observation.sql_query


def _schema(ddl: str, dialect: str) -> dict[str, object]:
    """Tables, their columns and types, from the DDL that the observation shows."""
    tables: dict[str, object] = {}
    for statement in sqlglot.parse(ddl, dialect=dialect):
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            columns = [column for column in statement.this.expressions if isinstance(column, exp.ColumnDef)]
            tables[statement.this.this.name] = {column.name: column.args["kind"].sql(dialect=dialect) for column in columns}
    return tables


def _suggestion(finding: Finding) -> Suggestion:
    return Suggestion(issue_type=finding.issue_type.value, line=finding.line, severity=finding.severity.value)


def _summary(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return "The query is optimal as it stands."
    words = sorted({finding.issue_type.value.replace("_", " ") for finding in findings})
    return f"Found: {', '.join(words)}."
