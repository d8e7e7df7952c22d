from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from families.fake_audit_runner import FakeAuditRunner
from grading.audit_samples import IDENTIFICATION, make_audit_task, sample_kinds
from sql_optim_env.agents import audit
from sql_optim_env.agents.audit import every_name, first_table, reference_step, reference_steps
from sql_optim_env.agents.fixed import EchoPlayer, NullPlayer, OraclePlayer, RitualPlayer, StuffingPlayer
from sql_optim_env.agents.heuristic import HeuristicPlayer
from sql_optim_env.agents.player import LocalSession, Player, for_seed, play
from sql_optim_env.families.audit import AuditEpisode
from sql_optim_env.models import SQLOptimObservation, TableSampleInfo
from sql_optim_env.tasks.task import Task

TASK = make_audit_task()
TASKS = {task.id: task for task in (TASK, IDENTIFICATION)}


@pytest.fixture(scope="module", autouse=True)
def only_the_sample_kinds() -> Iterator[None]:
    with sample_kinds():
        yield


class Lab:
    """Sessions without a server over the fake runner, which keeps what it was asked."""

    def __init__(self) -> None:
        self.runner = FakeAuditRunner()
        self.session = LocalSession(self.start)

    def start(self, *, task_id: str, seed: int | None = None, **_: Any) -> AuditEpisode:
        return AuditEpisode(TASKS[task_id], self.runner, seed=seed)


@pytest.mark.parametrize("seed", [None, 0, 7])
def test_the_oracle_goes_the_whole_way_with_the_seed_of_the_reset(seed: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []

    def remember(task: Task, asked_seed: int | None) -> Any:
        asked.append(asked_seed)
        return real(task, asked_seed)

    real = audit.scenario_of
    monkeypatch.setattr(audit, "scenario_of", remember)
    result = play(Lab().session, OraclePlayer(TASKS.__getitem__), task_id=TASK.id, seed=seed)
    assert (result.family, result.score, result.rewards) == ("audit", 0.999, (0.0, 0.0, 0.0, 0.0, 0.999))
    assert (result.cost_before, result.ms_after, result.steps) == (None, None, 5)
    assert asked == [seed] * 5


def test_the_oracle_answers_a_task_without_a_fix_after_two_looks() -> None:
    result = play(Lab().session, OraclePlayer(TASKS.__getitem__), task_id=IDENTIFICATION.id)
    assert (result.score, result.steps) == (0.999, 3)


def test_the_steps_of_the_oracle_are_the_scenarios_own() -> None:
    steps = reference_steps(TASK, None)
    assert [(action.kind, action.sql) for action in steps] == [
        ("query", "STRUCTURE"),
        ("query", "COLUMN"),
        ("fix", "REFERENCE"),
        ("query", "CHECK"),
        ("submit", ""),
    ]
    assert (steps[-1].answer, steps[-1].root_cause_table, steps[-1].offending_key) == ("", "payment", "order_ref")
    assert reference_step(TASK, None, 99) == steps[-1]


@pytest.mark.parametrize("task_id", list(TASKS))
@pytest.mark.parametrize(
    ("player", "steps"),
    [(NullPlayer(), 1), (EchoPlayer(), 2), (RitualPlayer(), 2), (StuffingPlayer(), 1)],
    ids=lambda value: getattr(value, "name", None),
)
def test_players_who_do_no_work_earn_the_least(player: Player, steps: int, task_id: str) -> None:
    result = play(Lab().session, player, task_id=task_id, seed=1)
    assert (result.score, result.steps) == (0.001, steps)


def test_the_echo_asks_for_rows_that_it_was_shown_and_the_ritual_for_the_structure() -> None:
    lab = Lab()
    play(lab.session, EchoPlayer(), task_id=TASK.id)
    play(lab.session, RitualPlayer(), task_id=TASK.id)
    queries = [asked[2] for asked in lab.runner.asked if asked[0] == "query"]
    assert queries == ['SELECT * FROM "customer" LIMIT 5', "SELECT sql FROM sqlite_schema"]


def test_the_stuffer_names_every_table_and_column_in_every_field() -> None:
    seen = Lab().session.reset(task_id=TASK.id).observation
    action = StuffingPlayer().act(seen)
    assert action.answer == "customer, id, name, segment, payment, order_ref, amount, paid_on"
    assert action.root_cause_table == action.offending_key == action.answer
    wide = seen.model_copy(update={"sample_rows": [TableSampleInfo(table="t" * 300, columns=["c"], rows=[], row_count=0)]})
    assert len(StuffingPlayer().act(wide).offending_key) == 200


def test_names_are_read_off_the_samples() -> None:
    assert (first_table(SQLOptimObservation()), every_name(SQLOptimObservation())) == ("", "")


def test_only_a_player_that_has_to_know_the_seed_is_told() -> None:
    null, oracle = NullPlayer(), OraclePlayer(TASKS.__getitem__)
    assert for_seed(null, 3) is null
    assert for_seed(oracle, 3) == OraclePlayer(TASKS.__getitem__, seed=3)
    assert oracle.seed is None


Observe = Callable[..., SQLOptimObservation]


@pytest.fixture
def observe() -> Observe:
    samples = [
        TableSampleInfo(table="branches", columns=["branchno", "name"], rows=[], row_count=9),
        TableSampleInfo(table="rings", columns=["ringno", "branchno"], rows=[], row_count=90),
    ]

    def make(step: int, *kinds: str, **fields: Any) -> SQLOptimObservation:
        text = "Look at `rings`, not at `branches`."
        return SQLOptimObservation(
            family="audit", step_count=step, sample_rows=samples, task_description=text, allowed_kinds=["submit", *kinds], **fields
        )

    return make


def test_the_heuristic_names_the_column_with_the_most_gaps_of_the_table_in_question(observe: Observe) -> None:
    act = HeuristicPlayer().act
    assert act(observe(0)).sql == "SELECT name, sql FROM sqlite_schema"
    look = act(observe(1))
    assert look.sql == 'SELECT SUM("ringno" IS NULL) AS "ringno", SUM("branchno" IS NULL) AS "branchno" FROM "rings"'
    columns = [{"name": "ringno", "type": "INTEGER"}, {"name": "branchno", "type": "INTEGER"}]
    assert act(observe(2, columns=columns, rows=[[4, 50]])).answer == "branchno"
    assert act(observe(2)).answer == ""


def test_the_heuristic_removes_rows_that_refer_to_nothing_and_checks(observe: Observe) -> None:
    act = HeuristicPlayer().act
    strays = '"rings" WHERE "branchno" IS NOT NULL AND "branchno" NOT IN (SELECT "branchno" FROM "branches")'
    look = act(observe(1, "fix"))
    assert look.sql == f"SELECT 0 AS place, COUNT(*) AS strays FROM {strays}"
    repair = act(observe(2, "fix", rows=[[0, 12]]))
    assert (repair.kind, repair.sql) == ("fix", f"DELETE FROM {strays}")
    assert act(observe(3, "fix")) == look
    assert (act(observe(4, "fix")).kind, act(observe(2, "fix", rows=[[0, 0]])).kind, act(observe(2, "fix")).kind) == ("submit",) * 3


def test_the_heuristic_gives_up_where_no_column_refers_to_anything() -> None:
    seen = SQLOptimObservation(family="audit", step_count=1, allowed_kinds=["submit", "fix"])
    assert HeuristicPlayer().act(seen).kind == "submit"
