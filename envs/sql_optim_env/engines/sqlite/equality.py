"""Equality of two results under SQLite's own types.

Names are equal position by position, ASCII letters regardless of case. Then the rows, as a multiset: duplicates count, order does not. Two
values are equal when they have the same storage class and the same value: integer 1, real 1.0 and text '1' are three values, text and BLOB
never meet, NULL equals NULL, and -0.0 equals 0.0. (NaN cannot occur: SQLite makes it NULL.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sql_optim_env.engines.base import Difference
from sql_optim_env.engines.sqlite.capture import STORAGE_CLASSES, Capture, Value
from sql_optim_env.engines.sqlite.text import fold

__all__ = ["MAX_VALUE_LENGTH", "compare"]

MAX_VALUE_LENGTH = 120
"""Longest text of one value in an example row, in characters."""

_Row = tuple[Value, ...]
_TypedRow = tuple[_Row, tuple[type, ...]]


def compare(expected: Capture, submitted: Capture, *, examples: int = 5) -> Difference:
    """Return the verdict on ``submitted``, with up to ``examples`` missing and extra rows as text (none: counts only)."""
    difference = _names(expected.names, submitted.names)
    if difference is not None:
        return difference
    right, found = _typed(expected.rows), _typed(submitted.rows)
    if right == found:
        return Difference("equal", "")
    missing, extra = right - found, found - right
    missing_count, extra_count = missing.total(), extra.total()
    if not missing_count and not extra_count:
        return Difference("equal", "")
    message = _counts(missing_count, extra_count)
    kind, hint = _hint(expected, submitted, missing, extra) if examples else ("rows", "")
    return Difference(
        "types" if kind == "types" else "rows",
        message + hint,
        missing_count,
        extra_count,
        _texts(missing, examples),
        _texts(extra, examples),
    )


def _typed(rows: Iterable[_Row]) -> Counter[_TypedRow]:
    # Python's 1 == 1.0, so the types stand beside the values; everything else compares as SQLite does.
    return Counter((row, tuple(map(type, row))) for row in rows)


def _names(expected: tuple[str, ...], submitted: tuple[str, ...]) -> Difference | None:
    if len(expected) != len(submitted):
        names = ", ".join(map(_clip, expected))
        return Difference("columns", f"the result has {len(submitted)} columns, expected {len(expected)}: {names}")
    for position, (right, found) in enumerate(zip(expected, submitted, strict=True), start=1):
        if fold(right) != fold(found):
            return Difference("columns", f"column {position} is named {_clip(found)}, expected {_clip(right)}")
    return None


def _hint(expected: Capture, submitted: Capture, missing: Counter[_TypedRow], extra: Counter[_TypedRow]) -> tuple[str, str]:
    """What kind of difference it is, and that as a sentence, or nothing."""
    if Counter(row for row, _ in missing.elements()) == Counter(row for row, _ in extra.elements()):
        for index, name in enumerate(expected.names):
            right, found = _classes(missing, index), _classes(extra, index)
            if right != found:
                return (
                    "types",
                    f" The values are right, but column {_clip(name)} holds {_listed(found)}, expected {_listed(right)}: use CAST.",
                )
        return "types", " The values are right, but not their types: use CAST."
    right_rows, found_rows = _typed(expected.rows), _typed(submitted.rows)
    if right_rows.keys() == found_rows.keys():
        return (
            "rows",
            " The same rows occur, but not as often as they should: look at DISTINCT, UNION and joins that multiply or drop rows.",
        )
    width = len(expected.names)
    if missing.total() != extra.total() or width < 2:
        return "rows", ""
    differing = [name for index, name in enumerate(expected.names) if _column(expected, index) != _column(submitted, index)]
    if not differing:
        return "rows", " Each column has the right values, but they stand together in the wrong rows."
    if len(differing) == width:
        return "rows", ""
    listed = ", ".join(map(_clip, differing))
    return "rows", f" The values differ in column{'s' if len(differing) > 1 else ''} {listed}; the other columns match."


def _classes(rows: Counter[_TypedRow], index: int) -> frozenset[str]:
    return frozenset(STORAGE_CLASSES[types[index]] for _, types in rows)


def _column(capture: Capture, index: int) -> Counter[tuple[Value, type]]:
    return Counter((row[index], type(row[index])) for row in capture.rows)


def _listed(classes: frozenset[str]) -> str:
    return " and ".join(sorted(classes))


def _counts(missing: int, extra: int) -> str:
    parts = [f"{count:,} row{' is' if count == 1 else 's are'} {word}" for count, word in ((missing, "missing"), (extra, "extra")) if count]
    return f"{' and '.join(parts)}."


def _texts(rows: Counter[_TypedRow], examples: int) -> tuple[tuple[str, ...], ...]:
    def order(item: _TypedRow) -> tuple[tuple[str, str], ...]:
        return tuple((kind.__name__, _shown(value)) for value, kind in zip(*item, strict=True))

    first = sorted(rows, key=order)[:examples] if examples else []
    return tuple(tuple(_shown(value) for value in row) for row, _ in first)


def _shown(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return _clip(f"x'{value[:MAX_VALUE_LENGTH].hex()}'")
    return _clip(value if isinstance(value, str) else repr(value))


def _clip(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"
