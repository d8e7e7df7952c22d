from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from sql_optim_env.server.body_limit import BodyLimit

LIMIT = 100


async def _echo_length(scope: Any, receive: Any, send: Any) -> None:
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def ask(chunks: Iterable[bytes], *, says: int | None = None) -> tuple[int, bytes, int]:
    """The answer's status and body, and how many chunks were read."""
    pending = list(chunks)
    total = len(pending)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        body = pending.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(pending)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if says is None else [(b"content-length", str(says).encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    asyncio.run(BodyLimit(_echo_length, LIMIT)(scope, receive, send))
    return sent[0]["status"], sent[1]["body"], total - len(pending)


@pytest.mark.parametrize("says", [True, False])
def test_a_body_of_just_the_limit_passes_whole(says: bool) -> None:
    assert ask([b"x" * 60, b"x" * 40], says=100 if says else None) == (200, b"100", 2)


@pytest.mark.parametrize("says", [101, None, 5])
def test_a_larger_body_is_refused_whatever_it_says_about_its_length(says: int | None) -> None:
    status, body, _ = ask([b"x" * 60, b"x" * 41], says=says)
    assert status == 413
    assert body == b'{"detail":"the body is larger than 100 bytes"}'


def test_a_refused_body_is_read_to_its_end_so_that_the_client_sees_the_answer() -> None:
    assert ask([b"x" * 60] * 5)[::2] == (413, 5)


def test_an_endless_body_is_read_up_to_eight_times_the_limit() -> None:
    assert ask([b"x" * 60] * 1000)[::2] == (413, 14)


def test_a_client_that_goes_away_is_no_reason_to_wait() -> None:
    sent: list[object] = []
    messages = [{"type": "http.request", "body": b"x" * 200, "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, object]:
        return messages.pop(0)

    async def send(message: object) -> None:
        sent.append(message)

    asyncio.run(BodyLimit(_echo_length, LIMIT)({"type": "http", "headers": []}, receive, send))
    assert messages == []


def test_other_protocols_pass_untouched() -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(BodyLimit(application, LIMIT)({"type": "websocket", "headers": []}, None, None))
    assert seen == ["websocket"]
