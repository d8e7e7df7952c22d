"""What a player is, and how one plays an episode: over a client's session, or in this process without a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sql_optim_env.errors import EpisodeStateError
from sql_optim_env.families.base import Episode
from sql_optim_env.models import ExecutionInfo, SQLOptimAction, SQLOptimObservation

__all__ = ["EpisodeResult", "LocalSession", "LocalTurn", "Player", "SeededPlayer", "Session", "Turn", "for_seed", "play"]


class Player(Protocol):
    """An agent that answers an observation with an action. It keeps no state between episodes."""

    @property
    def name(self) -> str:
        """The player's name in tables and reports."""

    def act(self, observation: SQLOptimObservation) -> SQLOptimAction:
        """The next action."""


@runtime_checkable
class SeededPlayer(Protocol):
    """A player that has to know the seed of the reset, since the problem is drawn from it and the observation does not tell."""

    def seeded(self, seed: int | None) -> Player:
        """The player of an episode that is reset with ``seed``."""


def for_seed(player: Player, seed: int | None) -> Player:
    """``player``, told the seed of the reset where it has to know it; for those who loop over an episode without :func:`play`."""
    return player.seeded(seed) if isinstance(player, SeededPlayer) else player


class Turn(Protocol):
    """What a session answers: OpenEnv's ``StepResult``, or a :class:`LocalTurn`."""

    @property
    def observation(self) -> SQLOptimObservation:
        """What the agent sees."""

    @property
    def reward(self) -> Any:
        """What was paid; None after reset."""

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""


class Session(Protocol):
    """One session with an environment: the typed client's ``.sync()`` face, or a :class:`LocalSession`."""

    def reset(self, **kwargs: Any) -> Turn:
        """Start an episode."""

    def step(self, action: SQLOptimAction) -> Turn:
        """Play one action."""


@dataclass(frozen=True, slots=True)
class LocalTurn:
    """A session's answer in this process."""

    observation: SQLOptimObservation
    reward: float | None
    done: bool


class LocalSession:
    """A session in this process: ``start`` makes an episode from the arguments of ``reset``."""

    def __init__(self, start: Callable[..., Episode]) -> None:
        self._start = start
        self._episode: Episode | None = None

    def reset(self, **kwargs: Any) -> LocalTurn:
        """Start an episode."""
        self._episode = self._start(**kwargs)
        return LocalTurn(self._episode.opening(), None, False)

    def step(self, action: SQLOptimAction) -> LocalTurn:
        """Play one action. Raises ``EpisodeStateError`` before the first reset."""
        if self._episode is None:
            raise EpisodeStateError("step before reset")
        outcome = self._episode.handle(action)
        return LocalTurn(outcome.observation, outcome.reward, outcome.done)


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode went. Costs and clock times are those of the best-scoring submission on the public instance, None when none ran."""

    family: str
    task_id: str
    player: str
    score: float
    """The best score of the episode."""
    rewards: tuple[float, ...]
    steps: int
    cost_before: int | None
    cost_after: int | None
    ms_before: float | None
    """Clock: CPU milliseconds."""
    ms_after: float | None
    """Clock: CPU milliseconds."""

    @property
    def reward(self) -> float:
        """What the whole episode paid."""
        return round(sum(self.rewards), 6)


def play(session: Session, player: Player, *, task_id: str, seed: int | None = None) -> EpisodeResult:
    """Play one episode of a task to its end, or until the player would repeat itself: the same answer earns nothing twice."""
    arguments: dict[str, Any] = {"task_id": task_id} if seed is None else {"task_id": task_id, "seed": seed}
    player = for_seed(player, seed)
    turn = session.reset(**arguments)
    rewards: list[float] = []
    last: SQLOptimAction | None = None
    best: ExecutionInfo | None = None
    best_score = -1.0
    while not turn.done:
        action = player.act(turn.observation)
        if action == last:
            break
        turn, last = session.step(action), action
        rewards.append(float(turn.reward or 0.0))
        score = turn.observation.score
        if score is not None and score > best_score:
            best, best_score = turn.observation.last_execution, score
    return EpisodeResult(
        family=turn.observation.family,
        task_id=task_id,
        player=player.name,
        score=turn.observation.best_score,
        rewards=tuple(rewards),
        steps=len(rewards),
        cost_before=best.original_cost if best else None,
        cost_after=best.submitted_cost if best else None,
        ms_before=best.original_ms if best else None,
        ms_after=best.submitted_ms if best else None,
    )
