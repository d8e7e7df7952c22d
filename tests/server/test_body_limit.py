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
    asyncio.run(BodyLimit(_echo_length, LIMIT)(scope, receive, send))  # type: ignore[arg-type]
    return sent[0]["status"], sent[1]["body"], total - len(pending)


@pytest.mark.parametrize("says", [True, False])
def test_a_body_of_just_the_limit_passes_whole(says: bool) -> None:
    assert ask([b"x" * 60, b"x" * 40], says=100 if says else None) == (200, b"100", 2)


def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    status, body, read = ask([b"x" * 101], says=101)
    assert (status, read) == (413, 0)
    assert body == b'{"detail":"the body is larger than 100 bytes"}'


def test_a_body_that_does_not_say_is_refused_once_it_is_over() -> None:
    status, _, read = ask([b"x" * 60, b"x" * 60, b"x" * 60, b"x" * 60])
    assert (status, read) == (413, 2)


def test_a_body_that_lies_about_its_length_is_refused() -> None:
    assert ask([b"x" * 500], says=5)[0] == 413


def test_other_protocols_pass_untouched() -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(BodyLimit(application, LIMIT)({"type": "websocket", "headers": []}, None, None))  # type: ignore[arg-type]
    assert seen == ["websocket"]
