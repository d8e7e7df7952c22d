"""What every built-in rewrite task must be, as far as its texts tell; what only an engine can tell is in tests/cli/test_check.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sql_optim_env.cli.check_rewrite import load_careless
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType

TASKS = catalogue().select(family="rewrite")
HEADROOM = [task for task in TASKS if not task.rewrite.optimal]
OPTIMAL = [task for task in TASKS if task.rewrite.optimal]
WRONG = Path(__file__).parent / "wrong"

CHARGED = {
    "task_1_basic_antipatterns": {
        (IssueType.COUNT_DISTINCT_MISUSE, 3): "COUNT(DISTINCT e.id)",
        (IssueType.SELECT_STAR, 6): "SELECT *",
        (IssueType.FUNCTION_ON_COLUMN, 8): "strftime(occurred_at",
        (IssueType.REGEX_FOR_SIMPLE_MATCH, 9): "regexp_matches(",
        (IssueType.IMPLICIT_CAST, 12): "CAST(e.user_id AS VARCHAR)",
    },
    "task_2_correlated_subqueries": {
        (IssueType.COUNT_DISTINCT_MISUSE, 3): "COUNT(DISTINCT r.id)",
        (IssueType.CORRELATED_SUBQUERY, 10): "u.id = o.customer_id",
        (IssueType.CORRELATED_SUBQUERY, 11): "(SELECT COUNT(*)",
        (IssueType.CORRELATED_SUBQUERY, 16): "EXISTS (SELECT 1",
    },
    "task_3_wildcard_scan": {
        (IssueType.LEADING_WILDCARD, 4): "LIKE '%@web.example/purchase'",
        (IssueType.UNNECESSARY_DISTINCT, 7): "SELECT DISTINCT",
        (IssueType.SELECT_STAR, 7): "e.*, u.*",
        (IssueType.UNNECESSARY_SORT, 12): "ORDER BY e.occurred_at DESC",
        (IssueType.LATE_FILTER, 15): "HAVING carts > 0",
    },
    "task_4_implicit_join": {
        (IssueType.COUNT_DISTINCT_MISUSE, 3): "COUNT(DISTINCT o.id)",
        (IssueType.REPEATED_SUBQUERY, 6): "(SELECT AVG(total)",
        (IssueType.IMPLICIT_JOIN, 9): "FROM users AS u, orders AS o, events AS e",
        (IssueType.JOIN_FANOUT, 9): "orders AS o, events AS e",
    },
    "task_5_window_functions": {
        (IssueType.SELECT_STAR, 4): "o.*",
        (IssueType.WINDOW_INSTEAD_OF_AGGREGATE, 5): "COUNT(*) OVER",
        (IssueType.REDUNDANT_WINDOW, 8): "LAST_VALUE(total) OVER",
        (IssueType.IMPLICIT_CAST, 12): "CAST(customer_id AS VARCHAR)",
    },
}


def _id(task: Task) -> str:
    return task.id


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())


@pytest.mark.parametrize("task", HEADROOM, ids=_id)
def test_every_issue_stands_on_the_line_it_is_charged_with(task: Task) -> None:
    lines = task.sql.splitlines()
    found = {(issue.issue_type, issue.line): lines[issue.line - 1] for issue in task.rewrite.issues}
    assert found.keys() == CHARGED[task.id].keys()
    for key, text in CHARGED[task.id].items():
        assert text in found[key]


@pytest.mark.parametrize("task", HEADROOM, ids=_id)
def test_a_task_with_headroom_has_three_to_five_issues_and_one_that_dominates(task: Task) -> None:
    assert 3 <= len(task.rewrite.issues) <= 5
    assert [issue.severity.value for issue in task.rewrite.issues].count("critical") == 1


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_budgets_are_as_published(task: Task) -> None:
    assert task.max_steps in (3, 4, 5)
    assert task.max_explorations == 8
    assert (task.dataset, task.dialect) == ("shop", "duckdb")


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_there_are_enough_right_and_careless_answers(task: Task) -> None:
    assert len(task.rewrite.equivalents) >= (10 if task.rewrite.optimal else 6)
    assert len({_squeezed(sql) for sql in (task.sql, task.rewrite.reference_sql, *task.rewrite.equivalents)}) == len(
        task.rewrite.equivalents
    ) + (1 if task.rewrite.optimal else 2)
    assert len(load_careless(WRONG, task.id)) >= 8


@pytest.mark.parametrize("task", TASKS, ids=_id)
def test_no_text_that_is_shown_names_an_issue_or_a_technique(task: Task) -> None:
    shown = f"{task.name} {task.description}".lower()
    for issue_type in IssueType:
        assert issue_type.value.replace("_", " ") not in shown
    techniques = (
        "optimal rewrite anti-?pattern subquer(y|ies) window rank join distinct index cast regex wildcard select group.by union cte scan"
    )
    technique = rf"\b({techniques.replace(' ', '|')})\b"
    assert re.search(technique, shown) is None


@pytest.mark.parametrize("task", HEADROOM, ids=_id)
def test_no_line_of_the_reference_is_in_a_text_that_is_shown(task: Task) -> None:
    shown = _squeezed(f"{task.name} {task.description}")
    assert [line for line in map(_squeezed, task.rewrite.reference_sql.splitlines()) if len(line) > 12 and line in shown] == []


@pytest.mark.parametrize("task", OPTIMAL, ids=_id)
def test_an_optimal_query_looks_suspicious_and_its_id_does_not_tell(task: Task) -> None:
    assert "SELECT *" in task.sql
    assert "date_trunc(" in task.sql
    assert "LIKE '" in task.sql
    assert not re.search("optimal|approve|clean|fine|good|already", task.id + task.name)
    assert task.rewrite.reference_sql == task.sql


def test_neither_difficulty_nor_budget_gives_an_optimal_query_away() -> None:
    for task in OPTIMAL:
        assert any(other.difficulty == task.difficulty for other in HEADROOM)
        assert any(other.max_steps == task.max_steps for other in HEADROOM)


def test_a_grader_is_not_in_the_repr_of_its_task() -> None:
    assert all("reference_sql" not in repr(task) and "grader" not in repr(task) for task in TASKS)
