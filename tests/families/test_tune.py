from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from families.fake_tune_runner import FakeTuneRunner
from grading.tune_samples import DDL, make_tune_task
from sql_optim_env.errors import EpisodeStateError, ErrorCode, InfraError
from sql_optim_env.families.base import FamilyRegistry
from sql_optim_env.families.episode import MAX_MISSTEPS
from sql_optim_env.families.registry import builtin_families
from sql_optim_env.families.tune import TuneEpisode
from sql_optim_env.models import ColumnInfo, SQLOptimAction, SQLOptimObservation

Start = Callable[..., TuneEpisode]


@pytest.fixture
def runner() -> FakeTuneRunner:
    return FakeTuneRunner()


@pytest.fixture
def start(runner: FakeTuneRunner) -> Start:
    def make(profile: Any = "composite", reward_mode: Any = "telescoping", **changes: Any) -> TuneEpisode:
        return TuneEpisode(
            make_tune_task(**changes), runner, schema_info="CREATE TABLE parcel (hub INTEGER);", profile=profile, reward_mode=reward_mode
        )

    return make


def submit(sql: str = "", *ddl: str) -> SQLOptimAction:
    return SQLOptimAction(optimized_query=sql, ddl=list(ddl))


def query(sql: str = "SELECT 1") -> SQLOptimAction:
    return SQLOptimAction(kind="query", sql=sql)


def test_the_opening_shows_the_whole_task_and_nothing_of_the_graders_data(start: Start) -> None:
    episode = start()
    seen = episode.opening()
    assert (seen.family, seen.dialect, seen.sql_query) == ("tune", "sqlite", episode.task.sql)
    assert seen.schema_info == "CREATE TABLE parcel (hub INTEGER);"
    assert seen.allowed_kinds == ["submit", "query", "explain"]
    assert (seen.max_steps, seen.submissions_left, seen.explorations_left) == (1, 1, 6)
    assert (seen.reward, seen.done, seen.score, seen.logical_reads) == (None, False, None, None)
    for outcome in (episode.handle(query()), episode.handle(submit("WRONG"))):
        text = outcome.observation.model_dump_json()
        assert not any(secret in text for secret in ("REFERENCE", "SECRET", *DDL))


@pytest.mark.parametrize(
    ("mode", "sql", "score"), [("telescoping", "REFERENCE", 1.0), ("absolute", "HALF", 0.500313), ("absolute", "", 0.0)]
)
def test_a_submission_pays_its_score_and_ends_the_episode(start: Start, mode: str, sql: str, score: float) -> None:
    episode = start(reward_mode=mode)
    outcome = episode.handle(submit(sql, *DDL))
    assert (outcome.score, outcome.reward, outcome.done) == (score, score, True)
    assert (episode.best_score, episode.cumulative_reward, episode.done) == (score, score, True)
    assert outcome.observation.submissions_left == 0
    with pytest.raises(EpisodeStateError, match="call reset"):
        episode.handle(query())


def test_a_graded_step_shows_its_pages_its_plan_and_its_term(start: Start) -> None:
    seen = start().handle(submit("HALF", *DDL)).observation
    assert (seen.logical_reads, seen.plan, seen.reward_breakdown) == (316, "SCAN parcel", {"logical_reads": 0.500313})
    assert seen.last_execution is not None
    assert (seen.last_execution.original_cost, seen.last_execution.submitted_cost) == (1_000, 316)
    assert seen.metadata["reward_breakdown"] == seen.reward_breakdown


def test_without_a_query_the_original_stands_and_the_ddl_is_judged(start: Start, runner: FakeTuneRunner) -> None:
    episode = start()
    episode.handle(submit("  ", *DDL))
    assert runner.graded == [(episode.task.sql, DDL)]


def test_an_empty_submission_earns_nothing_runs_nothing_and_ends_the_episode(start: Start, runner: FakeTuneRunner) -> None:
    outcome = start().handle(SQLOptimAction())
    assert (outcome.score, outcome.reward, outcome.done) == (0.0, 0.0, True)
    assert (outcome.observation.error, outcome.observation.last_execution, runner.graded) == (None, None, [])
    assert "neither optimized_query nor ddl" in outcome.observation.feedback


@pytest.mark.parametrize(("sql", "code"), [("REFUSED", ErrorCode.REFUSED_SYNTAX), ("SLOW", ErrorCode.TIMEOUT)])
def test_a_refused_submission_has_a_code_and_ends_the_episode_too(start: Start, sql: str, code: ErrorCode) -> None:
    outcome = start().handle(submit(sql))
    assert (outcome.score, outcome.done) == (0.0, True)
    assert outcome.observation.error is not None
    assert outcome.observation.error.code == code
    assert code.value in outcome.observation.feedback


def test_a_query_shows_rows_pages_and_whether_the_copy_was_changed(start: Start, runner: FakeTuneRunner) -> None:
    episode = start()
    outcome = episode.handle(query("SELECT 1"))
    seen = outcome.observation
    assert (outcome.reward, outcome.score, outcome.done) == (0.0, None, False)
    assert (seen.columns, seen.rows, seen.row_count, seen.truncated) == ([ColumnInfo(name="n", type="INTEGER")], [[1], [2]], 120, True)
    assert (seen.logical_reads, seen.explorations_left, seen.submissions_left) == (777, 5, 1)
    assert seen.feedback == "120 rows, 2 shown; 777 pages, 4,321 steps of the virtual machine."
    assert "Your copy was changed." in episode.handle(query("CREATE INDEX i ON parcel(hub)")).observation.feedback
    assert episode.handle(SQLOptimAction(kind="explain", sql="SELECT 1")).observation.plan == "SCAN parcel"
    assert runner.scratches[0].calls == [("query", "SELECT 1"), ("query", "CREATE INDEX i ON parcel(hub)"), ("explain", "SELECT 1")]


def test_experiments_have_a_budget_of_their_own_also_when_they_fail(start: Start, runner: FakeTuneRunner) -> None:
    episode = start(max_explorations=2)
    assert [episode.handle(query(sql)).observation.error.code for sql in ("SLOW", " ")] == ["timeout", "empty_sql"]
    seen = episode.handle(query()).observation
    assert seen.error is not None
    assert seen.error.code == ErrorCode.NO_EXPLORATIONS_LEFT
    assert (seen.submissions_left, seen.done, len(runner.scratches[0].calls)) == (1, False, 1)


def test_missteps_end_the_episode_at_last(start: Start) -> None:
    episode = start()
    done = [episode.handle(SQLOptimAction(kind="profile")).done for _ in range(MAX_MISSTEPS)]
    assert done == [False] * (MAX_MISSTEPS - 1) + [True]


@pytest.mark.parametrize("action", [submit("BROKEN"), query("BROKEN"), SQLOptimAction(kind="explain", sql="BROKEN")])
def test_our_own_fault_is_raised_and_leaves_the_episode_as_it_was(start: Start, action: SQLOptimAction) -> None:
    episode = start()
    episode.handle(query())
    before = (episode.step_count, episode.done, episode.opening())
    with pytest.raises(InfraError, match="infra_error: a worker"):
        episode.handle(action)
    assert (episode.step_count, episode.done, episode.opening()) == before
    assert episode.handle(submit("REFERENCE")).score == 1.0


def test_the_copy_is_removed_when_the_episode_ends_or_is_given_up(start: Start, runner: FakeTuneRunner) -> None:
    submitted, abandoned = start(), start()
    submitted.handle(query())
    assert [scratch.closed for scratch in runner.scratches] == [0, 0]
    submitted.handle(submit("HALF"))
    abandoned.close()
    assert [scratch.closed for scratch in runner.scratches] == [1, 1]
    with pytest.raises(EpisodeStateError):
        abandoned.handle(query())


def test_the_binary_profile_pays_all_or_nothing(start: Start) -> None:
    assert start(profile="binary").handle(submit("HALF")).observation.reward_breakdown == {"solved": 1.0}
    assert start(profile="binary").handle(submit("SELECT 1")).observation.reward_breakdown == {"solved": 0.0}


def test_the_registry_starts_it(runner: FakeTuneRunner) -> None:
    registry: FamilyRegistry = builtin_families()
    assert registry.names() == ("audit", "rewrite", "tune")
    assert isinstance(registry.build(make_tune_task(), runner, schema_info=""), TuneEpisode)


def test_an_observation_stays_small_whatever_is_shown(start: Start, runner: FakeTuneRunner) -> None:
    episode = start()
    runner.scratches[0].rows = tuple(tuple("v" * 9_000 for _ in range(100)) for _ in range(50))
    seen = episode.handle(query()).observation
    assert seen.truncated
    assert len(seen.model_dump_json()) < 256 * 1024


actions = st.one_of(
    st.builds(submit, st.sampled_from(["", "HALF", "REFERENCE", "WRONG", "REFUSED", "SLOW"]), st.sampled_from(DDL)),
    st.builds(query, st.sampled_from(["SELECT 1", "SLOW", "", "CREATE INDEX i ON parcel(hub)"])),
    st.builds(SQLOptimAction, kind=st.sampled_from(["explain", "profile", "fix"]), sql=st.just("SELECT 1")),
)


@given(st.lists(actions, max_size=25), st.sampled_from(["composite", "execution", "binary"]))
def test_any_episode_ends_and_its_rewards_sum_to_its_best_score(played: list[SQLOptimAction], profile: Any) -> None:
    episode = TuneEpisode(make_tune_task(), FakeTuneRunner(), schema_info="", profile=profile)
    rewards = []
    for action in played:
        if episode.done:
            break
        outcome = episode.handle(action)
        rewards.append(outcome.reward)
        assert SQLOptimObservation.model_validate_json(outcome.observation.model_dump_json()) == outcome.observation
    assert sum(rewards) == episode.best_score == episode.cumulative_reward
    assert episode.step_count == len(rewards) <= 1 + 6 + MAX_MISSTEPS
