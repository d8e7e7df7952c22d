"""An ASGI layer that answers 413 to a request whose body is larger than allowed, whether or not it says its length."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyLimit"]


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
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > self._limit:
                await self._refuse(scope, receive, send)
                return
        held: list[Message] = []
        size = 0
        while True:
            message = await receive()
            held.append(message)
            size += len(message.get("body", b""))
            if size > self._limit:
                await self._refuse(scope, receive, send)
                return
            if message["type"] != "http.request" or not message.get("more_body", False):
                break

        async def replay() -> Message:
            return held.pop(0) if held else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The rest of the body is not read: the connection cannot be used again.
        answer = JSONResponse({"detail": f"the body is larger than {self._limit} bytes"}, 413, {"Connection": "close"})
        await answer(scope, receive, send)
