from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.agents.fixed import EchoPlayer, NullPlayer, OraclePlayer, StuffingPlayer
from sql_optim_env.agents.player import LocalSession, play
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType, Severity

SEEN = SQLOptimObservation(task_id="task_sample", sql_query="\n".join(f"line {n}" for n in range(1, 13)))


@pytest.mark.parametrize("task_id", ["task_sample", "task_optimal"])
def test_the_null_player_earns_exactly_nothing(session: LocalSession, task_id: str) -> None:
    result = play(session, NullPlayer(), task_id=task_id)
    assert (result.score, result.rewards) == (0.0, (0.0,))


@pytest.mark.parametrize("task_id", ["task_sample", "task_optimal"])
def test_the_echo_earns_exactly_nothing(session: LocalSession, task_id: str) -> None:
    result = play(session, EchoPlayer(), task_id=task_id)
    assert (result.score, result.cost_before, result.cost_after) == (0.0, 1_000, 1_000)


@pytest.mark.parametrize("line", [None, *range(1, 13)])
@pytest.mark.parametrize("task_id", ["task_sample", "task_optimal"])
def test_the_stuffer_earns_exactly_nothing(session: LocalSession, task_id: str, line: int | None) -> None:
    assert play(session, StuffingPlayer(line), task_id=task_id).score == 0.0


@pytest.mark.parametrize("task_id", ["task_sample", "task_optimal"])
def test_the_oracle_needs_one_step_for_a_score_of_one(session: LocalSession, lookup: Callable[[str], Task], task_id: str) -> None:
    result = play(session, OraclePlayer(lookup), task_id=task_id)
    assert (result.score, result.rewards, result.steps) == (1.0, (1.0,), 1)


def test_the_null_action_sets_no_field() -> None:
    assert NullPlayer().act(SEEN) == SQLOptimAction()


def test_the_echo_returns_the_query_unchanged_and_rejects_it() -> None:
    assert EchoPlayer().act(SEEN) == SQLOptimAction(optimized_query=SEEN.sql_query, approved=False)


def test_the_stuffer_names_every_type_on_its_line_and_in_its_summary() -> None:
    action = StuffingPlayer(line=4, severity=Severity.LOW).act(SEEN)
    assert {(s.issue_type, s.line, s.severity) for s in action.suggestions} == {(kind.value, 4, "low") for kind in IssueType}
    assert all(kind.value in action.summary for kind in IssueType)


def test_the_stuffer_without_a_line_fills_the_list_over_the_query() -> None:
    action = StuffingPlayer().act(SEEN)
    assert len(action.suggestions) == 64
    assert {s.line for s in action.suggestions} == {2, 5, 8}


def test_the_stuffer_finds_a_place_in_a_query_of_one_line() -> None:
    action = StuffingPlayer().act(SQLOptimObservation(sql_query="SELECT 1"))
    assert {s.line for s in action.suggestions} == {1}
