from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from families.fake_audit_runner import FakeAuditRunner
from grading.audit_samples import IDENTIFICATION, SECRETS, make_audit_task, sample_kinds
from sql_optim_env.engines.base import Column
from sql_optim_env.errors import EpisodeStateError, ErrorCode, InfraError
from sql_optim_env.families.audit import AuditEpisode
from sql_optim_env.families.episode import MAX_MISSTEPS
from sql_optim_env.families.registry import builtin_families
from sql_optim_env.models import ColumnInfo, SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.task import Task

Start = Callable[..., AuditEpisode]
RIGHT = {"root_cause_table": "payment", "offending_key": "order_ref"}


@pytest.fixture(scope="module", autouse=True)
def only_the_sample_kinds() -> Iterator[None]:
    with sample_kinds():
        yield


@pytest.fixture
def runner() -> FakeAuditRunner:
    return FakeAuditRunner()


@pytest.fixture
def start(runner: FakeAuditRunner) -> Start:
    def make(task: Task | None = None, *, seed: int | None = 7, **options: Any) -> AuditEpisode:
        own = {name: options.pop(name) for name in ("profile", "reward_mode") if name in options}
        return AuditEpisode(task or make_audit_task(**options), runner, schema_info="", seed=seed, **own)

    return make


def submit(**answers: str) -> SQLOptimAction:
    return SQLOptimAction(**answers)


def query(sql: str = "STRUCTURE") -> SQLOptimAction:
    return SQLOptimAction(kind="query", sql=sql)


def fix(sql: str = "REFERENCE") -> SQLOptimAction:
    return SQLOptimAction(kind="fix", sql=sql)


def profile(table: str = "payment", column: str = "order_ref") -> SQLOptimAction:
    return SQLOptimAction(kind="profile", table=table, column=column)


def played(episode: AuditEpisode, *actions: SQLOptimAction) -> SQLOptimObservation:
    return [episode.handle(action) for action in actions][-1].observation


def code(observation: SQLOptimObservation) -> str:
    assert observation.error is not None
    return observation.error.code


def test_the_opening_shows_the_scenario_the_schema_and_the_first_rows(start: Start, runner: FakeAuditRunner) -> None:
    seen = start().opening()
    assert (seen.family, seen.dialect, seen.sql_query) == ("audit", "sqlite", "")
    assert seen.task_description == "The day's total is too high. Each payment is to be there once."
    assert seen.schema_info == "-- 320 rows\nCREATE TABLE payment (id INTEGER);\n"
    assert [(sample.table, sample.row_count) for sample in seen.sample_rows] == [("customer", 320), ("payment", 320)]
    assert seen.sample_rows[0].rows == [[1, "x" * 99 + "…", None]]
    assert (seen.history, seen.allowed_kinds) == ([], ["submit", "query", "profile", "fix"])
    assert (seen.submissions_left, seen.explorations_left, seen.fixes_left) == (1, 6, 2)
    assert (seen.reward, seen.done, seen.score) == (None, False, None)
    assert runner.asked == [("open", 7)]


def test_a_task_without_a_fix_allows_none(start: Start, runner: FakeAuditRunner) -> None:
    episode = start(IDENTIFICATION)
    assert episode.opening().allowed_kinds == ["submit", "query", "profile"]
    seen = played(episode, fix())
    assert (code(seen), seen.fixes_left, len(runner.asked)) == (ErrorCode.KIND_NOT_ALLOWED, 0, 1)
    assert seen.error is not None
    assert seen.error.message.endswith("allowed kinds: submit, query, profile.")


def test_the_whole_way_earns_the_most(start: Start, runner: FakeAuditRunner) -> None:
    episode = start()
    for action in (query(), query("COLUMN"), fix(), query("CHECK")):
        outcome = episode.handle(action)
        assert (outcome.reward, outcome.score, outcome.done, outcome.observation.score) == (0.0, None, False, None)
    outcome = episode.handle(submit(**RIGHT))
    assert (outcome.reward, outcome.score, outcome.done) == (0.999, 0.999, True)
    assert (episode.best_score, episode.cumulative_reward) == (0.999, 0.999)
    assert runner.asked[1:] == [
        ("query", 7, "STRUCTURE", ""),
        ("query", 7, "COLUMN", ""),
        ("fix", 7, "REFERENCE"),
        ("query", 7, "CHECK", "REFERENCE"),
        ("grade", 7, "REFERENCE", "CHECK"),
    ]
    with pytest.raises(EpisodeStateError, match="call reset"):
        episode.handle(query())


def test_submitting_at_once_ends_the_episode_with_the_least(start: Start) -> None:
    for task in (None, IDENTIFICATION):
        outcome = start(task).handle(submit())
        assert (outcome.score, outcome.reward, outcome.done, outcome.observation.submissions_left) == (0.001, 0.001, True, 0)


@pytest.mark.parametrize("mode", ["telescoping", "absolute"])
def test_an_answer_without_a_fix_is_graded_after_a_look(start: Start, mode: str) -> None:
    episode = start(IDENTIFICATION, reward_mode=mode)
    seen = played(episode, query(), profile(), submit(answer="order_ref"))
    assert (seen.score, seen.reward) == (0.999, 0.999)
    assert seen.reward_breakdown == {"diagnostic_efficiency": 0.2, "hypothesis_quality": 0.2, "answer_correctness": 0.6, "bounds": -0.001}
    assert seen.metadata["reward_breakdown"] == seen.reward_breakdown


def test_a_query_shows_the_broken_rows_and_after_a_fix_those_of_the_copy_too(start: Start) -> None:
    episode = start()
    seen = played(episode, query())
    assert seen.columns == [ColumnInfo(name="id", type="INTEGER"), ColumnInfo(name="order_ref", type="TEXT")]
    assert (seen.rows, seen.row_count, seen.truncated, seen.repaired) == ([[1, "a"], [2, None]], 320, True, None)
    assert (seen.explorations_left, seen.feedback) == (5, "320 rows, 2 shown.")
    seen = played(episode, fix(), query())
    assert seen.repaired is not None
    assert (seen.row_count, seen.repaired.row_count, seen.repaired.rows) == (320, 160, [[1, "a"], [2, None]])
    assert seen.feedback == "320 rows, 2 shown. On a copy with your fix: 160 rows, 2 shown."


def test_a_query_that_fails_on_the_copy_says_so_and_is_a_look_all_the_same(start: Start) -> None:
    seen = played(start(), fix("DROP"), query())
    assert (seen.error, seen.row_count) == (None, 320)
    assert seen.repaired is not None
    assert (seen.repaired.error, seen.repaired.row_count) == ("no such table: payment", None)
    assert seen.history[-1].outcome.endswith("repaired: no such table: payment")


def test_a_query_of_what_the_fix_made_is_shown_from_the_copy(start: Start) -> None:
    episode = start()
    assert code(played(episode, query("NEW"))) == ErrorCode.BINDING_ERROR
    seen = played(episode, fix(), query("NEW"))
    assert (seen.error, seen.rows) == (None, [])
    assert seen.repaired is not None
    assert seen.repaired.row_count == 160
    assert seen.feedback == ("It fails on the broken database (no such table: ledger). On a copy with your fix: 160 rows, 2 shown.")
    assert seen.history[-1].outcome == 'fails on the broken database; repaired: 160 rows [1, "a"] [2, null]'
    assert played(episode, submit(**RIGHT)).reward_breakdown["self_verification"] == 0.1


def test_a_profile_shows_the_figures_of_a_column_and_what_it_stands_for(start: Start) -> None:
    seen = played(start(), profile())
    assert seen.profile is not None
    assert seen.profile.model_dump() == {
        "table": "payment",
        "column": "order_ref",
        "declared_type": "TEXT",
        "row_count": 320,
        "null_count": 40,
        "null_rate": 0.125,
        "distinct_count": 160,
        "minimum": "a",
        "maximum": "b" * 200 + "… [1,800 characters left out]",
        "types": {"NULL": 40, "TEXT": 280},
    }
    assert seen.feedback.startswith('40 of 320 NULL (12.5 %), 160 distinct, from "a" to "bbb')
    assert seen.feedback.endswith("; stored as 40 NULL, 280 TEXT. It stands for: SELECT order_ref")
    assert seen.explorations_left == 5


def test_a_profile_of_what_the_fix_made_says_where_it_was_taken(start: Start) -> None:
    seen = played(start(), fix(), profile("payment", "made"))
    assert seen.profile is not None
    assert (seen.profile.row_count, seen.profile.null_rate) == (0, 0.0)
    assert seen.feedback == (
        "It fails on the broken database (no such column: made). On a copy with your fix: 0 of 0 NULL (0.0 %), 0 distinct, from null to"
        " null; stored as no rows. It stands for: SELECT made"
    )


@pytest.mark.parametrize("table, column", [("", "order_ref"), ("payment", " "), ("", "")])
def test_a_profile_without_a_table_or_column_says_what_is_needed(start: Start, runner: FakeAuditRunner, table: str, column: str) -> None:
    seen = played(start(), profile(table, column))
    assert (code(seen), seen.explorations_left, len(runner.asked)) == (ErrorCode.EMPTY_SQL, 5, 1)
    assert seen.error is not None
    assert seen.error.message == "kind 'profile' needs a table in the field table and its column in the field column."


def test_a_fix_shows_what_it_did_and_nothing_of_what_it_is_worth(start: Start) -> None:
    seen = played(start(), fix("DELETE; SELECT"))
    assert [change.model_dump() for change in seen.changes] == [
        {"table": "payment", "rows_before": 320, "rows_after": 160, "rows_added": 0, "rows_removed": 160},
        {"table": "extra", "rows_before": None, "rows_after": 3, "rows_added": 3, "rows_removed": 0},
        {"table": "customer", "rows_before": 200, "rows_after": None, "rows_added": 0, "rows_removed": 200},
    ]
    assert (seen.row_count, seen.rows, seen.fixes_left, seen.explorations_left) == (160, [[1, "a"], [2, None]], 1, 6)
    assert seen.feedback == (
        "The script ran (2 statements) on a fresh copy, and it stands now: payment has 160 rows (0 added, 160 removed); extra is new with 3"
        " rows; customer is gone."
    )
    assert (seen.reward, seen.score, seen.reward_breakdown, seen.best_score) == (0.0, None, {}, 0.0)
    assert "77" not in seen.model_dump_json()


@pytest.mark.parametrize(("bad", "error"), [("REFUSED", "refused_syntax"), ("SLOW", "timeout"), ("  ", "empty_sql")])
def test_a_fix_that_fails_uses_up_an_attempt_and_leaves_the_earlier_one_standing(
    start: Start, runner: FakeAuditRunner, bad: str, error: str
) -> None:
    episode = start()
    seen = played(episode, fix(), fix(bad))
    assert (code(seen), seen.fixes_left, seen.step_count) == (error, 0, 2)
    played(episode, query("CHECK"), submit(**RIGHT))
    assert runner.asked[-2:] == [("query", 7, "CHECK", "REFERENCE"), ("grade", 7, "REFERENCE", "CHECK")]


def test_the_last_fix_that_ran_stands_and_looks_before_it_check_nothing(start: Start, runner: FakeAuditRunner) -> None:
    seen = played(start(), query(), fix("HALF"), query("COLUMN"), query("CHECK"), fix(), submit(**RIGHT))
    assert runner.asked[-1] == ("grade", 7, "REFERENCE")
    assert seen.reward_breakdown["self_verification"] == 0.0
    assert seen.reward_breakdown["diagnostic_efficiency"] == 0.2


def test_fixes_beyond_the_budget_are_missteps(start: Start, runner: FakeAuditRunner) -> None:
    episode = start(max_fixes=1)
    seen = played(episode, fix(), fix("HALF"))
    assert (code(seen), seen.fixes_left, runner.asked[-1]) == (ErrorCode.NO_FIXES_LEFT, 0, ("fix", 7, "REFERENCE"))
    for _ in range(MAX_MISSTEPS - 2):
        assert not episode.handle(fix()).done
    outcome = episode.handle(fix())
    assert (outcome.done, outcome.score, outcome.reward) == (True, None, 0.0)


def test_looks_beyond_the_budget_are_missteps_and_looks_that_failed_are_counted(start: Start) -> None:
    episode = start(max_explorations=3)
    seen = played(episode, query("REFUSED"), profile("payment", "nothing"), query("COLUMN"), query())
    assert (code(seen), seen.explorations_left) == (ErrorCode.NO_EXPLORATIONS_LEFT, 0)
    assert played(episode, fix(), submit(**RIGHT)).reward_breakdown["diagnostic_efficiency"] == pytest.approx(0.14)


def test_a_fix_that_cannot_be_graded_earns_the_least_and_says_why(start: Start) -> None:
    seen = played(start(), query(), query("COLUMN"), fix("HANGS"), query("CHECK"), submit(**RIGHT))
    assert (seen.score, seen.done, code(seen)) == (0.001, True, ErrorCode.TIMEOUT)
    assert "did not come to its end" in seen.feedback


@pytest.mark.parametrize("action", [query("BROKEN"), profile("BROKEN"), fix("BROKEN")])
def test_our_own_fault_is_raised_and_leaves_the_episode_as_it_was(start: Start, action: SQLOptimAction) -> None:
    episode = start()
    episode.handle(query())
    before = (episode.step_count, episode.done, episode.opening())
    with pytest.raises(InfraError, match="infra_error: a worker"):
        episode.handle(action)
    assert (episode.step_count, episode.done, episode.opening()) == before
    assert played(episode, query("COLUMN"), fix(), query("CHECK"), submit(**RIGHT)).score == 0.999


def test_our_own_fault_at_the_submission_can_be_played_again(
    start: Start, runner: FakeAuditRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = start()
    played(episode, query(), query("COLUMN"), fix(), query("CHECK"))

    def fail(*_: object) -> None:
        raise InfraError("a worker could not be started")

    with monkeypatch.context() as patch:
        patch.setattr(runner, "audit_grade", fail)
        with pytest.raises(InfraError):
            episode.handle(submit(**RIGHT))
    assert (episode.done, episode.step_count, len(episode.opening().history)) == (False, 4, 4)
    assert episode.handle(submit(**RIGHT)).score == 0.999


def test_the_history_holds_a_short_line_for_every_action_and_what_came_of_it(start: Start) -> None:
    episode = start(max_fixes=1)
    seen = played(
        episode,
        query("SELECT\n  1"),
        profile(),
        query("REFUSED"),
        fix(),
        query("CHECK"),
        SQLOptimAction(kind="explain", sql="SELECT 1"),
        submit(**RIGHT),
    )
    assert [(entry.step, entry.kind, entry.action) for entry in seen.history] == [
        (1, "query", "SELECT 1"),
        (2, "profile", "payment.order_ref"),
        (3, "query", "REFUSED"),
        (4, "fix", "REFERENCE"),
        (5, "query", "CHECK"),
        (6, "explain", "SELECT 1"),
        (7, "submit", "root_cause_table=payment, offending_key=order_ref"),
    ]
    outcomes = [entry.outcome for entry in seen.history]
    assert outcomes[0] == '320 rows [1, "a"] [2, null]'
    assert outcomes[1].startswith("40 of 320 NULL (12.5 %), 160 distinct")
    assert outcomes[2] == "refused_syntax: not admitted."
    assert outcomes[3].startswith("The script ran (2 statements) on a fresh copy, and it stands now: payment has 160 rows")
    assert outcomes[4] == '320 rows [1, "a"] [2, null] repaired: 160 rows [1, "a"] [2, null]'
    assert outcomes[5].startswith("kind_not_allowed: ")
    assert outcomes[6] == "score 0.92"


def test_an_observation_stays_small_whatever_was_done(start: Start, runner: FakeAuditRunner) -> None:
    runner.values = tuple(tuple("é" * 9_000 for _ in range(2_000)) for _ in range(50))
    runner.columns = tuple(Column("n" * 9_000, "TEXT") for _ in range(2_000))
    episode = start(max_explorations=60, max_fixes=40)
    played(episode, *[fix(f"-- {n} " + "é" * 19_000 + " SELECT") for n in range(40)])
    played(episode, *[query("SELECT " + "é" * 40_000) for _ in range(60)])
    seen = played(episode, fix("-- " + "x" * 1_000))
    assert len(seen.history) == 101
    assert max(len(line) for entry in seen.history for line in (entry.action, entry.outcome)) <= 200
    seen = played(start(), fix(), query("é" * 10_000_000))
    assert seen.truncated
    assert seen.repaired is not None
    assert (len(seen.columns), seen.repaired.truncated) == (100, True)
    assert "the first 100 of 2,000 columns" in seen.feedback
    assert len(seen.model_dump_json().encode()) < 256 * 1024


def test_nothing_of_the_graders_data_is_shown_before_or_after_the_grade(start: Start) -> None:
    for task in (None, IDENTIFICATION):
        episode = start(task)
        for action in (query("SELECT 1"), fix("NEARLY"), submit(answer="amount", root_cause_table="customer", offending_key="amount")):
            seen = episode.handle(action).observation
            seen.sample_rows = []
            text = seen.model_copy(update={"instructions": ""}).model_dump_json()
            assert not any(secret in text for secret in SECRETS if secret != "order_ref" or not seen.columns)


def test_the_registry_starts_it_with_the_seed(runner: FakeAuditRunner) -> None:
    episode = builtin_families().build(make_audit_task(), runner, schema_info="", seed=3)
    assert isinstance(episode, AuditEpisode)
    assert runner.asked == [("open", 3)]


texts = st.sampled_from(["STRUCTURE", "COLUMN", "CHECK", "PEEK", "NEW", "REFUSED", "SLOW", "", "REFERENCE", "VISIBLE", "HALF", "DROP"])
named = st.sampled_from(["payment", "order_ref", "customer", "", "paymnt"])
actions = st.one_of(
    st.builds(SQLOptimAction, kind=st.sampled_from(["query", "fix", "explain"]), sql=texts),
    st.builds(SQLOptimAction, kind=st.just("profile"), table=named, column=named),
    st.builds(SQLOptimAction, answer=named, root_cause_table=named, offending_key=named),
)


@given(st.lists(actions, max_size=25), st.sampled_from([make_audit_task(), IDENTIFICATION]), st.sampled_from(["composite", "binary"]))
def test_any_episode_ends_and_pays_its_score_at_the_submission_alone(tried: list[SQLOptimAction], task: Task, profile: Any) -> None:
    episode = AuditEpisode(task, FakeAuditRunner(), profile=profile)
    rewards = []
    for action in tried:
        if episode.done:
            break
        outcome = episode.handle(action)
        rewards.append(outcome.reward)
        assert (outcome.score is not None) == (action.kind == "submit")
        assert SQLOptimObservation.model_validate_json(outcome.observation.model_dump_json()) == outcome.observation
        assert len(outcome.observation.history) == episode.step_count
    assert sum(rewards) == episode.best_score == episode.cumulative_reward
    assert episode.step_count == len(rewards) <= 1 + 6 + 2 + MAX_MISSTEPS
