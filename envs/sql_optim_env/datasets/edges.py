"""Literals of a query, and what they are compared with: the places where a careless rewrite goes wrong unseen.

The queries are trusted text (a task's own). What sqlglot cannot parse is read token by token, which loses only the columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

__all__ = ["Literals", "extract", "period_of"]


@dataclass(frozen=True, slots=True)
class Literals:
    """Sorted, without repetition. A column is a bare name in lower case, or empty where the literal is compared with none."""

    numbers: tuple[tuple[str, str], ...] = ()
    """(column, number as decimal text)."""
    strings: tuple[tuple[str, str], ...] = ()
    """(column, text)."""
    patterns: tuple[tuple[str, str], ...] = ()
    """(column, LIKE pattern)."""
    periods: tuple[tuple[str, str], ...] = ()
    """(first instant, first instant after) in ISO form, of what a text of a date, a time or a part of one stands for."""
    parts: tuple[tuple[str, int], ...] = ()
    """(part of a timestamp, value), such as ("month", 3)."""
    intervals: tuple[tuple[int, int], ...] = ()
    """(months, microseconds)."""
    counts: tuple[int, ...] = ()
    """Numbers of rows, of LIMIT and OFFSET."""

    def to_json(self) -> str:
        """Canonical JSON: equal literals give equal text."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Literals:
        """The inverse of ``to_json``."""
        data: dict[str, Any] = json.loads(text)
        given: dict[str, Any] = {name: tuple(tuple(v) if isinstance(v, list) else v for v in values) for name, values in data.items()}
        return cls(**given)


@dataclass(slots=True)
class _Found:
    numbers: set[tuple[str, str]] = field(default_factory=set)
    strings: set[tuple[str, str]] = field(default_factory=set)
    patterns: set[tuple[str, str]] = field(default_factory=set)
    periods: set[tuple[str, str]] = field(default_factory=set)
    parts: set[tuple[str, int]] = field(default_factory=set)
    intervals: set[tuple[int, int]] = field(default_factory=set)
    counts: set[int] = field(default_factory=set)

    def frozen(self) -> Literals:
        return Literals(**{f.name: tuple(sorted(getattr(self, f.name))) for f in fields(self)})


_COMPARISONS: Final = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Like, exp.ILike,
    exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo, exp.StartsWith, exp.EndsWith, exp.Contains,
)  # fmt: skip
_PARTS: Final[dict[type[exp.Expr], str]] = {
    exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.Week: "week", exp.Day: "day", exp.Hour: "hour", exp.Minute: "minute",
    exp.Second: "second", exp.DayOfWeek: "dow", exp.DayOfWeekIso: "isodow", exp.DayOfMonth: "day", exp.DayOfYear: "doy",
}  # fmt: skip
_PART_NAMES: Final = {"dayofweek": "dow", "weekday": "dow", "dayofmonth": "day", "dayofyear": "doy", "weekofyear": "week"}
_PART_RANGES: Final = {
    "year": (1990, 2050), "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31), "hour": (0, 23), "minute": (0, 59),
    "second": (0, 59), "dow": (0, 6), "isodow": (1, 7), "doy": (1, 366),
}  # fmt: skip
_FORMAT_PARTS: Final = {
    "%Y": "year", "%m": "month", "%-m": "month", "%d": "day", "%-d": "day", "%H": "hour", "%-H": "hour", "%M": "minute", "%w": "dow",
    "%u": "isodow", "%j": "doy", "%A": "dow", "%a": "dow", "%B": "month", "%b": "month",
}  # fmt: skip
_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_UNITS: Final[dict[str, tuple[int, int]]] = {
    "microsecond": (0, 1),
    "millisecond": (0, 1_000),
    "second": (0, 1_000_000),
    "minute": (0, 60_000_000),
    "hour": (0, 3_600_000_000),
    "day": (0, 86_400_000_000),
    "week": (0, 604_800_000_000),
    "month": (1, 0),
    "quarter": (3, 0),
    "year": (12, 0),
}
_INSTANT: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[ T](?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,6}))?)?)?)?)?)?\Z"
)
_CLOCK: Final = re.compile(r"(\d{1,3}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?\Z")


def extract(sqls: Iterable[str], dialect: str) -> Literals:
    """The literals of all ``sqls`` together."""
    found = _Found()
    for sql in sqls:
        try:
            trees = sqlglot.parse(sql, dialect=dialect)
        except SqlglotError:
            _read_tokens(sql, dialect, found)
            continue
        for tree in trees:
            if tree is not None:
                _read_tree(tree, found)
    return found.frozen()


def period_of(text: str) -> tuple[datetime, datetime] | None:
    """The instants ``[first, after)`` that a text of a date, a time or the beginning of one stands for; None when it is no such text."""
    match = _INSTANT.match(text.strip())
    if match is None:
        return None
    given = {name: int(value) for name, value in match.groupdict().items() if value is not None and name != "fraction"}
    fraction = match["fraction"]
    try:
        start = datetime(
            given["year"], given.get("month", 1), given.get("day", 1), given.get("hour", 0), given.get("minute", 0), given.get("second", 0),
            int((fraction or "0").ljust(6, "0")),
        )  # fmt: skip
    except ValueError:
        return None
    if not 1990 <= start.year <= 2050:
        return None
    if fraction:
        return start, start + timedelta(microseconds=10 ** (6 - len(fraction)))
    finest = list(given)[-1]
    if finest == "year":
        return start, start.replace(year=start.year + 1)
    if finest == "month":
        return start, (start + timedelta(days=31)).replace(day=1)
    return start, start + timedelta(microseconds=_UNITS[finest][1])


def _read_tree(tree: exp.Expr, found: _Found) -> None:
    for interval in tree.find_all(exp.Interval):
        _read_interval(interval, found)
    for node in tree.find_all(exp.Literal):
        if node.find_ancestor(exp.Interval, exp.DataType, exp.Group) or isinstance(node.parent, exp.Ordered):
            continue  # read above; a width such as DECIMAL(10,2); a position such as GROUP BY 1
        if node.find_ancestor(exp.Limit, exp.Offset):
            if not node.is_string:
                found.counts.add(int(Decimal(node.name)))
            continue
        comparison = _comparison(node)
        if node.is_string:
            _read_string(node, comparison, found)
        else:
            _read_number(node, comparison, found)


def _comparison(node: exp.Expr) -> exp.Expr | None:
    """The nearest comparison around ``node``, without leaving its SELECT."""
    above = node.find_ancestor(*_COMPARISONS, exp.Query)
    return None if above is None or isinstance(above, exp.Query) else above


def _columns(comparison: exp.Expr | None) -> tuple[str, ...]:
    names = sorted({column.name.lower() for column in comparison.find_all(exp.Column)}) if comparison is not None else []
    return tuple(names) or ("",)


def _part(comparison: exp.Expr | None) -> str | None:
    """The part of a timestamp that a comparison is about: ``month(t) = 3``, ``extract(...)``, ``strftime(t, '%m') = '03'``."""
    if comparison is None:
        return None
    for node in comparison.walk():
        if name := _PARTS.get(type(node)):
            return name
        if isinstance(node, exp.Extract):
            return _part_name(node.name)
        if isinstance(node, exp.Anonymous) and node.expressions:
            if node.name.lower() in ("date_part", "datepart"):
                return _part_name(node.expressions[0].name)
            if (name := _part_name(node.name)) in _PART_RANGES:
                return name
        if isinstance(node, exp.TimeToStr) and (name := _FORMAT_PARTS.get(node.text("format"))):
            return name
        if isinstance(node, exp.Dayname | exp.Monthname):
            return "dow" if isinstance(node, exp.Dayname) else "month"
    return None


def _part_name(name: str) -> str:
    return _PART_NAMES.get(name.lower(), name.lower())


def _add_part(part: str | None, value: int, found: _Found) -> bool:
    low, high = _PART_RANGES.get(part or "", (1, 0))
    if part is None or not low <= value <= high:
        return False
    found.parts.add((part, value))
    return True


def _read_number(node: exp.Expr, comparison: exp.Expr | None, found: _Found) -> None:
    try:
        value = Decimal(node.name)
    except InvalidOperation:
        return
    if isinstance(node.parent, exp.Neg):
        value = -value
    if value == value.to_integral_value() and _add_part(_part(comparison), int(value), found):
        return
    difference = comparison.find(exp.DateDiff, exp.TimestampDiff) if comparison is not None else None
    if difference is not None and (interval := _interval(node.name, difference.text("unit") or "day")):
        found.intervals.add(interval)
    found.numbers.update((column, _plain(value)) for column in _columns(comparison))


def _read_string(node: exp.Expr, comparison: exp.Expr | None, found: _Found) -> None:
    text = node.name
    parent = node.parent
    if isinstance(parent, exp.TimeToStr | exp.StrToTime | exp.TimestampTrunc | exp.DateTrunc | exp.Extract | exp.JSONPathKey):
        return  # a format or the name of a part
    if isinstance(parent, exp.Escape) or text in _PART_RANGES:
        return
    part = _part(comparison)
    if part in ("dow", "month") and (number := _name_number(text)) is not None:
        found.parts.add((part, number))
        return
    if text.isdecimal() and _add_part(part, int(text), found):
        return
    if isinstance(comparison, exp.Like | exp.ILike) and node is comparison.expression:
        for piece in _pieces(text, comparison.this):
            kind = found.patterns if "%" in piece or "_" in piece else found.strings
            kind.update((column, piece) for column in _columns(comparison))
        return
    if period := period_of(text):
        found.periods.add((period[0].isoformat(), _end(period, comparison).isoformat()))
        return
    found.strings.update((column, text) for column in _columns(comparison))


def _end(period: tuple[datetime, datetime], comparison: exp.Expr | None) -> datetime:
    """The end of a period, or of the month, quarter or year that begins with it where the other side is truncated to that."""
    truncated = comparison.find(exp.TimestampTrunc, exp.DateTrunc) if comparison is not None else None
    months, _ = _UNITS.get(truncated.text("unit").lower(), (0, 0)) if truncated is not None else (0, 0)
    if not months:
        return period[1]
    year, month = divmod(period[0].year * 12 + period[0].month - 1 + months, 12)
    return datetime(year, month + 1, 1)


def _pieces(pattern: str, matched: exp.Expr) -> Iterator[str]:
    """The pattern of a LIKE and, where several columns are matched as one text, its parts between the separators."""
    yield pattern
    separators = {node.name for node in matched.find_all(exp.Literal) if node.is_string and node.name}
    if separators:
        yield from (piece for piece in re.split("|".join(map(re.escape, sorted(separators))), pattern) if piece.strip("%"))


def _name_number(text: str) -> int | None:
    for names, first in ((_WEEKDAYS, 0), (_MONTH_NAMES, 1)):
        for number, name in enumerate(names):
            if text.lower() in (name, name[:3]):
                return number + first
    return None


def _read_interval(node: exp.Interval, found: _Found) -> None:
    amount = node.this
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = 1
    if isinstance(amount, exp.Neg):
        sign, amount = -1, amount.this
    if not isinstance(amount, exp.Literal):
        return
    if interval := _interval(amount.name, node.text("unit")):
        found.intervals.add((sign * interval[0], sign * interval[1]))


def _interval(amount: str, unit: str) -> tuple[int, int] | None:
    if match := _CLOCK.match(amount):
        hours, minutes, seconds = (int(group) for group in match.groups()[:3])
        return 0, (hours * 3600 + minutes * 60 + seconds) * 1_000_000 + int((match[4] or "0").ljust(6, "0"))
    try:
        count = Decimal(amount)
    except InvalidOperation:
        return None
    months, microseconds = _UNITS.get(unit.lower().rstrip("s"), (0, 0))
    return (int(count * months), int(count * microseconds)) if months or microseconds else None


def _read_tokens(sql: str, dialect: str, found: _Found) -> None:
    tokens = sqlglot.tokenize(sql, dialect=dialect)
    for before, token, after in _with_neighbours(tokens):
        if before.upper() == "INTERVAL" and (interval := _interval(token.text, after)):
            found.intervals.add(interval)
        elif token.token_type is TokenType.NUMBER:
            if before.upper() in ("LIMIT", "OFFSET"):
                found.counts.add(int(Decimal(token.text)))
            else:
                found.numbers.add(("", _plain(Decimal(token.text))))
        elif token.token_type is TokenType.STRING:
            if period := period_of(token.text):
                found.periods.add((period[0].isoformat(), period[1].isoformat()))
            else:
                found.strings.add(("", token.text))


def _with_neighbours(tokens: Sequence[Any]) -> Iterator[tuple[str, Any, str]]:
    texts = ["", *(token.text for token in tokens), ""]
    return zip(texts, tokens, texts[2:], strict=False)


def _plain(value: Decimal) -> str:
    return format(value.normalize() + 0, "f")
