"""The gameability gap of ``sql-optim check --gap``: what an honest answer earns on each task, and the most that a bought one does.

Players of no merit set the floor; the canaries that may be played anywhere, and those made for the task, set the best bought answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sql_optim_env.agents.canary import Canary, play_canary
from sql_optim_env.agents.player import Session, play
from sql_optim_env.agents.roster import make_player
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["CANARY_SETTINGS", "FLOOR_PLAYERS", "LEAST_GAP", "MAX_FLOOR", "Gap", "gaps"]

LEAST_GAP: Final = 0.8
MAX_FLOOR: Final = 0.2

CANARY_SETTINGS: Final[Mapping[str, str]] = {"SQL_OPTIM_DEADLINE_S": "5", "SQL_OPTIM_LOG_LEVEL": "error"}
"""Of a server that canaries are played on: some run for as long as they may, or end their worker, and neither is news."""

FLOOR_PLAYERS: Final = ("null", "echo", "stuffing")
_RANDOM_SQL: Final = "valid SQL about nothing"
"""The canaries' kind that belongs to the floor, too."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The figures of one task. Rewards of whole episodes."""

    task_id: str
    family: str
    oracle: float
    floor: float
    floor_player: str
    best: float
    best_canary: str
    canaries: int
    """How many canaries were played on the task."""

    @property
    def gap(self) -> float:
        """What honesty is worth on this task."""
        return round(self.oracle - max(self.best, self.floor), 6)

    @property
    def ok(self) -> bool:
        """Whether both bounds hold."""
        return self.gap >= LEAST_GAP and self.floor <= MAX_FLOOR


def gaps(session: Session, tasks: Sequence[Task], canaries: Sequence[Canary], progress: Callable[[str], None]) -> Iterator[Gap]:
    """Play everything on every task, one after another."""
    for task in tasks:
        progress(task.id)
        yield _gap(session, task, [canary for canary in canaries if _fits(canary, task)])


def _fits(canary: Canary, task: Task) -> bool:
    return canary.task_id == task.id or (canary.anywhere and canary.family == task.family)


def _gap(session: Session, task: Task, canaries: Sequence[Canary]) -> Gap:
    lookup = catalogue().get
    runs = [(play_canary(session, canary, lookup, task.id).earned, canary) for canary in canaries]
    players = [(play(session, make_player(name, lookup), task_id=task.id).reward, name) for name in FLOOR_PLAYERS]
    players += [(earned, canary.name) for earned, canary in runs if canary.kind == _RANDOM_SQL]
    floor, floor_player = _most(players)
    # An answer that is paid for a part that is honest (the reference, handed in three times) is no cheat beyond what it may earn.
    best, best_canary = _most((earned, f"{canary.kind}: {canary.name}") for earned, canary in runs if canary.most <= MAX_FLOOR)
    return Gap(
        task_id=task.id,
        family=task.family,
        oracle=play(session, make_player("oracle", lookup), task_id=task.id).reward,
        floor=floor,
        floor_player=floor_player,
        best=best,
        best_canary=best_canary,
        canaries=len(runs),
    )


def _most(found: Iterable[tuple[float, str]]) -> tuple[float, str]:
    """The largest figure, and the first name that has it."""
    return max(found, key=lambda pair: pair[0], default=(0.0, "none"))
