"""Keeps an observation under the published size, by shortening what is longest and least needed, and saying so."""

from __future__ import annotations

from sql_optim_env.models import SQLOptimObservation

__all__ = ["MAX_OBSERVATION_BYTES", "fit", "wire_size"]

MAX_OBSERVATION_BYTES = 256 * 1024
"""An observation, as JSON in UTF-8, stays under this many bytes."""

_ENVELOPE_BYTES = 4 * 1024
"""Room for the envelope around the observation, which names the metadata's keys once more."""

_MARK = "\n… (shortened)"


def wire_size(observation: SQLOptimObservation) -> int:
    """Bytes of the observation as JSON, counting metadata twice since OpenEnv's envelope repeats it."""
    body = len(observation.model_dump_json().encode())
    return body + len(SQLOptimObservation(metadata=observation.metadata).model_dump_json(include={"metadata"}).encode()) + _ENVELOPE_BYTES


def fit(observation: SQLOptimObservation, limit: int = MAX_OBSERVATION_BYTES) -> SQLOptimObservation:
    """The same observation when it fits, else one with fewer rows (``truncated`` is set), then a shorter plan, feedback and error text.

    What a task says about itself (query, schema, instructions) is never cut: the catalogue keeps it small.
    """
    excess = wire_size(observation) - limit
    if excess <= 0:
        return observation
    small = observation.model_copy(deep=True)
    while small.rows and wire_size(small) > limit:
        small.rows = small.rows[: len(small.rows) // 2]
        small.truncated = True
    for field in ("plan", "feedback"):
        text = str(getattr(small, field))
        while text and wire_size(small) > limit:
            text = text[: len(text) // 2]
            setattr(small, field, text + _MARK if text else "")
            if field in small.metadata:
                small.metadata = {**small.metadata, field: getattr(small, field)}
    if small.error is not None and wire_size(small) > limit:
        small.error = small.error.model_copy(update={"message": small.error.message[:1000] + _MARK})
    return small
