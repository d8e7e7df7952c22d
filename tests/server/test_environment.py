from __future__ import annotations

import json
import math
from typing import Any

import pytest

from sql_optim_env import __version__
from sql_optim_env.errors import (
    AgentError,
    EpisodeStateError,
    ErrorCode,
    InfraError,
    InvalidArgumentError,
    SessionExpiredError,
    UnknownTaskError,
)
from sql_optim_env.families.base import FamilyRegistry
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.server.environment import SQLOptimEnvironment
from sql_optim_env.server.size import MAX_OBSERVATION_BYTES
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
TUNE = catalogue().select(family="tune")[0]
AUDIT = catalogue().get("type_repair")


def reference(task: Task = TASK) -> SQLOptimAction:
    return SQLOptimAction(optimized_query=task.rewrite.reference_sql)


def test_reset_shows_the_task_and_pays_nothing_yet(environment: SQLOptimEnvironment) -> None:
    observation = environment.reset(task_id=TASK.id)
    assert (observation.task_id, observation.sql_query, observation.family) == (TASK.id, TASK.sql, "rewrite")
    assert observation.schema_info == "CREATE TABLE t (n INTEGER) -- of shop"
    assert (observation.reward, observation.done, observation.step_count) == (None, False, 0)


def test_a_step_pays_its_score_and_the_next_one_only_the_gain(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=TASK.id, reward_profile="execution")
    wrong = environment.step(SQLOptimAction(optimized_query="SELECT 1"))
    assert (wrong.reward, wrong.score, wrong.done) == (0.0, 0.0, False)
    right = environment.step(reference())
    assert (right.reward, right.score, right.done) == (1.0, 1.0, True)
    assert environment.state.cumulative_reward == 1.0


def test_the_rubric_tree_follows_every_step(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=TASK.id)
    assert environment.rubric.last_score is None
    observation = environment.step(reference())
    assert environment.rubric.last_score == observation.reward == pytest.approx(0.55)
    assert environment.rubric.get_rubric("execution_speedup").last_score == 0.35
    assert math.fsum(child.last_score for child in environment.rubric.children()) == pytest.approx(observation.score)
    environment.reset(task_id=TASK.id)
    assert environment.rubric.get_rubric("execution_speedup").last_score is None


def test_a_transform_sees_every_observation(runtime) -> None:
    environment = SQLOptimEnvironment(runtime)
    seen: list[int] = []

    def transform(observation: SQLOptimObservation) -> SQLOptimObservation:
        seen.append(observation.step_count)
        return observation

    environment.transform = transform
    environment.reset(task_id=TASK.id)
    environment.step(SQLOptimAction())
    assert seen == [0, 1]


def test_the_state_counts_steps_and_holds_no_answer(environment: SQLOptimEnvironment) -> None:
    assert environment.state.task_id == ""
    environment.reset(task_id=TASK.id, episode_id="mine")
    environment.step(SQLOptimAction(kind="query", sql="SELECT 1"))
    environment.step(reference())
    state = environment.state
    assert (state.episode_id, state.step_count, state.task_id, state.max_steps) == ("mine", 2, TASK.id, TASK.max_steps)
    assert state.best_score == pytest.approx(0.55)
    text = state.model_dump_json()
    assert TASK.rewrite.reference_sql not in text
    assert all(issue.issue_type.value not in text for issue in TASK.rewrite.issues)
    assert "optimal" not in text


def test_every_reset_without_an_id_gets_one_of_its_own(environment: SQLOptimEnvironment) -> None:
    ids = set()
    for _ in range(5):
        environment.reset(seed=1)
        ids.add(environment.state.episode_id)
    assert len(ids) == 5


def test_the_reward_mode_and_the_profile_come_from_the_settings(runtime) -> None:
    object.__setattr__(runtime.settings, "reward", "absolute")
    object.__setattr__(runtime.settings, "reward_profile", "execution")
    environment = SQLOptimEnvironment(runtime)
    environment.reset(task_id=TASK.id)
    assert environment.step(SQLOptimAction(optimized_query="SELECT 1")).reward_breakdown == {"execution_speedup": 0.0}


def test_the_agents_trouble_is_an_observation(environment: SQLOptimEnvironment, runtime, timeout_error: AgentError) -> None:
    environment.reset(task_id=TASK.id)
    runtime.scripted.trouble = timeout_error
    observation = environment.step(reference())
    assert observation.error is not None
    assert observation.error.code == "timeout"
    assert (observation.reward, observation.score) == (0.0, 0.0)
    assert runtime.metrics.registry.get_sample_value("sql_optim_errors_total", {"whose": "agent", "code": "timeout"}) == 1


def test_our_trouble_is_an_exception_and_the_step_can_be_played_again(environment: SQLOptimEnvironment, runtime) -> None:
    environment.reset(task_id=TASK.id)
    runtime.scripted.trouble = InfraError("a worker was killed from outside")
    with pytest.raises(InfraError, match=r"^infra_error: a worker was killed from outside$"):
        environment.step(reference())
    assert environment.state.step_count == 0
    runtime.scripted.trouble = None
    assert environment.step(reference()).step_count == 1


def test_unforeseen_trouble_is_ours_and_tells_no_details(
    environment: SQLOptimEnvironment, runtime, caplog: pytest.LogCaptureFixture
) -> None:
    environment.reset(task_id=TASK.id)
    runtime.scripted.trouble = ZeroDivisionError("/secret/path")
    with pytest.raises(InfraError, match=r"^infra_error: unforeseen ZeroDivisionError in the server$"):
        environment.step(reference())
    assert "/secret/path" in caplog.text


def test_a_step_before_reset_and_after_the_end_is_the_callers_trouble(environment: SQLOptimEnvironment) -> None:
    with pytest.raises(EpisodeStateError, match="call reset first"):
        environment.step(SQLOptimAction())
    environment.reset(task_id=TASK.id, reward_profile="execution")
    assert environment.step(reference()).done
    with pytest.raises(EpisodeStateError, match="the episode is over: call reset"):
        environment.step(reference())
    assert environment.reset(task_id=TASK.id).step_count == 0


def test_a_refused_reset_leaves_the_running_episode_alone(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=TASK.id, episode_id="mine")
    with pytest.raises(UnknownTaskError, match=TASK.id):
        environment.reset(task_id="nope")
    with pytest.raises(InvalidArgumentError, match="reset takes no colour"):
        environment.reset(colour="red")
    assert environment.state.episode_id == "mine"
    assert environment.step(SQLOptimAction()).step_count == 1


def test_without_a_session_a_step_may_name_its_task(environment: SQLOptimEnvironment) -> None:
    observation = environment.step(reference(), task_id=TASK.id, reward_profile="binary", request_id="r")
    assert (observation.task_id, observation.score) == (TASK.id, 1.0)
    environment.reset(task_id=TASK.id)
    with pytest.raises(InvalidArgumentError, match="step takes no task_id while an episode is running"):
        environment.step(reference(), task_id=TASK.id)


def test_a_closed_session_says_why_and_close_is_idempotent(environment: SQLOptimEnvironment, runtime) -> None:
    environment.reset(task_id=TASK.id)
    assert runtime.metrics.registry.get_sample_value("sql_optim_sessions") == 1
    environment.close()
    environment.close()
    assert runtime.metrics.registry.get_sample_value("sql_optim_sessions") == 0
    for call in (lambda: environment.step(reference()), lambda: environment.reset(task_id=TASK.id)):
        with pytest.raises(SessionExpiredError, match=r"^session_expired: the session was idle for more than 3600 s"):
            call()


def test_a_session_that_is_only_looked_at_is_not_counted(environment: SQLOptimEnvironment, runtime) -> None:
    environment.get_metadata()
    environment.close()
    assert runtime.metrics.registry.get_sample_value("sql_optim_sessions") == 0


def test_sessions_do_not_see_each_other(runtime) -> None:
    one, two = SQLOptimEnvironment(runtime), SQLOptimEnvironment(runtime)
    other = next(task for task in catalogue().hand_made() if task.id != TASK.id)
    one.reset(task_id=TASK.id)
    two.reset(task_id=other.id)
    one.step(SQLOptimAction(kind="query", sql="SELECT 1"))
    assert (one.state.step_count, two.state.step_count) == (1, 0)
    assert (one.state.task_id, two.state.task_id) == (TASK.id, other.id)


def test_no_observation_grows_beyond_the_published_size(environment: SQLOptimEnvironment, runtime) -> None:
    environment.reset(task_id=TASK.id)
    runtime.scripted.rows = tuple((n, "ü" * 5_000) for n in range(50))
    runtime.scripted.plan = "→" * 200_000
    for action in (SQLOptimAction(kind="query", sql="SELECT 1"), SQLOptimAction(kind="explain", sql="SELECT 1"), reference()):
        observation = environment.step(action)
        assert len(observation.model_dump_json().encode()) < MAX_OBSERVATION_BYTES


def test_metrics_count_steps_by_kind(environment: SQLOptimEnvironment, runtime) -> None:
    environment.reset(task_id=TASK.id)
    environment.step(SQLOptimAction(kind="query", sql="SELECT 1"))
    environment.step(reference())
    value = runtime.metrics.registry.get_sample_value
    assert value("sql_optim_steps_total", {"family": "rewrite", "kind": "query"}) == 1
    assert value("sql_optim_steps_total", {"family": "rewrite", "kind": "submit"}) == 1
    assert value("sql_optim_step_seconds_count", {"kind": "submit"}) == 1
    assert value("sql_optim_resets_total", {"family": "rewrite"}) == 1


def test_the_task_api_lists_public_facts_only(environment: SQLOptimEnvironment) -> None:
    assert environment.list_splits() == ["train", "test"]
    listed = {split: environment.list_tasks(split) for split in environment.list_splits()}
    assert {spec["id"] for specs in listed.values() for spec in specs} == {task.id for task in catalogue().select()}
    for split, specs in listed.items():
        assert environment.num_tasks(split) == len(specs)
        assert [spec["index"] for spec in specs] == list(range(len(specs)))
        assert [environment.get_task(split, index) for index in range(len(specs))] == specs
        assert environment.get_task_range(split) == specs
        assert environment.get_task_range(split, 1, 2) == specs[1:2]
    assert "reference" not in json.dumps(listed)


def test_the_task_api_knows_no_negative_index_and_no_other_split(environment: SQLOptimEnvironment) -> None:
    for call in (
        lambda: environment.get_task("train", -1),
        lambda: environment.get_task("train", 10**6),
        lambda: environment.get_task("nope", 0),
        lambda: environment.list_tasks("nope"),
        lambda: environment.num_tasks("nope"),
        lambda: environment.get_task_range("train", -2, None),
        lambda: environment.get_task_range("train", 0, -1),
    ):
        with pytest.raises(IndexError):
            call()


def test_the_metadata_is_complete(environment: SQLOptimEnvironment) -> None:
    about = environment.get_metadata()
    assert (about.name, about.version) == ("sql_optim_env", __version__)
    assert about.description
    assert about.author
    assert about.documentation_url == "/docs"
    assert about.readme_content is not None
    assert not about.readme_content.startswith("---")


def test_a_seed_reaches_the_episode_also_of_a_stateless_step(environment: SQLOptimEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int | None] = []
    build = FamilyRegistry.build

    def spy(self: FamilyRegistry, *arguments: Any, seed: int | None = None, **options: Any) -> Any:
        seeds.append(seed)
        return build(self, *arguments, seed=seed, **options)

    monkeypatch.setattr(FamilyRegistry, "build", spy)
    environment.reset(task_id=TASK.id, seed=7)
    environment.reset(task_id=TASK.id)
    SQLOptimEnvironment(environment._runtime).step(SQLOptimAction(), task_id=TASK.id, seed=0)
    assert seeds == [7, None, 0]


def test_error_codes_of_the_agent_stay_in_the_documented_enum(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=TASK.id)
    for action in (SQLOptimAction(kind="fix", sql="SELECT 1"), SQLOptimAction(kind="query")):
        observation = environment.step(action)
        assert observation.error is not None
        assert ErrorCode(observation.error.code) in (ErrorCode.KIND_NOT_ALLOWED, ErrorCode.EMPTY_SQL)


def test_an_episode_gives_back_its_copy_when_another_begins_and_when_the_session_ends(environment: SQLOptimEnvironment, runtime) -> None:
    scratches = runtime.scripted.scratches
    environment.reset(task_id=TUNE.id)
    with pytest.raises(InvalidArgumentError):
        environment.reset(task_id=TUNE.id, family="rewrite")
    assert [scratch.closed for scratch in scratches] == [0]
    environment.reset(task_id=TASK.id)
    environment.reset(task_id=TUNE.id)
    assert [scratch.closed for scratch in scratches] == [1, 0]
    environment.close()
    environment.close()
    assert [scratch.closed for scratch in scratches] == [1, 1]


def test_a_tune_submission_is_paid_by_its_one_term_and_ends_the_episode(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=TUNE.id)
    seen = environment.step(SQLOptimAction(optimized_query=TUNE.tune.reference_sql, ddl=list(TUNE.tune.reference_ddl)))
    assert (seen.reward, seen.score, seen.done, seen.logical_reads) == (1.0, 1.0, True, 100)
    assert environment.rubric is not None
    assert {name: child.last_score for name, child in environment.rubric.named_rubrics() if child.last_score} == {"logical_reads": 1.0}
    with pytest.raises(EpisodeStateError):
        environment.step(SQLOptimAction())


def test_every_call_of_an_audit_episode_has_the_seed_of_its_reset(environment: SQLOptimEnvironment, runtime) -> None:
    for seed in (7, None, 0):
        runtime.scripted.seeds.clear()
        opening = environment.reset(task_id=AUDIT.id, **({} if seed is None else {"seed": seed}))
        assert opening.schema_info == f"CREATE TABLE t (n INTEGER) -- of seed {seed}"
        for action in (
            SQLOptimAction(kind="query", sql="SELECT 1"),
            SQLOptimAction(kind="profile", table="t", column="n"),
            SQLOptimAction(kind="fix", sql="SELECT 1"),
            SQLOptimAction(),
        ):
            last = environment.step(action)
            assert last.error is None
        assert last.done
        assert runtime.scripted.seeds == [seed] * 5


def test_the_terms_of_an_audit_grade_are_in_the_rubric_tree(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=AUDIT.id)
    environment.step(SQLOptimAction(kind="fix", sql="SELECT 1"))
    seen = environment.step(SQLOptimAction())
    assert environment.rubric is not None
    found = {name: child.last_score for name, child in environment.rubric.named_rubrics() if child.last_score}
    assert found == {name: worth for name, worth in seen.reward_breakdown.items() if worth}
    assert found["fix_correctness"] == 0.35
    assert environment.rubric.last_score == seen.reward == seen.score


def test_the_state_of_an_audit_episode_holds_public_facts_only(environment: SQLOptimEnvironment) -> None:
    environment.reset(task_id=AUDIT.id, seed=5)
    text = environment.state.model_dump_json()
    assert scenario_of(AUDIT, 5).reference_fix not in text
    assert AUDIT.audit.kind not in text.replace(AUDIT.id, "")
    assert "seed" not in text
