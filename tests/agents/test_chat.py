"""The chat client against a real HTTP endpoint on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from agents.fake_model_server import MODEL, TOKEN, Answer, FakeModelServer, fails, says
from sql_optim_env.agents import chat
from sql_optim_env.agents.chat import ChatClient, ContextTooLong, Message, ModelRefused, ModelUnavailable, Reply, RetryPolicy
from sql_optim_env.errors import InvalidArgumentError

HELLO: list[Message] = [{"role": "user", "content": "hello"}]
BOTH = pytest.mark.parametrize("stream", [False, True])


class Asked:
    """A client of a fake endpoint, with what it said and how long it would have slept."""

    def __init__(self, server: FakeModelServer, **options: Any) -> None:
        self.server = server
        self.waits: list[float] = []
        self.said: list[str] = []
        options = {"model": MODEL, "token": TOKEN, "retry": RetryPolicy(retries=2), "timeout_s": 20.0, **options}
        self.client = ChatClient(server.url, sleep=self.waits.append, say=self.said.append, **options)

    def ask(self) -> Reply:
        return self.client.ask(HELLO)


@contextmanager
def asked(*answers: Answer, **options: Any) -> Iterator[Asked]:
    with FakeModelServer(*answers) as server:
        client = Asked(server, **options)
        try:
            yield client
        finally:
            client.client.close()


@BOTH
def test_a_reply_comes_with_its_text_and_its_tokens(stream: bool) -> None:
    with asked(says("héllo, wörld"), stream=stream) as it:
        assert it.ask() == Reply("héllo, wörld", cut_off=False, prompt_tokens=100, completion_tokens=7)
        request = it.server.requests[0]
        assert (request["model"], request["messages"], request["temperature"], request["stream"]) == (MODEL, HELLO, 0.0, stream)
        assert ("max_tokens" in request, "stream_options" in request) == (False, stream)


@BOTH
def test_the_token_is_in_the_authorization_header_and_nowhere_else(stream: bool) -> None:
    with asked(says("yes"), stream=stream) as it:
        it.ask()
        headers = it.server.headers[0]
        assert headers.pop("authorization") == f"Bearer {TOKEN}"
        assert TOKEN not in json.dumps([headers, it.server.requests])


def test_without_a_token_there_is_no_authorization_header_even_if_the_library_finds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone-else")
    with FakeModelServer(says("yes"), token="") as server:
        client = Asked(server, token="")
        assert client.ask().text == "yes"
        client.client.close()
        assert "authorization" not in server.headers[0]
        assert "sk-of-someone-else" not in json.dumps(server.headers)


def test_the_temperature_can_be_left_to_the_endpoint_and_the_length_be_limited() -> None:
    with asked(says("yes"), temperature=None, max_tokens=50) as it:
        it.ask()
        assert ("temperature" in it.server.requests[0], it.server.requests[0]["max_tokens"]) == (False, 50)


@BOTH
@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_reply_is_a_reply(stream: bool, content: str | None) -> None:
    with asked(says(content), stream=stream) as it:
        assert it.ask().text == ""


def test_the_text_parts_of_a_list_are_put_together() -> None:
    with asked(says([{"type": "text", "text": "one "}, {"type": "image", "url": "x"}, {"type": "text", "text": "two"}])) as it:
        assert it.ask().text == "one two"


@BOTH
def test_a_reply_that_a_limit_cut_off_says_so(stream: bool) -> None:
    with asked(says('{"kind": "que', finish="length"), stream=stream) as it:
        reply = it.ask()
        assert (reply.text, reply.cut_off) == ('{"kind": "que', True)


@BOTH
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_passing_trouble_is_waited_out_twice_as_long_each_time(stream: bool, status: int) -> None:
    with asked(fails(status, "busy"), fails(status, "busy"), says("at last"), stream=stream) as it:
        assert it.ask().text == "at last"
        assert it.waits == [1.0, 2.0]
        assert it.said[0] == f"the model's endpoint: {status}: busy; trying again in 1 s (1 of 2)"


def test_retry_after_says_how_long_within_the_longest_wait() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    answers = (fails(429, retry_after="7"), fails(429, retry_after="900"), fails(429, retry_after=later), fails(429, retry_after="soon"))
    with asked(*answers, says("yes"), retry=RetryPolicy(retries=4)) as it:
        assert it.ask().text == "yes"
        assert it.waits[:2] == [7.0, 60.0]
        assert 20 < it.waits[2] <= 30
        assert it.waits[3] == 8.0


@BOTH
def test_trouble_that_does_not_pass_ends_after_so_many_retries(stream: bool) -> None:
    with asked(fails(503, "down for\nmaintenance"), stream=stream) as it:
        with pytest.raises(ModelUnavailable, match=r"did not answer in 3 attempts; the last: 503: down for maintenance"):
            it.ask()
        assert len(it.server.requests) == 3


def test_without_retries_the_first_failure_is_the_last() -> None:
    with asked(fails(500), retry=RetryPolicy(retries=0)) as it:
        with pytest.raises(ModelUnavailable, match="in 1 attempts"):
            it.ask()
        assert it.waits == []


@BOTH
@pytest.mark.parametrize(
    ("options", "status", "hint"),
    [({"token": "hf_wrongwrongwrong"}, 401, "is HF_TOKEN right"), ({"model": "no/such"}, 404, "is MODEL_NAME right")],
)
def test_a_refusal_for_good_is_not_tried_again(stream: bool, options: dict[str, str], status: int, hint: str) -> None:
    with asked(says("yes"), stream=stream, **options) as it:
        with pytest.raises(ModelRefused, match=rf"{status}; {hint}") as refused:
            it.ask()
        assert len(it.server.headers) == 1
        assert "hf_wrong" not in str(refused.value)


def test_a_wrong_path_is_a_refusal() -> None:
    with FakeModelServer(says("yes")) as server:
        client = ChatClient(server.url.removesuffix("/v1"), MODEL, TOKEN)
        with pytest.raises(ModelRefused, match="does API_BASE_URL end as the API wants it"):
            client.ask(HELLO)
        client.close()


def test_a_quota_that_is_used_up_is_not_waited_for() -> None:
    with asked(fails(429, "You exceeded your current quota", "insufficient_quota")) as it:
        with pytest.raises(ModelRefused, match="exceeded your current quota"):
            it.ask()
        assert it.waits == []


@pytest.mark.parametrize("said", ["This model's maximum context length is 8192 tokens.", "prompt is too long: 9000 tokens"])
def test_a_conversation_that_is_too_long_is_told_apart(said: str) -> None:
    with asked(fails(400, said, "context_length_exceeded")) as it, pytest.raises(ContextTooLong, match="too long"):
        it.ask()


def test_a_token_limit_per_minute_is_no_conversation_that_is_too_long() -> None:
    with asked(fails(429, "Request exceeds the limit of tokens per minute"), says("yes")) as it:
        assert it.ask().text == "yes"


@BOTH
def test_a_connection_that_drops_in_the_middle_is_tried_again(stream: bool) -> None:
    with asked(says("a reply that is never sent to its end", drop=True), says("whole"), stream=stream) as it:
        assert it.ask().text == "whole"
        assert len(it.server.requests) == 2


@BOTH
def test_an_endpoint_that_does_not_answer_in_time_is_tried_again(stream: bool) -> None:
    with asked(says("late", hang_s=30), says("in time"), stream=stream, timeout_s=0.5) as it:
        assert it.ask().text == "in time"
        assert "no answer within 0.5 s" in it.said[0]


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    with FakeModelServer(says("yes")) as server:
        url = server.url
    client = ChatClient(url, MODEL, retry=RetryPolicy(retries=1), sleep=lambda _: None)
    with pytest.raises(ModelUnavailable, match="the connection failed"):
        client.ask(HELLO)
    client.close()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"choices": [{"mess', "application/json"),
        (b"<html>hello</html>", "text/html"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (b'{"choices": []}', "application/json"),
        (b'{"choices": null}', "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"", "application/json"),
    ],
)
def test_an_answer_that_is_no_completion_is_tried_again(body: bytes, content_type: str) -> None:
    with asked(Answer(body=body, content_type=content_type), says("yes")) as it:
        assert it.ask().text == "yes"
        assert len(it.waits) == 1


@pytest.mark.parametrize("message", [b'"message": null', b'"message": "text"', b'"message": {"content": 5}', b'"text": "old"'])
def test_a_choice_without_content_is_an_empty_reply(message: bytes) -> None:
    with asked(Answer(body=b'{"choices": [{' + message + b"}]}")) as it:
        assert it.ask().text == ""


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_under_a_status_of_200_counts_by_its_code(stream: bool) -> None:
    def inside(code: object) -> Answer:
        error = {"message": "upstream failed", "code": code}
        return says("x", error_in_stream=error) if stream else Answer(body=json.dumps({"error": error}).encode())

    with asked(inside(502), inside("overloaded"), says("yes"), stream=stream) as it:
        assert it.ask().text == "yes"
        assert len(it.waits) == 2
    with asked(inside(401), says("yes"), stream=stream) as it, pytest.raises(ModelRefused, match="upstream failed"):
        it.ask()


def test_a_stream_without_done_is_whole_when_it_said_how_it_finished() -> None:
    with asked(says("all of it", done=False), stream=True) as it:
        assert it.ask().text == "all of it"


def test_a_stream_that_just_ends_is_tried_again() -> None:
    with asked(says("half of", finish=None, done=False), says("all of it"), stream=True) as it:
        assert it.ask().text == "all of it"
        assert "ended before the reply was complete" in it.said[0]


def test_a_broken_chunk_is_tried_again() -> None:
    with asked(says("half", broken_chunk=True), says("all of it"), stream=True) as it:
        assert it.ask().text == "all of it"
        assert "not valid JSON" in it.said[0]


def test_an_endpoint_that_answers_in_one_piece_though_asked_to_stream_is_told_apart() -> None:
    with asked(Answer(body=b'{"choices": []}'), stream=True) as it, pytest.raises(ModelUnavailable, match="stream ended before"):
        it.ask()


def test_an_endpoint_that_does_not_know_stream_options_is_asked_without_from_then_on() -> None:
    with asked(fails(400, "Unrecognized request argument: stream_options"), says("yes"), stream=True) as it:
        assert it.ask().text == "yes"
        it.ask()
        assert ["stream_options" in request for request in it.server.requests] == [True, False, False]


def test_a_stream_that_never_stops_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "MAX_REPLY_CHARS", 50)
    with asked(says("la " * 1_000), stream=True) as it:
        reply = it.ask()
        assert reply.cut_off
        assert 50 < len(reply.text) < 100


@pytest.mark.parametrize("url", ["", "localhost:8080/v1", "ftp://host/v1", "http://", "http://[bad/v1", "http://host:99999/v1"])
def test_an_address_that_cannot_be_asked_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="must be an http"):
        ChatClient(url, MODEL)


def test_a_token_that_no_header_can_hold_is_refused_and_not_shown() -> None:
    for token in ("hf_ü", "hf_a\nX-Evil: 1"):
        with pytest.raises(InvalidArgumentError, match="holds characters") as refused:
            ChatClient("http://localhost/v1", MODEL, token)
        assert "hf_" not in str(refused.value)


def test_waits_are_bounded_whatever_is_asked_for() -> None:
    policy = RetryPolicy(first_wait_s=1.0, longest_wait_s=10.0)
    assert [policy.wait_s(attempt, None) for attempt in range(5)] == [1.0, 2.0, 4.0, 8.0, 10.0]
    assert (policy.wait_s(0, -5.0), policy.wait_s(0, float("inf")), policy.wait_s(3, 0.0)) == (0.0, 10.0, 0.0)
