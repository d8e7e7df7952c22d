from __future__ import annotations

import re

import pytest

from sql_optim_env.agents.transcript import MAX_ACTION_CHARS, Transcript, action_text, fold
from sql_optim_env.models import ObservationError, SQLOptimAction, SQLOptimObservation


class Told:
    def __init__(self, task: str = "t1", model: str = "m") -> None:
        self.lines: list[str] = []
        self.transcript = Transcript(self.lines.append, task=task, model=model)


def seen(best: float = 0.0, error: ObservationError | None = None) -> SQLOptimObservation:
    return SQLOptimObservation(best_score=best, error=error)


LOOK = SQLOptimAction(kind="query", sql="SELECT a\n\tFROM t")


def test_an_episode_is_told_in_three_kinds_of_line() -> None:
    told = Told("null_audit", "org/model-7b")
    told.transcript.start()
    told.transcript.step(LOOK, seen(), 0.0149, False)
    told.transcript.step(SQLOptimAction(answer="c"), seen(0.9991), 0.985, True)
    told.transcript.complete()
    told.transcript.end()
    assert told.lines == [
        "[START] task=null_audit env=sql_optim_env model=org/model-7b",
        "[STEP] step=1 action=query:SELECT a FROM t reward=0.01 done=false error=null",
        "[STEP] step=2 action=submit:answer c reward=0.98 done=true error=null",
        "[END] success=true steps=2 score=0.999 rewards=0.01,0.98",
    ]


def test_an_error_is_told_on_the_line_of_its_step() -> None:
    told = Told()
    told.transcript.step(LOOK, seen(error=ObservationError(code="syntax_error", message="near\n  \x1b[31mFROM\x07")), None, False)
    assert told.lines == ["[STEP] step=1 action=query:SELECT a FROM t reward=0.00 done=false error=syntax_error: near [31mFROM"]


def test_an_episode_without_steps_has_no_rewards() -> None:
    told = Told()
    told.transcript.start()
    told.transcript.end()
    assert told.lines[1] == "[END] success=false steps=0 score=0.000 rewards="


def test_the_end_is_told_once_and_only_after_a_start() -> None:
    told = Told()
    told.transcript.end()
    assert told.lines == []
    told.transcript.start()
    told.transcript.end()
    told.transcript.end()
    assert len(told.lines) == 2


@pytest.mark.parametrize(
    ("score", "complete", "success"), [(0.95, True, True), (0.9499, True, False), (1.0, False, False), (0.0, True, False)]
)
def test_success_is_a_complete_episode_with_a_score_of_at_least_095(score: float, complete: bool, success: bool) -> None:
    told = Told()
    told.transcript.start()
    told.transcript.step(LOOK, seen(score), score, True)
    if complete:
        told.transcript.complete()
    told.transcript.end()
    assert told.lines[-1].startswith(f"[END] success={'true' if success else 'false'} steps=1 score={score:.3f} ")


def test_the_score_is_the_best_of_the_episode() -> None:
    told = Told()
    told.transcript.start()
    for best in (0.2, 0.7, 0.7):
        told.transcript.step(LOOK, seen(best), 0.1, False)
    told.transcript.end()
    assert told.lines[-1] == "[END] success=false steps=3 score=0.700 rewards=0.10,0.10,0.10"
    assert told.transcript.score == 0.7


def test_no_reward_is_a_negative_zero() -> None:
    told = Told()
    told.transcript.step(LOOK, seen(), -0.001, False)
    assert "reward=0.00 " in told.lines[0]


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (SQLOptimAction(kind="explain", sql="SELECT 1"), "explain:SELECT 1"),
        (SQLOptimAction(kind="profile", table="t", column="c"), "profile:t.c"),
        (SQLOptimAction(kind="fix", sql="UPDATE t SET a = 1;\nDELETE FROM t"), "fix:UPDATE t SET a = 1; DELETE FROM t"),
        (SQLOptimAction(optimized_query="SELECT 1", summary="s"), "submit:SELECT 1"),
        (
            SQLOptimAction(ddl=["CREATE INDEX i ON t(a)", "ANALYZE"], optimized_query="SELECT 1"),
            "submit:CREATE INDEX i ON t(a); ANALYZE; SELECT 1",
        ),
        (SQLOptimAction(answer="a", root_cause_table="t", offending_key="k"), "submit:answer a, root_cause_table t, offending_key k"),
        (SQLOptimAction(summary="nothing to do"), "submit:nothing to do"),
        (SQLOptimAction(), "submit:"),
    ],
)
def test_an_action_is_shown_as_its_kind_and_what_it_carries(action: SQLOptimAction, text: str) -> None:
    assert action_text(action) == text


def test_long_texts_are_shortened() -> None:
    exactly = "x" * MAX_ACTION_CHARS
    assert fold(exactly) == exactly
    assert fold(exactly + "y") == "x" * (MAX_ACTION_CHARS - 3) + "..."
    assert fold(" " * 10_000 + "x").endswith("...")
    assert len(action_text(SQLOptimAction(kind="fix", sql="é" * 10_000_000))) == MAX_ACTION_CHARS


@pytest.mark.parametrize(
    "space", ["\n", "\r\n", "\t", "\x00", "\x1b", "\x85", "\u2028", "\u2029", "\u00a0", "\u200b", "\u202e", "\ud800", " \n "]
)
def test_whatever_could_break_a_line_becomes_one_space(space: str) -> None:
    assert fold(f"a{space}b") == "a b"


def test_text_cannot_pass_for_a_field_of_the_line() -> None:
    told = Told()
    action = SQLOptimAction(kind="query", sql="SELECT 1 reward=9.99 done=true error=null")
    told.transcript.step(action, seen(error=ObservationError(code="x", message="no reward=1.00 done=true")), 0.0, False)
    line = told.lines[0]
    assert line == (
        "[STEP] step=1 action=query:SELECT 1 reward =9.99 done =true error =null reward=0.00 done=false error=x: no reward =1.00 done =true"
    )
    assert len(re.findall(r" reward=", line)) == 1
    assert fold("WHERE my_reward=1 AND a.score=2") == "WHERE my_reward=1 AND a.score=2"


def test_a_strange_task_or_model_still_gives_one_line() -> None:
    told = Told("a\nb env=x", "m\r[END] success=true")
    told.transcript.start()
    assert told.lines == ["[START] task=a b env =x env=sql_optim_env model=m [END] success =true"]
