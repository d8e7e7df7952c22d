"""Recorded episodes: what was sent and what came back, and playing it again to see whether the same comes back.

Figures that come from a clock are marked by their names (``*_ms``) and left out: everything else must be the same, to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sql_optim_env.agents.player import Session, Turn
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation

__all__ = ["Mismatch", "Recorder", "Recording", "mismatches", "replay", "timeless"]


@dataclass(frozen=True, slots=True)
class Recording:
    """One episode: the arguments of its reset, its actions, and what each of them (the reset first) was answered with."""

    reset: dict[str, Any]
    actions: tuple[dict[str, Any], ...]
    answers: tuple[dict[str, Any], ...]
    """``{observation, reward, done}`` without clock figures; one more than actions."""

    def to_json(self) -> str:
        """The recording as a JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Recording:
        """The recording that :meth:`to_json` wrote. Raises InvalidArgumentError for anything else."""
        try:
            found = json.loads(text)
            made = cls(dict(found["reset"]), tuple(found["actions"]), tuple(found["answers"]))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidArgumentError(f"this is not a recorded episode: {type(error).__name__}: {error}") from None
        if len(made.answers) != len(made.actions) + 1:
            raise InvalidArgumentError(
                f"a recorded episode has one answer more than actions, not {len(made.answers)} to {len(made.actions)}"
            )
        return made


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A field that came back different. ``step`` 0 is the reset."""

    step: int
    field: str
    recorded: Any
    replayed: Any


class Recorder:
    """A session that remembers its last episode while another one plays it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._reset: dict[str, Any] = {}
        self._actions: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []

    def reset(self, **kwargs: Any) -> Turn:
        """Start an episode, and the recording anew. Without a seed the task and its data are chosen by chance: then name the task."""
        turn = self._session.reset(**kwargs)
        self._reset, self._actions, self._answers = kwargs, [], [_answer(turn)]
        return turn

    def step(self, action: SQLOptimAction) -> Turn:
        """Play one action."""
        turn = self._session.step(action)
        self._actions.append(action.model_dump(mode="json", exclude_defaults=True))
        self._answers.append(_answer(turn))
        return turn

    def recording(self) -> Recording:
        """The episode so far."""
        return Recording(dict(self._reset), tuple(self._actions), tuple(self._answers))


def replay(session: Session, recording: Recording) -> tuple[Mismatch, ...]:
    """Play a recorded episode again and return what came back different: nothing, for the same versions of engine, data and weights."""
    turns = [session.reset(**recording.reset), *(session.step(SQLOptimAction(**action)) for action in recording.actions)]
    return mismatches(recording.answers, [_answer(turn) for turn in turns])


def mismatches(recorded: Sequence[Mapping[str, Any]], replayed: Sequence[Mapping[str, Any]]) -> tuple[Mismatch, ...]:
    """Where the answers of two plays of one episode differ."""
    return tuple(
        Mismatch(step, field, was.get(field), now.get(field))
        for step, (was, now) in enumerate(zip(map(_flat, recorded), map(_flat, replayed), strict=True))
        for field in sorted(was.keys() | now.keys())
        if was.get(field) != now.get(field)
    )


def timeless(observation: SQLOptimObservation) -> dict[str, Any]:
    """The observation as JSON values, without the figures that come from a clock."""
    found: dict[str, Any] = _without_clock(observation.model_dump(mode="json"))
    return found


def _answer(turn: Turn) -> dict[str, Any]:
    return {"observation": timeless(turn.observation), "reward": turn.reward, "done": turn.done}


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clock(item) for key, item in value.items() if not key.endswith("_ms")}
    return [_without_clock(item) for item in value] if isinstance(value, list) else value


def _flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {**answer["observation"], "reward": answer["reward"], "done": answer["done"]}
