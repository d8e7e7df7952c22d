"""The audit half of ``sql-optim check``: episodes of known worth, played through a real server under several seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sql_optim_env.agents.audit import reference_steps
from sql_optim_env.agents.player import Session, play
from sql_optim_env.agents.recording import Recorder, Recording, replay
from sql_optim_env.agents.roster import make_player
from sql_optim_env.cli.claims import Claim
from sql_optim_env.grading.audit import CATASTROPHE_CAP, LEAST_SCORE, MOST_SCORE
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.task import Task

__all__ = ["SEEDS", "AuditCheck", "check_audit_task"]

SEEDS: Final[tuple[int | None, ...]] = (None, 0, 1, 2, 3, 5, 8, 13, 21, 34)
"""None plays the documented sizes; the others draw names, sizes and data anew."""

_FLOOR: Final = ("null", "echo", "ritual", "stuffing")


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The verdict on one audit task. Scores are those of the worst seed."""

    task_id: str
    claims: tuple[Claim, ...]
    oracle: float
    floor: float
    looks_only: float

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)


def check_audit_task(session: Session, task: Task, lookup: Callable[[str], Task], seeds: Sequence[int | None] = SEEDS) -> AuditCheck:
    """Play a task's known episodes and judge what it claims."""
    recordings = [_recorded(session, task, lookup, seed) for seed in seeds]
    oracle = [sum(answer["reward"] or 0.0 for answer in recording.answers) for recording in recordings]
    again = [seed for seed, recording in zip(seeds, recordings, strict=True) if replay(session, recording)]
    floor = [(play(session, make_player(name, lookup), task_id=task.id, seed=seed).reward, name) for name in _FLOOR for seed in seeds]
    null = {reward for reward, name in floor if name == "null"}
    looks = [_looks_only(session, task, seed) for seed in seeds]
    claims = (
        Claim(f"the oracle earns {MOST_SCORE} under every seed", set(oracle) == {MOST_SCORE}, f"{min(oracle):.3f} to {max(oracle):.3f}"),
        Claim(f"the null player earns {LEAST_SCORE}", null == {LEAST_SCORE}, f"{max(null):.3f}"),
        Claim(
            f"no player of no merit earns more than {CATASTROPHE_CAP}",
            max(floor)[0] <= CATASTROPHE_CAP,
            f"{max(floor)[0]:.3f} ({max(floor)[1]})",
        ),
        Claim(f"looks alone earn no more than {CATASTROPHE_CAP}", max(looks) <= CATASTROPHE_CAP, f"{max(looks):.3f}"),
        Claim("an episode comes back the same", not again, ", ".join(map(str, again)) or "the same"),
        *_about_names(task, seeds),
    )
    return AuditCheck(task.id, claims, min(oracle), max(floor)[0], max(looks))


def _recorded(session: Session, task: Task, lookup: Callable[[str], Task], seed: int | None) -> Recording:
    recorder = Recorder(session)
    play(recorder, make_player("oracle", lookup), task_id=task.id, seed=seed)
    return recorder.recording()


def _looks_only(session: Session, task: Task, seed: int | None) -> float:
    """The oracle's looks, and then nothing is handed in."""
    session.reset(task_id=task.id, seed=seed)
    for action in reference_steps(task, seed)[:2]:
        session.step(action)
    return float(session.step(SQLOptimAction()).reward or 0.0)


def _about_names(task: Task, seeds: Sequence[int | None]) -> Iterator[Claim]:
    scenarios = [scenario_of(task, seed) for seed in seeds]
    defects = {(scenario.defect.table, scenario.defect.columns) for scenario in scenarios}
    yield Claim(
        "the defect has another name under most seeds", len(defects) > len(seeds) // 2, f"{len(defects)} names in {len(seeds)} seeds"
    )
