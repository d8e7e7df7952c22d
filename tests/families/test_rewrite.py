from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from families.fake_runner import FakeRunner
from grading.samples import ISSUES
from sql_optim_env.errors import EpisodeStateError, ErrorCode, InfraError
from sql_optim_env.families.episode import MAX_MISSTEPS
from sql_optim_env.families.rewrite import RewriteEpisode
from sql_optim_env.models import ColumnInfo, SQLOptimAction, SQLOptimObservation, Suggestion

Start = Callable[..., RewriteEpisode]


def submit(sql: str = "", issues: int = 0, **fields: Any) -> SQLOptimAction:
    """A submission that names the first so many expected issues."""
    suggestions = [
        Suggestion(issue_type=issue.issue_type.value, line=issue.line, severity=issue.severity.value) for issue in ISSUES[:issues]
    ]
    return SQLOptimAction(optimized_query=sql, suggestions=suggestions, **fields)


def query(sql: str = "SELECT 1") -> SQLOptimAction:
    return SQLOptimAction(kind="query", sql=sql)


def counters(episode: RewriteEpisode) -> tuple[object, ...]:
    return (episode.step_count, episode.best_score, episode.cumulative_reward, episode.done, episode.opening())


def test_the_opening_shows_the_whole_task_and_no_reward(start: Start) -> None:
    episode = start(max_steps=4, max_explorations=8)
    seen = episode.opening()
    task = episode.task
    assert (seen.task_id, seen.task_name, seen.task_description, seen.family) == (task.id, task.name, task.description, "rewrite")
    assert (seen.sql_query, seen.dialect, seen.difficulty) == (task.sql, "duckdb", "medium")
    assert seen.schema_info == "CREATE TABLE orders (id INTEGER);"
    assert seen.allowed_kinds == ["submit", "query", "explain"]
    assert (seen.step_count, seen.max_steps, seen.submissions_left, seen.explorations_left) == (0, 4, 4, 8)
    assert (seen.reward, seen.done, seen.score, seen.best_score, seen.error) == (None, False, None, 0.0, None)
    assert "one JSON object" in seen.instructions


def test_nothing_of_the_graders_data_is_shown(start: Start) -> None:
    episode = start(summary="SECRET WORDS")
    shown = [
        episode.opening(),
        episode.handle(query()).observation,
        episode.handle(submit("WRONG")).observation,
        episode.handle(submit("HALF", 1, approved=False)).observation,
    ]
    for observation in shown:
        text = observation.model_copy(update={"instructions": ""}).model_dump_json()
        assert "REFERENCE" not in text
        assert "SECRET" not in text
        assert "late_filter" not in text


def test_the_first_submission_pays_its_score_and_the_rest_what_they_add(start: Start) -> None:
    episode = start(max_steps=5, max_explorations=0)
    outcomes = [episode.handle(submit(sql)) for sql in ("HALF", "HALF", "WRONG", "REFERENCE", "HALF")]
    assert [outcome.score for outcome in outcomes] == pytest.approx([0.375109, 0.375109, 0.0, 0.55, 0.375109], abs=1e-4)
    assert [outcome.reward for outcome in outcomes] == pytest.approx([0.375109, 0.0, 0.0, 0.174891, 0.0], abs=1e-4)
    assert episode.best_score == 0.55
    assert episode.cumulative_reward == 0.55


def test_in_absolute_mode_every_step_pays_its_score(start: Start) -> None:
    episode = start(reward_mode="absolute")
    assert [episode.handle(submit("REFERENCE")).reward for _ in range(3)] == [0.55, 0.55, 0.55]
    assert episode.cumulative_reward == 1.65
    assert episode.best_score == 0.55


def test_a_good_answer_ends_the_episode(start: Start) -> None:
    episode = start()
    outcome = episode.handle(submit("REFERENCE", 4, summary=episode.task.rewrite.summary, approved=False))
    assert (outcome.score, outcome.reward, outcome.done) == (1.0, 1.0, True)
    assert (outcome.observation.reward, outcome.observation.done, outcome.observation.score) == (1.0, True, 1.0)


def test_the_last_submission_ends_the_episode(start: Start) -> None:
    episode = start(max_steps=2)
    assert [episode.handle(submit("HALF")).done for _ in range(2)] == [False, True]
    with pytest.raises(EpisodeStateError, match="call reset"):
        episode.handle(submit("HALF"))
    assert episode.step_count == 2


def test_a_graded_step_is_typed_through_and_repeated_in_the_metadata(start: Start) -> None:
    seen = start().handle(submit("REFERENCE", 2, approved=False)).observation
    assert seen.last_execution is not None
    assert (seen.last_execution.original_cost, seen.last_execution.submitted_cost, seen.last_execution.speedup) == (1_000, 100, 10.0)
    assert seen.plan == "SCAN orders"
    assert seen.reward_breakdown["execution_speedup"] == 0.35
    assert seen.metadata == {
        "reward_breakdown": seen.reward_breakdown,
        "feedback": seen.feedback,
        "execution": seen.last_execution.model_dump(),
    }


def test_every_observation_carries_the_task_for_a_model_without_memory(start: Start) -> None:
    episode = start()
    first = episode.opening()
    for action in (query(), submit("HALF"), SQLOptimAction(kind="fix")):
        seen = episode.handle(action).observation
        for name in ("task_id", "sql_query", "schema_info", "instructions", "allowed_kinds", "max_steps"):
            assert getattr(seen, name) == getattr(first, name)


def test_issues_found_accumulate_over_submissions_without_repeats(start: Start) -> None:
    episode = start(max_steps=3)
    assert episode.handle(submit(issues=2)).observation.issues_found_so_far == [
        {"issue_type": "correlated_subquery", "line": 3},
        {"issue_type": "function_on_column", "line": 7},
    ]
    episode.handle(submit())
    found = episode.handle(submit(issues=3)).observation.issues_found_so_far
    assert [issue["line"] for issue in found] == [3, 6, 7]


def test_an_empty_query_is_graded_on_its_text_alone_and_runs_nothing(start: Start, runner: FakeRunner) -> None:
    outcome = start().handle(submit(" ", 4, approved=False))
    assert outcome.score == pytest.approx(0.38)
    assert outcome.observation.error is None
    assert outcome.observation.last_execution is None
    assert runner.calls == []


@pytest.mark.parametrize(("sql", "code"), [("REFUSED", ErrorCode.SYNTAX_ERROR), ("SLOW", ErrorCode.TIMEOUT)])
def test_a_refused_submission_is_an_observation_with_a_code_and_is_used_up(start: Start, sql: str, code: ErrorCode) -> None:
    episode = start(max_steps=3)
    outcome = episode.handle(submit(sql))
    assert (outcome.score, outcome.reward, outcome.done) == (0.0, 0.0, False)
    assert outcome.observation.error is not None
    assert outcome.observation.error.code == code
    assert outcome.observation.error.message
    assert code.value in outcome.observation.feedback
    assert outcome.observation.submissions_left == 2


def test_exploring_pays_nothing_and_uses_its_own_budget(start: Start) -> None:
    episode = start(max_explorations=2)
    outcome = episode.handle(query())
    seen = outcome.observation
    assert (outcome.reward, outcome.score, outcome.done) == (0.0, None, False)
    assert (seen.columns, seen.rows, seen.row_count, seen.truncated) == ([ColumnInfo(name="n", type="BIGINT")], [[1], [2]], 120, True)
    assert (seen.submissions_left, seen.explorations_left, seen.step_count) == (3, 1, 1)
    assert seen.last_execution is not None
    assert seen.last_execution.submitted_cost == 777
    assert seen.reward_breakdown == {}


def test_rows_left_out_for_their_size_are_said_to_be_left_out(start: Start, runner: FakeRunner) -> None:
    runner.rows = tuple(tuple("v" * 900 for _ in range(20)) for _ in range(120))
    seen = start().handle(query()).observation
    assert 0 < len(seen.rows) < 120 == seen.row_count
    assert seen.truncated


def test_explaining_shows_the_plan_and_the_cost_of_a_measured_run(start: Start) -> None:
    episode = start()
    measured = episode.handle(SQLOptimAction(kind="explain", sql="SELECT 1")).observation
    assert (measured.plan, measured.feedback) == ("SCAN orders", "cost 777 work units.")
    planned = episode.handle(SQLOptimAction(kind="explain", sql="UNRUN")).observation
    assert (planned.plan, planned.last_execution, planned.feedback) == ("SCAN orders", None, "")


@pytest.mark.parametrize(("sql", "code"), [("SLOW", ErrorCode.TIMEOUT), ("  ", ErrorCode.EMPTY_SQL)])
@pytest.mark.parametrize("kind", ["query", "explain"])
def test_a_refused_exploration_is_used_up(start: Start, kind: Any, sql: str, code: ErrorCode) -> None:
    episode = start(max_explorations=2)
    seen = episode.handle(SQLOptimAction(kind=kind, sql=sql)).observation
    assert seen.error is not None
    assert seen.error.code == code
    assert (seen.explorations_left, seen.submissions_left, seen.reward) == (1, 3, 0.0)


def test_exploring_beyond_the_budget_runs_nothing_and_leaves_the_submissions(start: Start, runner: FakeRunner) -> None:
    episode = start(max_explorations=1)
    episode.handle(query())
    seen = episode.handle(query("")).observation
    assert seen.error is not None
    assert seen.error.code == ErrorCode.NO_EXPLORATIONS_LEFT
    assert (seen.submissions_left, seen.step_count, seen.done) == (3, 2, False)
    assert len(runner.calls) == 1


def test_a_kind_that_is_not_allowed_uses_up_no_budget_but_cannot_go_on_for_ever(start: Start) -> None:
    episode = start()
    for n in range(1, MAX_MISSTEPS + 1):
        outcome = episode.handle(SQLOptimAction(kind="fix", sql="DROP TABLE orders"))
        assert outcome.observation.error is not None
        assert outcome.observation.error.code == ErrorCode.KIND_NOT_ALLOWED
        assert (outcome.observation.submissions_left, outcome.observation.explorations_left) == (3, 8)
        assert outcome.done is (n == MAX_MISSTEPS)


@pytest.mark.parametrize("action", [submit("BROKEN"), query("BROKEN"), SQLOptimAction(kind="explain", sql="BROKEN")])
def test_our_own_fault_is_raised_and_leaves_the_episode_as_it_was(start: Start, action: SQLOptimAction) -> None:
    episode = start()
    episode.handle(submit("HALF", 2))
    before = counters(episode)
    with pytest.raises(InfraError, match="infra_error: a worker"):
        episode.handle(action)
    assert counters(episode) == before
    assert episode.handle(submit("REFERENCE")).score == 0.55


def test_an_observation_stays_small_whatever_is_shown(start: Start, runner: FakeRunner) -> None:
    runner.rows = tuple(tuple("v" * 9_000 for _ in range(100)) for _ in range(50))
    runner.plan = "SCAN " * 100_000
    episode = start(lines=1_000)
    for action in (query(), SQLOptimAction(kind="explain", sql="SELECT 1")):
        assert len(episode.handle(action).observation.model_dump_json()) < 256 * 1024


actions = st.one_of(
    st.builds(
        submit,
        st.sampled_from(["", "HALF", "REFERENCE", "WRONG", "REFUSED", "SLOW", "SELECT 1"]),
        st.integers(0, 4),
        approved=st.sampled_from([None, True, False]),
    ),
    st.builds(query, st.sampled_from(["SELECT 1", "SLOW", ""])),
    st.builds(SQLOptimAction, kind=st.sampled_from(["explain", "profile", "fix"]), sql=st.just("SELECT 1")),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(actions, max_size=30), st.sampled_from(["composite", "execution", "binary"]))
def test_any_episode_ends_and_its_rewards_sum_to_its_best_score(start: Start, played: list[SQLOptimAction], profile: str) -> None:
    episode = start(profile=profile)
    rewards, scores = [], [0.0]
    for action in played:
        if episode.done:
            break
        outcome = episode.handle(action)
        rewards.append(outcome.reward)
        scores.append(outcome.score or 0.0)
        assert 0.0 <= scores[-1] <= 1.0
        assert SQLOptimObservation.model_validate_json(outcome.observation.model_dump_json()) == outcome.observation
    assert sum(rewards) == pytest.approx(max(scores), abs=1e-6)
    assert episode.best_score == max(scores)
    assert episode.step_count == len(rewards) <= 3 + 8 + MAX_MISSTEPS
