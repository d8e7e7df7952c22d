"""The typed client against a real server, asynchronous and synchronous."""

from __future__ import annotations

import asyncio

import pytest

from sql_optim_env import InfraFault, ServerError, SessionExpired, SQLOptimAction, SQLOptimEnv, SQLOptimState
from sql_optim_env.errors import InfraError, SQLOptimError
from sql_optim_env.tasks.catalogue import catalogue, public_spec

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
REFERENCE = SQLOptimAction(optimized_query=TASK.rewrite.reference_sql)
ENDLESS = SQLOptimAction(kind="query", sql="SELECT COUNT(*) AS n FROM events AS a, events AS b WHERE a.id * b.id % 7919 = 3")


def test_reward_and_done_stand_on_the_observation_too(server) -> None:
    with SQLOptimEnv(base_url=server.url).sync() as env:
        opened = env.reset(task_id=TASK.id, reward_profile="execution")
        assert (opened.reward, opened.observation.reward, opened.done, opened.observation.done) == (None, None, False, False)
        wrong = env.step(SQLOptimAction(optimized_query="SELECT 1 AS one"))
        assert (wrong.reward, wrong.observation.reward, wrong.done, wrong.observation.done) == (0.0, 0.0, False, False)
        right = env.step(REFERENCE)
        assert (right.reward, right.observation.reward, right.done, right.observation.done) == (1.0, 1.0, True, True)
        assert right.observation.score == 1.0
        assert right.metadata == right.observation.metadata


def test_the_asynchronous_client_plays_the_same_episode(server) -> None:
    async def play() -> tuple[float | None, SQLOptimState]:
        async with SQLOptimEnv(base_url=server.url) as env:
            await env.reset(task_id=TASK.id, episode_id="mine", reward_profile="execution")
            result = await env.step(REFERENCE)
            return result.reward, await env.state()

    reward, state = asyncio.run(play())
    assert reward == 1.0
    assert isinstance(state, SQLOptimState)
    assert (state.episode_id, state.step_count, state.best_score, state.episode_done) == ("mine", 1, 1.0, True)


def test_a_refused_call_is_a_server_error_and_the_session_lives(server) -> None:
    with SQLOptimEnv(base_url=server.url).sync() as env:
        with pytest.raises(ServerError, match="call reset first") as refusal:
            env.step(REFERENCE)
        assert refusal.value.code == "EXECUTION_ERROR"
        assert isinstance(refusal.value, SQLOptimError)
        assert isinstance(refusal.value, RuntimeError)
        with pytest.raises(ServerError, match="reset takes no colour"):
            env.reset(colour="red")
        bad = SQLOptimAction.model_construct(kind="jump", **{})
        with pytest.raises(ServerError, match=r"kind: Input should be 'submit'") as malformed:
            env.step(bad)
        assert malformed.value.code == "VALIDATION_ERROR"
        assert env.reset(task_id=TASK.id).observation.task_id == TASK.id


def test_a_worker_killed_from_outside_is_an_infra_fault(server) -> None:
    async def play() -> None:
        async with SQLOptimEnv(base_url=server.url) as env:
            await env.reset(task_id=TASK.id)
            step = asyncio.create_task(env.step(ENDLESS))
            (await asyncio.to_thread(server.busy_worker)).kill()
            with pytest.raises(InfraFault, match=r"^infra_error: ") as fault:
                await step
            assert isinstance(fault.value, InfraError)
            assert (await env.step(REFERENCE)).observation.score > 0.5

    asyncio.run(play())


def test_after_an_idle_time_the_next_reset_opens_a_new_session(hasty_server) -> None:
    hasty_server.wait_for_sessions(0)
    with SQLOptimEnv(base_url=hasty_server.url).sync() as env:
        env.reset(task_id=TASK.id)
        hasty_server.wait_for_sessions(0)
        with pytest.raises(SessionExpired, match=r"^session_expired: "):
            env.step(REFERENCE)
        assert env.reset(task_id=TASK.id).observation.task_id == TASK.id
        assert env.step(REFERENCE).observation.score > 0.5


def test_the_task_api_is_on_the_client(server) -> None:
    with SQLOptimEnv(base_url=server.url).sync() as env:
        assert [split["name"] for split in env.list_splits()] == ["train", "test"]
        specs = [public_spec(task) for task in catalogue().select(split="test")]
        assert env.list_tasks("test") == specs
        assert env.num_tasks("test") == len(specs)
        assert env.get_task("test", 0) == specs[0]
        assert env.get_task_range("test", 0, 1) == specs[:1]
        with pytest.raises(ServerError, match="Invalid task index") as refusal:
            env.get_task("test", -1)
        assert refusal.value.code == "HTTP_400"
        assert env.reset(split="test", index=0).observation.task_id == specs[0]["id"]


def test_a_full_server_is_a_server_error_with_its_code(small_server) -> None:
    with small_server.session() as one, small_server.session() as two:
        one.reset(task_id=TASK.id)
        two.reset(task_id=TASK.id)
        with SQLOptimEnv(base_url=small_server.url).sync() as env, pytest.raises(ServerError) as refusal:
            env.reset(task_id=TASK.id)
        assert refusal.value.code == "CAPACITY_REACHED"


def test_a_client_waits_longer_than_the_longest_step() -> None:
    assert SQLOptimEnv(base_url="http://localhost:1")._message_timeout == 120.0
    assert SQLOptimEnv(base_url="http://localhost:1", message_timeout_s=5)._message_timeout == 5
