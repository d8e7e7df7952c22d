"""OpenEnv's envelope and every row of its error table, over a raw WebSocket."""

from __future__ import annotations

import json

import pytest
from websockets.exceptions import ConnectionClosed

from sql_optim_env.errors import ErrorCode
from sql_optim_env.models import SQLOptimObservation, SQLOptimState
from sql_optim_env.tasks.catalogue import catalogue

TASK = next(task for task in catalogue().select(family="rewrite") if not task.rewrite.optimal)
REFERENCE = TASK.rewrite.reference_sql


def code(answer) -> str:
    assert answer["type"] == "error", answer
    return answer["data"]["code"]


def assert_lives(wire) -> None:
    answer = wire.reset(task_id=TASK.id)
    assert answer["type"] == "observation"
    assert answer["data"]["observation"]["task_id"] == TASK.id


def test_reset_answers_an_observation_without_a_reward(wire) -> None:
    answer = wire.reset(task_id=TASK.id, seed=1, episode_id="mine")
    assert answer["type"] == "observation"
    assert set(answer["data"]) == {"observation", "reward", "done", "metadata"}
    assert (answer["data"]["reward"], answer["data"]["done"]) == (None, False)
    observation = answer["data"]["observation"]
    assert "reward" not in observation
    assert "done" not in observation
    assert set(observation) == set(SQLOptimObservation.model_fields) - {"reward", "done"}
    assert observation["sql_query"] == TASK.sql


def test_a_step_carries_reward_and_done_in_the_envelope(wire) -> None:
    wire.reset(task_id=TASK.id, reward_profile="execution")
    answer = wire.step(optimized_query=REFERENCE)
    assert (answer["data"]["reward"], answer["data"]["done"]) == (1.0, True)
    assert answer["data"]["observation"]["score"] == 1.0


def test_metadata_repeats_what_typed_fields_say(wire) -> None:
    wire.reset(task_id=TASK.id)
    observation = wire.step(optimized_query=REFERENCE)["data"]["observation"]
    assert observation["metadata"] == {
        "reward_breakdown": observation["reward_breakdown"],
        "feedback": observation["feedback"],
        "execution": observation["last_execution"],
    }
    assert observation["last_execution"]["submitted_cost"] < observation["last_execution"]["original_cost"]


def test_state_is_the_live_state_without_an_answer(wire) -> None:
    wire.reset(task_id=TASK.id, episode_id="mine")
    wire.step(kind="query", sql="SELECT 1 AS one")
    state = wire.state()
    assert set(state) == set(SQLOptimState.model_fields)
    assert (state["episode_id"], state["step_count"], state["task_id"]) == ("mine", 1, TASK.id)
    assert TASK.rewrite.reference_sql not in json.dumps(state)


@pytest.mark.parametrize("text", ["", "{", "reset", '{"type": "reset"'])
def test_bad_json_is_invalid_json_and_the_session_lives(wire, text: str) -> None:
    assert code(wire.say(text)) == "INVALID_JSON"
    assert_lives(wire)


@pytest.mark.parametrize("message", [{}, {"type": "jump"}, {"type": ""}, {"type": 5}])
def test_an_unknown_type_is_said_and_the_session_lives(wire, message: object) -> None:
    assert code(wire.say(message)) == "UNKNOWN_TYPE"
    assert_lives(wire)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "step"},
        {"type": "step", "data": {}, "extra": 1},
        {"type": "step", "data": [1]},
        {"type": "reset", "data": "x"},
        {"type": "step", "data": {"kind": "jump"}},
        {"type": "step", "data": {"no_such_field": 1}},
        {"type": "step", "data": {"optimized_query": 5}},
        {"type": "step", "data": {"approved": "perhaps"}},
        {"type": "step", "data": {"suggestions": [{}]}},
        {"type": "step", "data": {"suggestions": [{"issue_type": "x", "line": 0}]}},
        {"type": "step", "data": {"suggestions": [{"issue_type": "x"}] * 65}},
        {"type": "step", "data": {"summary": "x" * 20_001}},
        {"type": "step", "data": {"ddl": ["x"] * 65}},
    ],
)
def test_a_malformed_message_is_a_validation_error_and_the_session_lives(wire, message: object) -> None:
    assert code(wire.say(message)) == "VALIDATION_ERROR"
    assert_lives(wire)


def test_a_refused_reset_says_what_exists_and_the_session_lives(wire) -> None:
    for arguments, words in (
        ({"task_id": "nope"}, TASK.id),
        ({"split": "nope"}, "train, test"),
        ({"split": "train", "index": 10**6}, "counted from 0"),
        ({"split": "train", "index": -1}, "whole number"),
        ({"seed": -1}, "whole number"),
        ({"seed": "1"}, "whole number"),
        ({"family": "nope"}, "rewrite"),
        ({"difficulty": "nope"}, "expert"),
        ({"reward_profile": "nope"}, "composite"),
        ({"colour": "red", "seed": 1}, "reset takes no colour; it takes seed"),
    ):
        answer = wire.reset(**arguments)
        assert code(answer) == "EXECUTION_ERROR"
        assert words in answer["data"]["message"]
    assert_lives(wire)


def test_a_step_before_reset_and_after_the_end_is_refused_and_the_session_lives(wire) -> None:
    answer = wire.step(optimized_query=REFERENCE)
    assert code(answer) == "EXECUTION_ERROR"
    assert answer["data"]["message"].startswith("there is no episode: call reset first")
    wire.reset(task_id=TASK.id, reward_profile="execution")
    assert wire.step(optimized_query=REFERENCE)["data"]["done"] is True
    answer = wire.step(optimized_query=REFERENCE)
    assert code(answer) == "EXECUTION_ERROR"
    assert answer["data"]["message"] == "the episode is over: call reset"
    assert_lives(wire)


@pytest.mark.parametrize("frame", ["[]", "null", "5", '"reset"', b"\x00\x01"])
def test_json_that_is_no_object_and_binary_frames_end_the_session_and_no_other(wire, server, frame: str | bytes) -> None:
    with server.session() as victim:
        assert code(victim.say(frame)) == "SESSION_ERROR"
        with pytest.raises(ConnectionClosed):
            victim.connection.recv(10)
    assert_lives(wire)


def test_a_frame_over_the_limit_closes_the_session_with_1009_and_no_other(wire, server) -> None:
    with server.session() as victim:
        with pytest.raises(ConnectionClosed) as closed:
            victim.say({"type": "step", "data": {"optimized_query": "x" * 42_000_000}})
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
    assert_lives(wire)


def test_close_ends_the_session_in_good_order(server) -> None:
    with server.session() as session:
        session.connection.send('{"type": "close"}')
        with pytest.raises(ConnectionClosed) as closed:
            session.connection.recv(10)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("", ErrorCode.EMPTY_SQL),
        ("SELEC 1", ErrorCode.SYNTAX_ERROR),
        ("SELECT 1; SELECT 2", ErrorCode.NOT_ONE_SELECT),
        ("DROP TABLE users", ErrorCode.NOT_ONE_SELECT),
        ("SELECT random()", ErrorCode.REFUSED_FUNCTION),
        ("SELECT * FROM '/etc/passwd'", ErrorCode.REFUSED_TABLE),
        ("SELECT nope FROM users", ErrorCode.BINDING_ERROR),
        ("SELECT CAST(email AS INTEGER) FROM users", ErrorCode.EXECUTION_ERROR),
        ("SELECT '" + "x" * 30_000 + "'", ErrorCode.SQL_TOO_LONG),
    ],
)
def test_the_agents_mistakes_are_observations_with_a_code(wire, sql: str, error: ErrorCode) -> None:
    wire.reset(task_id=TASK.id)
    answer = wire.step(kind="query", sql=sql)
    assert answer["type"] == "observation"
    assert answer["data"]["reward"] == 0.0
    assert answer["data"]["observation"]["error"]["code"] == error.value
    assert wire.state()["step_count"] == 1


def test_the_same_seed_draws_the_same_task_in_every_session(server) -> None:
    drawn = []
    for _ in range(3):
        with server.session() as session:
            drawn.append([session.reset(seed=seed)["data"]["observation"]["task_id"] for seed in range(12)])
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(set(drawn[0])) > 2


def test_no_observation_of_an_episode_reaches_256_kib(server) -> None:
    wide = "SELECT " + ", ".join(f"repeat(email, 20) AS c{n}" for n in range(40)) + " FROM users"
    with server.session() as session:
        session.reset(task_id=TASK.id)
        for action in ({"kind": "query", "sql": wide}, {"kind": "explain", "sql": TASK.sql}, {"optimized_query": REFERENCE}):
            session.connection.send(json.dumps({"type": "step", "data": action}))
            assert len(session.connection.recv(60)) < 256 * 1024
