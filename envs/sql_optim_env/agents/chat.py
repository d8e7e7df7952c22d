"""The HTTP side of asking a model: an OpenAI-compatible ``/chat/completions``, in one piece or streamed, with bounded retries.

ChatError                 no reply was to be had; the message never holds the token
├── ModelRefused          the endpoint says no for good: credentials, model name, address, a malformed request
│   └── ContextTooLong    the messages are more than the model takes in
└── ModelUnavailable      rate limits, faults of the endpoint or the network, beyond what is tried again
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

import openai

from sql_optim_env.errors import InvalidArgumentError, SQLOptimError

__all__ = ["Chat", "ChatClient", "ChatError", "ContextTooLong", "Message", "ModelRefused", "ModelUnavailable", "Reply", "RetryPolicy"]

Message = Mapping[str, str]
"""One message of a conversation: ``role`` (user or assistant) and ``content``."""

MAX_REPLY_CHARS = 400_000
"""A streamed reply is cut off here: no action is as long, and a model that never stops must not fill the memory."""

_RETRIED = frozenset({408, 409, 425, 429})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that waiting does not mend."""
_TOO_LONG = re.compile(
    r"context[ _](?:length|window)|maximum context|too many tokens|prompt is too long|exceeds? .{0,40}(?:context|tokens)", re.I
)
_SHOWN_CHARS = 500


class ChatError(SQLOptimError):
    """No reply was to be had from the model."""


class ModelRefused(ChatError):
    """Asking again would change nothing."""


class ContextTooLong(ModelRefused):
    """The conversation has to be shortened."""


class ModelUnavailable(ChatError):
    """The endpoint did not answer as it should, as often as it was tried."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is tried again, and the seconds to wait before: doubled each time, or what ``Retry-After`` asks for."""

    retries: int = 5
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, attempt: int, asked_s: float | None) -> float:
        """Seconds to wait after the failed ``attempt``, counted from 0; never more than ``longest_wait_s``."""
        wanted = self.first_wait_s * 2**attempt if asked_s is None else asked_s
        return max(0.0, min(wanted, self.longest_wait_s))


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said. ``cut_off``: it was stopped by a limit on its length. Tokens are 0 where the endpoint does not count."""

    text: str
    cut_off: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Chat(Protocol):
    """Something that answers a conversation."""

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The model's reply. Raises :class:`ChatError`."""


class _TryAgain(Exception):
    """A failure that may pass; ``wait_s`` is what the endpoint asked for."""

    def __init__(self, why: str, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class _StatedError(Exception):
    """An error object where a reply should be, under a status of 200."""

    def __init__(self, message: str, code: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = None if code is None else str(code)


class ChatClient:
    """One model behind one endpoint. Not thread-safe.

    Args:
        base_url: the API's address, up to and with its ``/v1``.
        token: sent as ``Authorization: Bearer`` and nowhere else; empty: no such header.
        temperature: None leaves it to the endpoint.
        max_tokens: the longest reply, None for the endpoint's own limit.
        timeout_s: seconds for one request; of a stream, for the whole of it.
        sleep: waits; replaced in tests.
        say: told of every retry.

    Raises :class:`InvalidArgumentError` for an address or a token that could not be used.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        token: str = "",
        *,
        stream: bool = False,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        timeout_s: float = 120.0,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        if not _is_http(base_url):
            raise InvalidArgumentError("the model's address must be an http:// or https:// URL such as http://localhost:8080/v1")
        self._token = token.strip()
        if not (self._token.isascii() and self._token.isprintable()):
            raise InvalidArgumentError("the model's token holds characters that an HTTP header cannot")
        self._retry = retry or RetryPolicy()
        self._sleep = sleep
        self._say = say
        self._timeout_s = timeout_s
        self._request: dict[str, Any] = {"model": model, "stream": stream}
        if stream:
            self._request["stream_options"] = {"include_usage": True}
        if temperature is not None:
            self._request["temperature"] = temperature
        if max_tokens is not None:
            self._request["max_tokens"] = max_tokens
        if not self._token:
            self._request["extra_headers"] = {"Authorization": openai.Omit()}
        # The library's own retries end where a stream begins, so all of them are made here.
        self._client = openai.OpenAI(base_url=base_url, api_key=self._token or "none", timeout=timeout_s, max_retries=0)

    def close(self) -> None:
        """Give back the connections. Idempotent."""
        self._client.close()

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The model's reply to the conversation; its text may be empty. Raises :class:`ChatError`."""
        attempt = 0
        while True:
            try:
                return self._ask_once(messages)
            except _TryAgain as trouble:
                why = self._clean(str(trouble))
                if attempt >= self._retry.retries:
                    raise ModelUnavailable(f"the model did not answer in {attempt + 1} attempts; the last: {why}") from None
                wait_s = self._retry.wait_s(attempt, trouble.wait_s)
            attempt += 1
            self._say(f"the model's endpoint: {why}; trying again in {wait_s:g} s ({attempt} of {self._retry.retries})")
            self._sleep(wait_s)

    def _ask_once(self, messages: Sequence[Message]) -> Reply:
        try:
            conversation: Any = [dict(message) for message in messages]
            answer: Any = self._client.chat.completions.create(messages=conversation, **self._request)
            return self._streamed(answer) if self._request["stream"] else _whole(answer)
        except openai.APITimeoutError:
            raise _TryAgain(f"no answer within {self._timeout_s:g} s") from None
        except openai.APIStatusError as error:
            raise self._judged(error.status_code, _words(error), error.code, _retry_after(error.response.headers)) from None
        except openai.APIConnectionError as error:
            raise _TryAgain(f"the connection failed ({error.__cause__ or error})") from None
        except (openai.APIError, _StatedError) as error:
            # An error object in a stream or in the place of a reply; its code, if it has one, is a status or a word.
            raise self._judged(_status(error.code), error.message, error.code, None) from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise _TryAgain(f"its answer is not valid JSON ({error})") from None

    def _streamed(self, chunks: Any) -> Reply:
        end = time.monotonic() + self._timeout_s
        text: list[str] = []
        length, finish = 0, None
        usage: Mapping[str, Any] = {}
        with chunks:
            for chunk in chunks:
                data = _plain(chunk)
                _refuse_error(data)
                choice = _first_choice(data)
                part = _text(_mapping(choice.get("delta")).get("content"))
                text.append(part)
                length += len(part)
                finish = choice.get("finish_reason") or finish
                usage = _mapping(data.get("usage")) or usage
                if length > MAX_REPLY_CHARS:
                    finish = "length"
                    break
                if time.monotonic() > end:
                    raise _TryAgain(f"the stream did not end within {self._timeout_s:g} s")
        if finish is None:
            raise _TryAgain("the stream ended before the reply was complete")
        return _reply("".join(text), finish, usage)

    def _judged(self, status: int | None, message: str, code: str | None, wait_s: float | None) -> Exception:
        """The exception that a status and a message of the endpoint amount to."""
        words = f"{message} {code or ''}"
        shown = self._clean(message)
        label = str(status) if status is not None else "an error in the stream"
        if _TOO_LONG.search(words) and status in (None, 400, 413, 422):
            return ContextTooLong(f"the model's endpoint refused the conversation as too long ({label}): {shown}")
        if "stream_options" in words and self._request.pop("stream_options", None) is not None:
            return _TryAgain("it does not know stream_options; asking without", 0.0)
        if code in _SPENT or not (status is None or status in _RETRIED or status >= 500):
            return ModelRefused(f"the model's endpoint refused ({label}{_HINTS.get(status or 0, '')}): {shown}")
        return _TryAgain(f"{label}: {shown}", wait_s)

    def _clean(self, text: str) -> str:
        """The text on one line, cut short, and without the token, which some endpoints repeat in their errors."""
        if self._token:
            text = text.replace(self._token, "***")
        text = " ".join(text.split())
        return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


_HINTS = {
    401: "; is HF_TOKEN right?",
    403: "; may this HF_TOKEN use the model?",
    404: "; is MODEL_NAME right, and does API_BASE_URL end as the API wants it, mostly in /v1?",
}


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _whole(answer: Any) -> Reply:
    data = _plain(answer)
    _refuse_error(data)
    choice = _first_choice(data)
    if not choice:
        raise _TryAgain("its answer has no choices")
    return _reply(_text(_mapping(choice.get("message")).get("content")), choice.get("finish_reason"), _mapping(data.get("usage")))


def _plain(answer: Any) -> dict[str, Any]:
    """The library's object as the dictionary it was made from; it hands out text where the endpoint did not send JSON."""
    if not isinstance(answer, openai.BaseModel):
        raise _TryAgain("its answer is not a JSON object")
    return answer.model_dump(warnings=False)


def _refuse_error(data: Mapping[str, Any]) -> None:
    """Some gateways answer 200 with an error inside."""
    error = data.get("error")
    if error:
        found = _mapping(error)
        raise _StatedError(str(found.get("message") or error), found.get("code"))


def _first_choice(data: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = data.get("choices")
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(content: Any) -> str:
    """A message's content as text: a string, null, or a list of parts of which those with text count."""
    if isinstance(content, str):
        return content
    parts: Iterable[Any] = content if isinstance(content, list) else ()
    return "".join(part if isinstance(part, str) else str(_mapping(part).get("text") or "") for part in parts)


def _reply(text: str, finish: Any, usage: Mapping[str, Any]) -> Reply:
    return Reply(text, finish == "length", _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _words(error: openai.APIStatusError) -> str:
    """The endpoint's own words; the library's message begins with the status, which is told beside them."""
    message = _mapping(error.body).get("message")
    return message if isinstance(message, str) else error.message.removeprefix(f"Error code: {error.status_code} - ")


def _status(code: str | None) -> int | None:
    return int(code) if code is not None and re.fullmatch(r"[45]\d\d", code) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a ``Retry-After`` header, which holds a number or a date."""
    value = headers.get("retry-after", "").strip()
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return None
