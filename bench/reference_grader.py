"""A plain grader, the way such environments usually measure: the yardstick of ``sql-optim bench``, never used to grade.

Every step, behind one lock, it runs each of the two queries once for its rows, once for its count and three times under
EXPLAIN ANALYZE, then sorts both results and compares them.
"""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path
from typing import Any

import duckdb

PROFILED_RUNS = 3


class ReferenceGrader:
    """One connection to one database, one lock for everybody."""

    def __init__(self, path: Path) -> None:
        """Open ``path`` read-only with one thread, as the measured server does."""
        self._connection = duckdb.connect(str(path), read_only=True, config={"threads": 1})
        self._lock = threading.Lock()

    def grade(self, original: str, submitted: str) -> dict[str, Any]:
        """Return whether the results are equal and the ratio of the two median times."""
        with self._lock:
            measured = [self._measure(original), self._measure(submitted)]
        (expected, expected_count, original_s), (rows, count, submitted_s) = measured
        equal = expected_count == count and sorted(map(repr, expected)) == sorted(map(repr, rows))
        return {"equal": equal, "speedup": original_s / max(submitted_s, 1e-9)}

    def _measure(self, sql: str) -> tuple[list[tuple[Any, ...]], int, float]:
        rows = self._connection.execute(sql).fetchall()
        counted = self._connection.execute(f"SELECT count(*) FROM ({sql}) AS t").fetchone()
        seconds = []
        for _ in range(PROFILED_RUNS):
            start = time.perf_counter()
            self._connection.execute(f"EXPLAIN ANALYZE {sql}").fetchall()
            seconds.append(time.perf_counter() - start)
        return rows, counted[0] if counted else 0, statistics.median(seconds)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
