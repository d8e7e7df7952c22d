"""Waiting for a server to become ready, whoever started it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Final

__all__ = ["READY_WITHIN_S", "ServerStartError", "get_json", "wait_until_ready"]

READY_WITHIN_S: Final = 300.0
"""Seconds that a first start may take: it builds every dataset."""

_POLL_S: Final = 0.05
_TIMEOUT_S: Final = 30.0


class ServerStartError(RuntimeError):
    """The server ended, failed to prepare, or did not become ready in time; the message says what it last said."""


def get_json(url: str, path: str) -> tuple[int, dict[str, Any]]:
    """Status and body of a GET; the body is empty where it is no JSON object. Raises ``OSError`` when the server does not answer."""
    base = f"http{url[2:]}" if url.startswith("ws") else url
    try:
        with urllib.request.urlopen(base.rstrip("/") + path, timeout=_TIMEOUT_S) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            status, text = error.code, error.read()
    except ValueError as error:
        raise OSError(f"{url!r} is no address: {error}") from None
    try:
        body = json.loads(text)
    except ValueError:
        body = {}
    return status, body if isinstance(body, dict) else {}


def wait_until_ready(
    url: str,
    say: Callable[[str], None] | None,
    *,
    within_s: float = READY_WITHIN_S,
    exit_code: Callable[[], int | None] | None = None,
) -> None:
    """Wait while a server prepares its datasets, and ``say`` what it says of that, each message once.

    ``exit_code`` is asked of a server that was just started, None while it runs: until it listens nobody answers, which otherwise is an
    ``OSError``. Raises :class:`ServerStartError` when the server ends, fails, or takes longer than ``within_s`` seconds.
    """
    end = time.monotonic() + within_s
    said = ""
    while True:
        try:
            status, body = get_json(url, "/ready")
        except OSError:
            if exit_code is None:
                raise
            status, body = 0, {}
        # A server without the path has nothing to prepare.
        if status in (200, 404):
            return
        progress = str(body.get("progress", ""))
        if progress and progress != said and say is not None:
            say(progress)
        said = progress or said
        if exit_code is not None and (code := exit_code()) is not None:
            raise ServerStartError(f"the server ended with exit code {code} before it was ready")
        if body.get("status") == "failed":
            raise ServerStartError(f"the server cannot become ready: {body.get('error') or said}")
        if time.monotonic() > end:
            raise ServerStartError(f"the server was not ready within {within_s:.0f} s; it last said: {said or f'status {status}'}")
        time.sleep(_POLL_S)  # the server is another process, and the wire has nothing to wait on
