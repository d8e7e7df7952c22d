"""When two captured results are equal: one rule for every size.

1. The same number of columns, names equal position by position (ASCII case-insensitive), identical engine type strings.
2. Then the rows as a multiset, by the semantics of a symmetric ``EXCEPT ALL``: duplicates count, order does not; NULL = NULL, NaN = NaN,
   -0.0 = 0.0; an INTERVAL equals another of the same normalised length, as everywhere in DuckDB ('1 month' = '30 days').

``EXCEPT ALL`` itself is not run. Shorter ways give its answer (proven by property tests): rows that are identical one by one, as they come
or (in small results) once both sides are sorted, are equal; when the expected rows are known to be distinct, so are equally many submitted
rows among which each of them is found; otherwise a signed multiset (expected +1, submitted -1) must vanish when it is summed over
equal rows. An error is raised, never taken for equal.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from sql_optim_env.engines.base import Column, Difference
from sql_optim_env.engines.duckdb.capture import Capture
from sql_optim_env.engines.duckdb.messages import ENGINE_ERRORS, agent_error
from sql_optim_env.engines.duckdb.tree import fold

__all__ = ["MAX_VALUE_LENGTH", "Comparer", "compare", "has_distinct_rows"]

MAX_VALUE_LENGTH = 120
"""Longest text of one value in an example row, in characters."""

_MAX_DIAGNOSED_CELLS = 20_000_000
"""Above this many cells the differing columns are not looked for; they only make the message better."""

_MAX_SORTED_ROWS = 20_000
"""Up to here sorting both sides takes less time (0.1 ms for 100 rows) than asking an engine (2 ms)."""


class Comparer:
    """An in-memory engine that compares captures. One thread at a time; reusable for any number of comparisons."""

    def __init__(self, *, memory_mb: int = 256, spill_mb: int = 0, temp_dir: Path | None = None) -> None:
        """``memory_mb`` bounds the engine's memory, ``spill_mb`` what it may write into ``temp_dir`` (nothing without one)."""
        config: dict[str, str | bool | int | float | list[str]] = {
            "threads": 1,
            "async_threads": 0,
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": str(temp_dir) if temp_dir is not None else "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        if temp_dir is not None:
            config["max_temp_directory_size"] = f"{spill_mb}MB"
        self._con = duckdb.connect(config=config)
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        """Release the engine."""
        self._con.close()

    def __enter__(self) -> Comparer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def compare(self, expected: Capture, submitted: Capture, *, examples: int = 5) -> Difference:
        """The verdict on ``submitted``; with up to ``examples`` missing and extra rows as text.

        Raises:
            AgentError: the comparison could not be finished (OUT_OF_MEMORY); then nothing is known, and it is not equal.
        """
        difference = _schema_difference(expected.columns, submitted.columns)
        if difference is not None:
            return difference
        if expected.row_count == submitted.row_count and (
            expected.table.equals(submitted.table) or _equal_when_sorted(expected.table, submitted.table)
        ):
            return Difference("equal", "")
        try:
            return self._compare_rows(expected, submitted, examples)
        except ENGINE_ERRORS as error:
            raise agent_error(error) from error
        finally:
            self._con.unregister("expected")
            self._con.unregister("submitted")

    def has_distinct_rows(self, capture: Capture) -> bool:
        """Whether no row of ``capture`` occurs twice."""
        names = _names(len(capture.columns))
        try:
            self._con.register("expected", capture.table)
            found: int = self._row(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM expected)")[0]
            return found == capture.row_count
        except ENGINE_ERRORS as error:
            raise agent_error(error) from error
        finally:
            self._con.unregister("expected")

    def _row(self, sql: str) -> tuple[Any, ...]:
        rows: list[tuple[Any, ...]] = self._con.execute(sql).fetchall()
        return rows[0]

    def _compare_rows(self, expected: Capture, submitted: Capture, examples: int) -> Difference:
        width = len(expected.columns)
        self._con.register("expected", expected.table)
        self._con.register("submitted", submitted.table)
        if expected.distinct and expected.row_count == submitted.row_count:
            same = " AND ".join(f"e.c{index} IS NOT DISTINCT FROM s.c{index}" for index in range(width))
            found = self._row(f"SELECT count(*) FROM expected e SEMI JOIN submitted s ON {same}")[0]
            # Every one of n distinct rows stands among n rows: there is no room for a duplicate or for another row.
            if found == expected.row_count:
                return Difference("equal", "")
        missing, extra, one_sided, missing_rows, extra_rows = self._row(_difference_sql(width, max(examples, 1)))
        if missing is None and extra is None:
            return Difference("equal", "")
        missing, extra = int(missing or 0), int(extra or 0)
        message = _counts(missing, extra)
        if examples:
            message += self._hint(expected, submitted, missing == extra, only_multiplicity=one_sided == 0)
        return Difference("rows", message, missing, extra, _texts(missing_rows, examples), _texts(extra_rows, examples))

    def _hint(self, expected: Capture, submitted: Capture, balanced: bool, *, only_multiplicity: bool) -> str:
        """What kind of difference it is, as a sentence, or nothing."""
        if only_multiplicity:
            return " The same rows occur, but not as often as they should: look at DISTINCT, UNION and joins that multiply or drop rows."
        width = len(expected.columns)
        if not balanced or width < 2 or (expected.row_count + submitted.row_count) * width > _MAX_DIAGNOSED_CELLS:
            return ""
        differing = [column.name for index, column in enumerate(expected.columns) if self._row(_column_sql(index))[0]]
        if not differing:
            return " Each column has the right values, but they stand together in the wrong rows."
        if len(differing) == width:
            return ""
        return (
            f" The values differ in column{'s' if len(differing) > 1 else ''} {', '.join(map(_shown, differing))}; the other columns match."
        )


def _equal_when_sorted(expected: pa.Table, submitted: pa.Table) -> bool:
    """Whether small results are identical row by row once both are sorted. False says nothing: ties, NaN, unsortable columns."""
    if expected.num_rows > _MAX_SORTED_ROWS:
        return False
    keys = [(field.name, "ascending") for field in expected.schema if _sortable(field.type)]
    if not keys or submitted.schema != expected.schema:
        return False
    return bool(expected.sort_by(keys).equals(submitted.sort_by(keys)))


def _sortable(kind: pa.DataType) -> bool:
    return any(check(kind) for check in (pa.types.is_integer, pa.types.is_string, pa.types.is_decimal, pa.types.is_temporal)) and not (
        pa.types.is_interval(kind)
    )


def _names(width: int) -> str:
    return ", ".join(f"c{index}" for index in range(width))


def _difference_sql(width: int, examples: int) -> str:
    """One pass over both sides: counts, whether any differing row stands on one side only, and the first differing rows as text."""
    names = _names(width)
    packed = ", ".join(f"'c{index}': c{index}" for index in range(width))
    texts = ", ".join(f"left(CAST(r.c{index} AS VARCHAR), {MAX_VALUE_LENGTH + 1})" for index in range(width))
    return f"""
        SELECT missing, extra, one_sided,
               list_transform(first_missing, lambda r: [{texts}]),
               list_transform(first_extra, lambda r: [{texts}])
        FROM (
            SELECT sum(d) FILTER (d > 0) AS missing, -sum(d) FILTER (d < 0) AS extra, count(*) FILTER (p = 0 OR p = d) AS one_sided,
                   min({{{packed}}}, {examples}) FILTER (d > 0) AS first_missing,
                   min({{{packed}}}, {examples}) FILTER (d < 0) AS first_extra
            FROM (
                SELECT {names}, sum(w) AS d, count(*) FILTER (w > 0) AS p
                FROM (SELECT {names}, 1 AS w FROM expected UNION ALL SELECT {names}, -1 AS w FROM submitted)
                GROUP BY ALL
                HAVING d <> 0
            )
        )
    """


def _column_sql(index: int) -> str:
    """Whether column ``index`` alone holds another multiset of values on the two sides."""
    return f"""
        SELECT count(*) > 0 FROM (
            SELECT c{index}, sum(w) AS d
            FROM (SELECT c{index}, 1 AS w FROM expected UNION ALL SELECT c{index}, -1 AS w FROM submitted)
            GROUP BY ALL
            HAVING d <> 0
        )
    """


def _counts(missing: int, extra: int) -> str:
    parts = [f"{count:,} row{' is' if count == 1 else 's are'} {word}" for count, word in ((missing, "missing"), (extra, "extra")) if count]
    return f"{' and '.join(parts)}."


def _texts(rows: Sequence[Sequence[str | None]] | None, examples: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple("NULL" if value is None else _shown(value) for value in row) for row in (rows or ())[:examples])


def _shown(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


def _schema_difference(expected: tuple[Column, ...], submitted: tuple[Column, ...]) -> Difference | None:
    if len(expected) != len(submitted):
        names = ", ".join(_shown(column.name) for column in expected[:50])
        return Difference("columns", f"the result has {len(submitted)} columns, expected {len(expected)}: {_shown_list(names)}")
    for position, (right, found) in enumerate(zip(expected, submitted, strict=True), start=1):
        if fold(right.name) != fold(found.name):
            return Difference("columns", f"column {position} is named {_shown(found.name)}, expected {_shown(right.name)}")
    for position, (right, found) in enumerate(zip(expected, submitted, strict=True), start=1):
        if right.type != found.type:
            return Difference(
                "types",
                f"column {position} ({_shown(found.name)}) has type {_shown(found.type)}, expected {_shown(right.type)}: "
                f"cast it, e.g. CAST(... AS {_shown(right.type)})",
            )
    return None


def _shown_list(text: str) -> str:
    return text if len(text) <= 1_000 else text[:999] + "…"


_local = threading.local()


def _comparer() -> Comparer:
    comparer = getattr(_local, "comparer", None)
    if comparer is None:
        comparer = _local.comparer = Comparer()
    return comparer


def compare(expected: Capture, submitted: Capture, *, examples: int = 5) -> Difference:
    """``Comparer.compare`` with a comparer of this thread that is made once and does not spill."""
    return _comparer().compare(expected, submitted, examples=examples)


def has_distinct_rows(capture: Capture) -> bool:
    """``Comparer.has_distinct_rows`` with this thread's comparer."""
    return _comparer().has_distinct_rows(capture)
