"""From what a model said to an action: thinking taken off, the JSON object found wherever it stands, and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from sql_optim_env.errors import SQLOptimError
from sql_optim_env.models import SQLOptimAction

__all__ = ["NotAnActionError", "action_of"]

_SUBMITTED = frozenset({"optimized_query", "suggestions", "summary", "approved", "ddl", "answer", "root_cause_table", "offending_key"})
"""Fields that say without ``kind`` that the object is a submission."""

_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning|thought)>", re.I)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|reasoning|thought)>", re.I)
_FENCED = re.compile(r"```[ \t]*(?:json[c5]?)[ \t]*\n(.*?)(?:```|\Z)", re.S | re.I)
_OBJECT = re.compile(r"\{\s*\"|\{\s*\}")
# Models write line breaks into strings as they are; nothing else of JSON is bent.
_DECODER = json.JSONDecoder(strict=False)


class NotAnActionError(SQLOptimError):
    """The reply holds no valid action; the message says why, for the model to read."""


def action_of(text: str, *, cut_off: bool = False) -> SQLOptimAction:
    """The action in a reply: its first JSON object, in a block that is fenced as JSON if there is one.

    The first, since a model that writes several actions has not seen yet what the first one shows. ``cut_off`` says that a limit ended
    the reply; it is named as the reason where the object is missing or broken. Raises :class:`NotAnActionError`.
    """
    said = _without_thoughts(text)
    because = " Your reply was cut off at the limit of its length: think less, and answer with the object alone." if cut_off else ""
    if not said:
        raise NotAnActionError((because or " Your reply was empty.").strip())
    for part in (*_FENCED.findall(said), said):
        try:
            found = next(_objects(part), None)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise NotAnActionError(f"The JSON object is broken: {error.msg} at {where}.{because}") from None
        except (RecursionError, ValueError):
            raise NotAnActionError("The JSON object is nested too deeply, or holds a number of too many digits.") from None
        if found is not None:
            return _checked(found)
    raise NotAnActionError(f"There is no JSON object in your reply.{because}")


def _without_thoughts(text: str) -> str:
    """What follows the last thought; a thought that does not end hides the rest. Not every model writes where its first one begins."""
    ends = [found.end() for found in _THOUGHT_ENDS.finditer(text)]
    return _THOUGHT_BEGINS.split(text[ends[-1] if ends else 0 :], maxsplit=1)[0].strip()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost objects of a text, in order. Raises ``JSONDecodeError`` at one that begins like an object and is none."""
    place = 0
    while (start := _OBJECT.search(text, place)) is not None:
        value, place = _DECODER.raw_decode(text, start.start())
        yield value


def _checked(found: dict[str, Any]) -> SQLOptimAction:
    # A field of OpenEnv's for whoever runs the agent; it means nothing here, and could be nested beyond what can be sent.
    found.pop("metadata", None)
    if "kind" not in found and not _SUBMITTED.intersection(found):
        raise NotAnActionError('The object does not say which action it is: "kind" is missing.')
    try:
        return SQLOptimAction.model_validate(found)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}" for item in error.errors(include_url=False)[:5]
        )
        raise NotAnActionError(f"The object is not a valid action: {wrong}.") from None
