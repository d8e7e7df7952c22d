from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from sql_optim_env.agents.fixed import EchoPlayer, NullPlayer
from sql_optim_env.agents.player import EpisodeResult, LocalSession, LocalTurn, play
from sql_optim_env.errors import EpisodeStateError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation


@dataclass
class Scripted:
    """Plays a list of queries, then repeats the last."""

    queries: list[str]
    name: str = "scripted"
    turn: int = field(default=-1)

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        self.turn = min(self.turn + 1, len(self.queries) - 1)
        return SQLOptimAction(optimized_query=self.queries[self.turn], approved=False)


def test_the_result_shows_the_best_submission(session: LocalSession) -> None:
    result = play(session, Scripted(["SELECT 1", "REFERENCE", "HALF"]), task_id="task_sample")
    assert result == EpisodeResult(
        family="rewrite",
        task_id="task_sample",
        player="scripted",
        score=0.63,
        rewards=(0.0, 0.63, 0.0),
        steps=3,
        cost_before=1_000,
        cost_after=100,
        ms_before=10.0,
        ms_after=1.0,
    )
    assert result.reward == 0.63


def test_a_player_that_repeats_itself_is_stopped(session: LocalSession) -> None:
    assert play(session, NullPlayer(), task_id="task_sample").steps == 1


def test_an_episode_in_which_nothing_ran_has_no_costs(session: LocalSession) -> None:
    result = play(session, NullPlayer(), task_id="task_sample")
    assert (result.cost_before, result.cost_after, result.ms_before, result.ms_after) == (None, None, None, None)


def test_the_episode_ends_the_play(session: LocalSession) -> None:
    result = play(session, Scripted([f"SELECT {n}" for n in range(9)]), task_id="task_sample")
    assert result.steps == 3


def test_the_seed_is_passed_on_only_when_given() -> None:
    asked: list[dict[str, Any]] = []

    class Recorder:
        def reset(self, **kwargs: Any) -> LocalTurn:
            asked.append(kwargs)
            return LocalTurn(SQLOptimObservation(), None, True)

        def step(self, action: SQLOptimAction) -> LocalTurn:
            raise AssertionError("the episode had ended")

    play(Recorder(), EchoPlayer(), task_id="t")
    play(Recorder(), EchoPlayer(), task_id="t", seed=0)
    assert asked == [{"task_id": "t"}, {"task_id": "t", "seed": 0}]


def test_a_local_session_refuses_a_step_before_reset(session: LocalSession) -> None:
    with pytest.raises(EpisodeStateError, match="step before reset"):
        session.step(SQLOptimAction())
