from __future__ import annotations

from typing import Any

import pytest

from sql_optim_env.agents.fixed import NullPlayer
from sql_optim_env.agents.player import LocalSession, LocalTurn, Player
from sql_optim_env.agents.rollout import rollout
from sql_optim_env.agents.transcript import Transcript
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation


class Playing:
    """Plays the queries of a list, then the last again and again."""

    name = "playing"

    def __init__(self, *queries: str) -> None:
        self.queries = list(queries)

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        sql = self.queries.pop(0) if len(self.queries) > 1 else self.queries[0]
        return SQLOptimAction(optimized_query=sql, approved=False)


def told(session: Any, player: Player, **options: Any) -> list[str]:
    lines: list[str] = []
    transcript = Transcript(lines.append, task="task_sample", model=player.name)
    transcript.start()
    try:
        rollout(session, player, transcript, task_id="task_sample", **options)
    finally:
        transcript.end()
    return lines


def test_every_step_is_told_as_it_is_played(session: LocalSession) -> None:
    lines = told(session, Playing("SELECT 1", "HALF", "REFERENCE"))
    assert lines[1] == "[STEP] step=1 action=submit:SELECT 1 reward=0.00 done=false error=null"
    assert [line.split(" done=")[1] for line in lines[1:-1]] == ["false error=null", "false error=null", "true error=null"]
    assert lines[-1].startswith("[END] success=")
    assert lines[-1].split(" steps=")[1].startswith("3 ")


def test_a_player_that_repeats_itself_is_stopped_unless_it_may(session: LocalSession) -> None:
    assert len(told(session, NullPlayer())) == 3
    assert len(told(session, NullPlayer(), repeats=True)) == 5


def test_no_more_than_so_many_actions_are_played(session: LocalSession) -> None:
    assert len(told(session, Playing("SELECT 1", "SELECT 2", "SELECT 3"), max_steps=2)) == 4


def test_an_episode_that_is_broken_off_is_no_success() -> None:
    class Breaking:
        def reset(self, **_: Any) -> LocalTurn:
            return LocalTurn(SQLOptimObservation(), None, False)

        def step(self, action: SQLOptimAction) -> LocalTurn:
            if action.optimized_query == "two":
                raise ConnectionError("gone")
            return LocalTurn(SQLOptimObservation(best_score=1.0), 1.0, False)

    lines: list[str] = []
    transcript = Transcript(lines.append, task="t", model="m")
    transcript.start()
    with pytest.raises(ConnectionError):
        rollout(Breaking(), Playing("one", "two"), transcript, task_id="t")
    transcript.end()
    assert lines[-1] == "[END] success=false steps=1 score=1.000 rewards=1.00"


def test_the_seed_reaches_the_reset_and_the_player_that_has_to_know_it() -> None:
    asked: list[dict[str, Any]] = []
    seeds: list[int | None] = []

    class Recorder:
        def reset(self, **arguments: Any) -> LocalTurn:
            asked.append(arguments)
            return LocalTurn(SQLOptimObservation(), None, True)

        def step(self, action: SQLOptimAction) -> LocalTurn:
            raise AssertionError("the episode had ended")

    class Knowing(Playing):
        def seeded(self, seed: int | None) -> Player:
            seeds.append(seed)
            return self

    told(Recorder(), Knowing("x"), seed=7)
    told(Recorder(), Knowing("x"))
    assert asked == [{"task_id": "task_sample", "seed": 7}, {"task_id": "task_sample"}]
    assert seeds == [7, None]
