from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from agents.fake_model_server import MODEL, TOKEN, FakeModelServer, acts, says
from sql_optim_env.agents.chat import ChatClient, ContextTooLong, Message, ModelUnavailable, Reply
from sql_optim_env.agents.llm import ModelPlayer
from sql_optim_env.agents.player import LocalSession, play
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation

NOTHING = SQLOptimAction()


class Scripted:
    """A chat that gives the replies of a list and keeps what it was asked."""

    def __init__(self, *replies: str | Reply | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    def ask(self, messages: Sequence[Message]) -> Reply:
        self.asked.append(list(messages))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply, prompt_tokens=10, completion_tokens=2) if isinstance(reply, str) else reply


def query(sql: str) -> str:
    return json.dumps({"kind": "query", "sql": sql})


def seen(step: int, **fields: object) -> SQLOptimObservation:
    return SQLOptimObservation.model_validate(
        {"instructions": "Do this.", "task_name": "T", "step_count": step, "submissions_left": 1, "explorations_left": 9, **fields}
    )


def roles(messages: Sequence[Message]) -> str:
    return "".join(message["role"][0] for message in messages)


def test_the_conversation_is_the_opening_and_then_actions_and_outcomes_in_turn() -> None:
    chat = Scripted(query("SELECT 1"), query("SELECT 2"), '{"kind": "submit", "answer": "a"}')
    player = ModelPlayer(chat, "m")
    assert player.act(seen(0)) == SQLOptimAction(kind="query", sql="SELECT 1")
    assert player.act(seen(1, rows=[[41]])) == SQLOptimAction(kind="query", sql="SELECT 2")
    assert player.act(seen(2, rows=[[42]])) == SQLOptimAction(answer="a")
    assert [roles(messages) for messages in chat.asked] == ["u", "uau", "uauau"]
    last = chat.asked[-1]
    assert last[0]["content"].startswith("Do this.")
    assert last[1]["content"] == '{"kind": "query", "sql": "SELECT 1"}'
    assert ("[41]" in last[2]["content"], "[42]" in last[4]["content"]) == (True, True)
    assert "Do this." not in last[2]["content"]
    assert (player.tokens.requests, player.tokens.prompt, player.tokens.completion) == (3, 30, 6)


def test_an_opening_begins_a_new_conversation() -> None:
    chat = Scripted(query("SELECT 1"))
    player = ModelPlayer(chat, "m")
    player.act(seen(0))
    player.act(seen(1))
    player.act(seen(0, instructions="Another."))
    assert roles(chat.asked[-1]) == "u"
    assert chat.asked[-1][0]["content"].startswith("Another.")


def test_a_reply_that_is_no_action_is_answered_with_the_reason() -> None:
    said: list[str] = []
    chat = Scripted("I would say SELECT 1", '{"kind": "look"}', query("SELECT 1"), query("SELECT 2"))
    player = ModelPlayer(chat, "m", say=said.append)
    assert player.act(seen(0)) == SQLOptimAction(kind="query", sql="SELECT 1")
    assert [roles(messages) for messages in chat.asked] == ["u", "uau", "uauau"]
    assert chat.asked[1][1]["content"] == "I would say SELECT 1"
    assert "There is no JSON object" in chat.asked[1][2]["content"]
    assert "kind: Input should be" in chat.asked[2][4]["content"]
    assert len(said) == 2
    player.act(seen(1))
    assert "I would say" not in json.dumps(chat.asked[-1])


@pytest.mark.parametrize("reply", ["", "no", Reply('{"kind": "subm', cut_off=True), "<think>hm</think>"])
def test_a_model_that_gives_no_action_submits_nothing_after_three_corrections(reply: str | Reply) -> None:
    chat = Scripted(reply)
    assert ModelPlayer(chat, "m").act(seen(0)) == NOTHING
    assert len(chat.asked) == 4
    assert all(message["content"] for messages in chat.asked for message in messages)


def test_so_an_episode_comes_to_its_end_whatever_the_model_says(session: LocalSession) -> None:
    result = play(session, ModelPlayer(Scripted("no"), "m"), task_id="task_sample")
    assert (result.score, result.player) == (0.0, "m")


def test_no_correction_is_possible_too() -> None:
    chat = Scripted("no")
    assert ModelPlayer(chat, "m", corrections=0).act(seen(0)) == NOTHING
    assert len(chat.asked) == 1


def test_old_turns_are_left_out_and_named_and_the_newest_kept() -> None:
    chat = Scripted(*[query(f"SELECT {number}") for number in range(1, 31)])
    player = ModelPlayer(chat, "m", context_chars=2_000)
    player.act(seen(0))
    for step in range(1, 30):
        player.act(seen(step, feedback=f"outcome {step} " + "x" * 300))
    last = chat.asked[-1]
    assert roles(last) in ("uauau", "uauauau", "uauauauau")
    assert sum(len(message["content"]) for message in last[1:]) <= 2_000
    assert last[-2]["content"] == query("SELECT 29")
    assert "outcome 29 " in last[-1]["content"]
    left_out = 29 - len(last) // 2
    assert f"({left_out} earlier actions are left out here" in last[0]["content"]
    assert last[0]["content"].endswith(f"- query:SELECT {left_out})")
    assert last[0]["content"].count("- query:") == 20


def test_the_newest_turn_is_there_even_when_it_alone_is_too_long() -> None:
    chat = Scripted(query("SELECT 1"), query("SELECT 2"))
    player = ModelPlayer(chat, "m", context_chars=10)
    player.act(seen(0))
    player.act(seen(1, feedback="x" * 500))
    assert "x" * 500 in chat.asked[-1][-1]["content"]


def test_a_conversation_that_the_model_finds_too_long_is_halved_and_asked_again() -> None:
    chat = Scripted(
        *[query(f"SELECT {number}") for number in range(4)], ContextTooLong("too long"), ContextTooLong("too long"), query("SELECT 9")
    )
    player = ModelPlayer(chat, "m")
    for step in range(5):
        action = player.act(seen(step))
    assert action.sql == "SELECT 9"
    assert [roles(messages) for messages in chat.asked[-3:]] == ["uauauauau", "uauau", "uau"]


def test_an_opening_that_is_too_long_for_the_model_is_an_error() -> None:
    with pytest.raises(ContextTooLong):
        ModelPlayer(Scripted(ContextTooLong("too long")), "m").act(seen(0))


def test_a_model_that_is_not_there_is_an_error_and_no_submission() -> None:
    with pytest.raises(ModelUnavailable):
        ModelPlayer(Scripted(ModelUnavailable("gone")), "m").act(seen(0))


@pytest.mark.parametrize("stream", [False, True])
def test_an_episode_with_a_model_behind_http(session: LocalSession, stream: bool) -> None:
    answers = [
        says("<think>…</think>Let me see."),
        says(None),
        acts(kind="query", sql="SELECT 1"),
        acts(optimized_query="REFERENCE", approved=False),
    ]
    with FakeModelServer(*answers) as server:
        client = ChatClient(server.url, MODEL, TOKEN, stream=stream)
        player = ModelPlayer(client, MODEL)
        result = play(session, player, task_id="task_sample")
        client.close()
    assert (result.rewards, result.score, result.player) == ((0.0, 0.63), 0.63, MODEL)
    # The fifth repeats the submission, which ends the play.
    assert (player.tokens.requests, player.tokens.completion) == (5, 35)
