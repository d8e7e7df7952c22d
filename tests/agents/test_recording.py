from __future__ import annotations

import json
from typing import Any

import pytest

from sql_optim_env.agents.player import LocalTurn
from sql_optim_env.agents.recording import Mismatch, Recorder, Recording, replay, timeless
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.models import ExecutionInfo, SQLOptimAction, SQLOptimObservation


class Clockwork:
    """A session whose scores are fixed and whose times never are."""

    def __init__(self, score: float = 0.5) -> None:
        self.score = score
        self.ticks = 0.0

    def reset(self, **kwargs: Any) -> LocalTurn:
        return LocalTurn(SQLOptimObservation(task_id=str(kwargs["task_id"])), None, False)

    def step(self, action: SQLOptimAction) -> LocalTurn:
        self.ticks += 1.0
        execution = ExecutionInfo(submitted_cost=7, wall_ms=self.ticks)
        metadata = {"execution": execution.model_dump()}
        observation = SQLOptimObservation(feedback=action.summary, score=self.score, last_execution=execution, metadata=metadata)
        return LocalTurn(observation, self.score, True)


def recorded() -> Recording:
    recorder = Recorder(Clockwork())
    recorder.reset(task_id="a task", seed=3)
    recorder.step(SQLOptimAction(summary="first"))
    return recorder.recording()


def test_a_recording_holds_what_was_sent_and_what_came_back_without_the_clock() -> None:
    recording = recorded()
    assert recording.reset == {"task_id": "a task", "seed": 3}
    assert recording.actions == ({"summary": "first"},)
    assert [answer["reward"] for answer in recording.answers] == [None, 0.5]
    assert recording.answers[1]["observation"]["last_execution"]["submitted_cost"] == 7
    assert "wall_ms" not in json.dumps(recording.answers)


def test_a_recording_survives_its_file() -> None:
    recording = recorded()
    assert Recording.from_json(recording.to_json()) == recording


def test_the_same_world_replays_without_a_mismatch() -> None:
    session = Clockwork()
    session.ticks = 40.0
    assert replay(session, recorded()) == ()


def test_another_world_is_told_by_step_and_field() -> None:
    assert replay(Clockwork(score=0.25), recorded()) == (Mismatch(1, "reward", 0.5, 0.25), Mismatch(1, "score", 0.5, 0.25))


def test_a_new_reset_begins_a_new_recording() -> None:
    recorder = Recorder(Clockwork())
    for name in ("one", "two"):
        recorder.reset(task_id=name)
        recorder.step(SQLOptimAction())
    assert recorder.recording().reset == {"task_id": "two"}
    assert len(recorder.recording().actions) == 1


def test_timeless_keeps_all_but_times() -> None:
    shown = timeless(SQLOptimObservation(last_execution=ExecutionInfo(original_ms=1.0, submitted_cost=3)))
    assert shown["last_execution"]["submitted_cost"] == 3
    assert "original_ms" not in shown["last_execution"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"reset": {}, "actions": [{}], "answers": [{}]}', '{"reset": 1, "actions": [], "answers": []}']
)
def test_what_is_not_a_recording_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="a recorded episode"):
        Recording.from_json(text)
