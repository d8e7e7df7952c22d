"""An ASGI layer that answers 413 to a request whose body is larger than allowed, whether or not it says its length."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyLimit"]

_PATIENCE = 8
"""How many times the limit is read and thrown away before a refusal: a client that is still sending when the connection closes may see a
reset instead of the answer."""


class BodyLimit:
    """Reads at most ``limit`` bytes of a body before the application sees any of it.

    The body is held back rather than counted on its way, since a framework that meets an error in the middle of a body turns it into
    its own answer (400). What is held is bounded by the limit.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held: list[Message] = []
        size = 0
        more = True
        while more and size <= self._limit:
            message = await receive()
            held.append(message)
            size += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
        if size > self._limit:
            held.clear()
            await self._refuse(scope, receive, send, size if more else None)
            return

        async def replay() -> Message:
            return held.pop(0) if held else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, read: int | None) -> None:
        """``read`` bytes have been read of a body that goes on, None of one that is complete."""
        while read is not None and read < _PATIENCE * self._limit:
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)
            read = read + len(message.get("body", b"")) if more else None
        answer = JSONResponse({"detail": f"the body is larger than {self._limit} bytes"}, 413, {"Connection": "close"})
        await answer(scope, receive, send)
