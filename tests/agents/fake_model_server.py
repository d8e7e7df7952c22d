"""A model's endpoint on this machine: the real ``/v1/chat/completions`` protocol, in one piece and streamed, with every kind of trouble.

It checks a request as strictly as real endpoints do (path, credentials, model, roles in turn), then gives the next scripted answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "fake/model-1"
TOKEN = "hf_secretsecretsecret"


@dataclass(frozen=True)
class Answer:
    """What the endpoint does with one request."""

    content: Any = ""
    finish: str | None = "stop"
    status: int = 200
    message: str = ""
    code: object = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is in the place of an answer."""
    content_type: str = "application/json"
    hang_s: float = 0.0
    """Seconds before anything is sent, or until the endpoint is closed."""
    drop: bool = False
    """The connection is closed before the answer is complete."""
    done: bool = True
    """Whether a stream ends with [DONE]."""
    error_in_stream: dict[str, Any] | None = None
    """Sent after the first chunk."""
    broken_chunk: bool = False


def says(content: Any, finish: str | None = "stop", **more: Any) -> Answer:
    return Answer(content, finish, **more)


def acts(**action: Any) -> Answer:
    return Answer(json.dumps(action))


def fails(status: int, message: str = "no", code: object = None, **headers: str) -> Answer:
    return Answer(status=status, message=message, code=code, headers={name.replace("_", "-"): value for name, value in headers.items()})


Script = Callable[[dict[str, Any]], Answer]


def in_turn(answers: Sequence[Answer]) -> Script:
    """One answer after the other; the last again and again."""
    place = iter(range(10**9))
    return lambda request: answers[min(next(place), len(answers) - 1)]


class FakeModelServer:
    """As a context manager: listening on entry, gone on exit. ``requests`` holds the body of every request that was let in."""

    def __init__(self, *answers: Answer, script: Script | None = None, token: str = TOKEN) -> None:
        self.script = script or in_turn(answers)
        self.token = token
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        owner = self

        class Handler(_Handler):
            fake = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def judge(self, path: str, headers: dict[str, str], body: Any) -> Answer:
        """The scripted answer, or the refusal that a real endpoint would send."""
        self.headers.append(headers)
        if path != "/v1/chat/completions":
            return fails(404, "Not Found")
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return fails(401, f"Incorrect API key provided: {headers.get('authorization', '')}", "invalid_api_key")
        if body.get("model") != MODEL:
            return fails(404, f"The model {body.get('model')!r} does not exist", "model_not_found")
        roles = [message["role"] for message in body["messages"]]
        if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"] or not all(message["content"] for message in body["messages"]):
            return fails(400, f"Conversation roles must alternate, contents must not be empty: {roles}")
        self.requests.append(body)
        return self.script(body)


class _Handler(BaseHTTPRequestHandler):
    fake: FakeModelServer
    protocol_version = "HTTP/1.1"
    # A small write after another waits for the client's acknowledgement otherwise.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = self.fake.judge(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.fake.closing.wait(answer.hang_s)
        try:
            self._send(answer, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send(self, answer: Answer, body: dict[str, Any]) -> None:
        if answer.body is not None:
            self._whole(answer.status, answer.body, answer)
        elif answer.status != 200:
            error = {"message": answer.message, "type": "error", "param": None, "code": answer.code}
            self._whole(answer.status, json.dumps({"error": error}).encode(), answer)
        elif body.get("stream"):
            self._streamed(answer, bool((body.get("stream_options") or {}).get("include_usage")))
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": answer.content}, "finish_reason": answer.finish}
            whole = {**_head("chat.completion"), "choices": [choice], "usage": _USAGE}
            self._whole(200, json.dumps(whole).encode(), answer)

    def _whole(self, status: int, data: bytes, answer: Answer) -> None:
        self.send_response(status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if answer.drop else data)
        self.close_connection = self.close_connection or answer.drop

    def _streamed(self, answer: Answer, usage: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event({**_head("chat.completion.chunk"), "choices": [_delta({"role": "assistant", "content": ""})]})
        if answer.error_in_stream is not None:
            self._event({"error": answer.error_in_stream})
        if answer.broken_chunk:
            self._line(b'data: {"choices": [{"del\n\n')
        parts = [answer.content[at : at + 7] for at in range(0, len(answer.content), 7)] if isinstance(answer.content, str) else [None]
        for part in parts[: len(parts) // 2] if answer.drop else parts:
            self._event({**_head("chat.completion.chunk"), "choices": [_delta({"content": part})]})
        if answer.drop:
            self.close_connection = True
            return
        if answer.finish is not None:
            self._event({**_head("chat.completion.chunk"), "choices": [_delta({}, answer.finish)]})
        if usage:
            self._event({**_head("chat.completion.chunk"), "choices": [], "usage": _USAGE})
        if answer.done:
            self._line(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: dict[str, Any]) -> None:
        self._line(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _line(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


_USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": MODEL}


def _delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}
