from __future__ import annotations

from typing import Any

import pytest

from families.fake_tune_runner import FakeTuneRunner
from grading.tune_samples import DDL, make_tune_task
from sql_optim_env.agents.fixed import EchoPlayer, NullPlayer, OraclePlayer, StuffingPlayer
from sql_optim_env.agents.player import LocalSession, Player, play
from sql_optim_env.agents.tune import Experiment, experiments, reference_action
from sql_optim_env.families.tune import TuneEpisode
from sql_optim_env.tasks.task import Task

TASK = make_tune_task()


class Lab:
    """Sessions without a server over the fake runner, which keeps what it was asked."""

    def __init__(self, task: Task = TASK) -> None:
        self.runner = FakeTuneRunner()
        self.session = LocalSession(lambda **options: self.start(task, **options))

    def start(self, task: Task, *, task_id: str, **_: Any) -> TuneEpisode:
        assert task_id == task.id
        return TuneEpisode(task, self.runner, schema_info="")


@pytest.mark.parametrize(
    ("player", "score", "cost_after"),
    [(OraclePlayer(lambda _: TASK), 1.0, 100), (NullPlayer(), 0.0, None), (EchoPlayer(), 0.0, 1_000), (StuffingPlayer(), 0.0, 1_000)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_fixed_players_earn_all_or_nothing_in_one_step(player: Player, score: float, cost_after: int | None) -> None:
    result = play(Lab().session, player, task_id=TASK.id)
    assert (result.family, result.score, result.reward, result.steps, result.cost_after) == ("tune", score, score, 1, cost_after)


def test_the_oracle_hands_in_the_reference_with_its_ddl() -> None:
    action = reference_action(TASK)
    assert (action.kind, action.optimized_query, tuple(action.ddl)) == ("submit", "REFERENCE", DDL)


def test_each_known_submission_is_tried_on_the_copy_and_then_handed_in() -> None:
    lab = Lab()
    assert experiments(lab.session, TASK) == (
        Experiment("original", 777, 1_000, 0.0),
        Experiment("rewrite only", 100, 100, 1.0),
        Experiment("indexes only", 777, 1_000, 0.0),
        Experiment("both", 100, 100, 1.0),
        Experiment("plausible", 316, 316, 0.500313),
    )
    assert [scratch.calls for scratch in lab.runner.scratches[3:]] == [
        [("query", DDL[0]), ("query", "REFERENCE")],
        [("query", "CREATE INDEX parcel_day ON parcel(day)"), ("query", "HALF")],
    ]
    assert lab.runner.graded[2] == (TASK.sql, DDL)


def test_halves_that_are_the_whole_are_not_played_twice() -> None:
    grader = TASK.tune
    without_ddl = make_tune_task(grader=type(grader)("REFERENCE", (), (), (), 1, 1))
    assert [found.name for found in experiments(Lab(without_ddl).session, without_ddl)] == ["original", "both"]


def test_a_statement_that_is_refused_on_the_copy_leaves_no_figure() -> None:
    grader = TASK.tune
    refused = make_tune_task(grader=type(grader)("SLOW", (), (), (), 1, 1))
    assert experiments(Lab(refused).session, refused)[1] == Experiment("both", None, None, 0.0)
