"""Admission: which statements may run at all.

The engine's own parser decides what a text means: ``extract_statements`` says that it is one SELECT, and the tree that
``json_serialize_sql`` makes of it is walked as an allow-list, in which an unknown kind of node, an unknown field, an unlisted function or
an unlisted table is a refusal. (The first alone is not enough: DuckDB 2.0 calls ``WITH d AS (DELETE …) SELECT …`` a SELECT.)

The statement is run as submitted, so nothing here rewrites it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb

from sql_optim_env.engines.duckdb.messages import engine_message
from sql_optim_env.engines.duckdb.tree import TOO_DEEP, TreeWalker, fold
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["MAX_SQL_LENGTH", "AdmissionPolicy", "Statement", "admit", "policy_for"]

MAX_SQL_LENGTH = 20_000
"""Longest statement, in characters: the published limit of the action's SQL fields. Longer texts reach planner blow-ups sooner."""


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """What a task admits beyond the general rules."""

    tables: frozenset[str]
    """Names of the tables that a statement may read, lower case."""
    allow_recursion: bool = False
    """Whether WITH RECURSIVE is admitted: only when the task's own query uses it."""
    generator_functions: frozenset[str] = frozenset()
    """Generators (see ``arguments.GENERATORS``) that are admitted with any arguments, since the task's own query uses them so."""
    max_length: int = MAX_SQL_LENGTH
    """Longest statement in characters."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An admitted statement: exactly one SELECT, to be run as it stands. It belongs to no connection and may run on any instance."""

    sql: str


def _syntax_error(error: BaseException) -> AgentError:
    if "Max expression depth" in str(error):
        return AgentError(ErrorCode.REFUSED_SYNTAX, TOO_DEEP)
    return AgentError(ErrorCode.SYNTAX_ERROR, engine_message(error) or "the engine's parser cannot read this text")


def _parse(con: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The engine's parse tree of ``sql`` if it is exactly one SELECT; raises AgentError otherwise."""
    if "\x00" in sql:
        raise AgentError(ErrorCode.SYNTAX_ERROR, "the text holds a NUL character; send plain SQL text")
    try:
        statements = con.extract_statements(sql)
        kinds = [statement.type for statement in statements]
    except Exception as error:
        # Whatever the parser trips over is the text's fault: there is nothing else it could have read.
        raise _syntax_error(error) from error
    if not kinds:
        raise AgentError(ErrorCode.EMPTY_SQL, "there is no statement in this text; send one SELECT")
    if len(kinds) > 1:
        raise AgentError(ErrorCode.NOT_ONE_SELECT, f"this text holds {len(kinds)} statements; send exactly one SELECT")
    if kinds[0] != duckdb.StatementType.SELECT:
        found = str(kinds[0]).rpartition(".")[2].lower()
        raise AgentError(ErrorCode.NOT_ONE_SELECT, f"this is not a SELECT (the engine reads it as {found}); only one SELECT is admitted")
    try:
        text = con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0]
        tree = json.loads(text)
    except RecursionError:
        raise AgentError(ErrorCode.REFUSED_SYNTAX, TOO_DEEP) from None
    except Exception as error:
        raise _syntax_error(error) from error
    if tree.get("error") is not False:
        if tree.get("error_type") == "not implemented":
            raise AgentError(
                ErrorCode.NOT_ONE_SELECT, "only a plain SELECT is admitted (no PIVOT statement, no EXPLAIN, no mixed parameters)"
            )
        raise _syntax_error(ValueError(tree.get("error_message", "")))
    if set(tree) != {"error", "statements"} or len(tree["statements"]) != 1:
        raise AgentError(ErrorCode.NOT_ONE_SELECT, "send exactly one SELECT")
    return tree["statements"][0]


def admit(con: duckdb.DuckDBPyConnection, sql: str, policy: AdmissionPolicy) -> Statement:
    """The statement of ``sql`` if it may run under ``policy``.

    Raises:
        AgentError: EMPTY_SQL, SQL_TOO_LONG, SYNTAX_ERROR, NOT_ONE_SELECT, REFUSED_FUNCTION, REFUSED_TABLE or REFUSED_SYNTAX, with a message
            that says what is admitted.
    """
    if len(sql) > policy.max_length:
        raise AgentError(
            ErrorCode.SQL_TOO_LONG, f"the statement has {len(sql):,} characters; at most {policy.max_length:,} characters are admitted"
        )
    if not sql.strip():
        raise AgentError(ErrorCode.EMPTY_SQL, "there is no statement in this text; send one SELECT")
    tree = _parse(con, sql)
    walker = TreeWalker(
        tables=policy.tables, allow_recursion=policy.allow_recursion, generator_functions=policy.generator_functions, waive=False
    )
    walker.walk(tree)
    return Statement(sql)


@lru_cache(maxsize=1024)
def _policy_for(original_sql: str, tables: frozenset[str]) -> AdmissionPolicy:
    with duckdb.connect(config={"threads": 1, "memory_limit": "64MB"}) as con:
        walker = TreeWalker(tables=tables, allow_recursion=True, generator_functions=frozenset(), waive=True)
        walker.walk(_parse(con, original_sql))
    return AdmissionPolicy(
        tables=tables,
        allow_recursion=walker.found_recursion,
        generator_functions=frozenset(walker.found_generators),
        max_length=MAX_SQL_LENGTH,
    )


def policy_for(original_sql: str, tables: Iterable[str]) -> AdmissionPolicy:
    """The policy of a task: the general rules, and the recursion and generators that the task's own query needs.

    Raises:
        AgentError: the query breaks a rule that no task may break, so the task itself is at fault.
    """
    return _policy_for(original_sql, frozenset(fold(table) for table in tables))
