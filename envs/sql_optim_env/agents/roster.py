"""The players by name."""

from __future__ import annotations

from collections.abc import Callable

from sql_optim_env.agents.fixed import EchoPlayer, NullPlayer, OraclePlayer, RitualPlayer, StuffingPlayer
from sql_optim_env.agents.heuristic import HeuristicPlayer
from sql_optim_env.agents.player import Player
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.tasks.task import Task

__all__ = ["PLAYER_NAMES", "make_player"]

PLAYER_NAMES: tuple[str, ...] = ("oracle", "null", "echo", "ritual", "stuffing", "heuristic")


def make_player(name: str, lookup: Callable[[str], Task]) -> Player:
    """The player of that name; ``lookup`` gives the oracle its tasks. Raises :class:`InvalidArgumentError` for a name that is not known."""
    players: tuple[Player, ...] = (OraclePlayer(lookup), NullPlayer(), EchoPlayer(), RitualPlayer(), StuffingPlayer(), HeuristicPlayer())
    for player in players:
        if player.name == name:
            return player
    raise InvalidArgumentError(f"unknown player {name!r}; there are: {', '.join(PLAYER_NAMES)}")
