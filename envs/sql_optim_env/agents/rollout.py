"""One episode, told step by step."""

from __future__ import annotations

from typing import Any

from sql_optim_env.agents.player import Player, Session, for_seed
from sql_optim_env.agents.transcript import Transcript
from sql_optim_env.models import SQLOptimAction

__all__ = ["rollout"]


def rollout(
    session: Session,
    player: Player,
    transcript: Transcript,
    *,
    task_id: str,
    seed: int | None = None,
    max_steps: int | None = None,
    repeats: bool = False,
) -> None:
    """Play an episode to its end, at most ``max_steps`` actions, and tell the transcript of every step.

    A player that would hand in the same answer again is stopped unless ``repeats``: of a fixed player nothing else is to be expected.
    """
    arguments: dict[str, Any] = {"task_id": task_id} if seed is None else {"task_id": task_id, "seed": seed}
    player = for_seed(player, seed)
    turn = session.reset(**arguments)
    last: SQLOptimAction | None = None
    steps = 0
    while not turn.done and (max_steps is None or steps < max_steps):
        action = player.act(turn.observation)
        if action == last and not repeats:
            break
        turn, last = session.step(action), action
        steps += 1
        transcript.step(action, turn.observation, turn.reward, turn.done)
    transcript.complete()
