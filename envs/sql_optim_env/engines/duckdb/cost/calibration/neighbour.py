"""Honest statements beside a busy neighbour: none of them may trip the guard.

Each run takes the way of a submission (admission was before; the price and the guard with its reruns are part of it), while another process
keeps a processor busy and its caches full.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sql_optim_env.engines.duckdb.admission import Statement
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.guard import guard_limit_ms
from sql_optim_env.engines.duckdb.database import Database

__all__ = ["HonestRuns", "busy_neighbour", "run_honest"]

MAX_ROWS: Final = 2_000_000
MAX_BYTES: Final = 192 << 20
_SPIN: Final = """
import sys
sys.stdout.write("busy\\n")
sys.stdout.flush()
block = bytearray(1 << 24)
while True:
    block = bytearray(block[1:]) + b"x"
"""
"""Copies 16 MiB over and over, more than the caches hold."""


@dataclass(frozen=True, slots=True)
class HonestRuns:
    """``worst``: greatest CPU time over the guard's limit that any run was left with; above 1 is a trip."""

    runs: int
    trips: tuple[str, ...]
    worst: float


@contextmanager
def busy_neighbour(niceness: int = 0) -> Iterator[None]:
    """Another process that computes and fills the caches until the block ends. With ``niceness`` it gives way to others, up to 19."""
    command = [sys.executable, "-c", f"import os; os.nice({niceness})\n{_SPIN}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def run_honest(path: Path, card: Card, temp_dir: Path, statements: Sequence[str], runs: int) -> HonestRuns:
    """Run the statements in turns, ``runs`` times in all, beside a busy neighbour, with the packaged weights."""
    trips: list[str] = []
    worst = 0.0
    with Database(path, temp_dir=temp_dir, card=card) as database, busy_neighbour():
        for number in range(runs):
            sql = statements[number % len(statements)]
            execution = database.run(Statement(sql), max_rows=MAX_ROWS, max_bytes=MAX_BYTES).execution
            if execution.hidden_work:
                trips.append(sql)
            worst = max(worst, execution.cpu_ms / guard_limit_ms(execution.cost))
    return HonestRuns(runs, tuple(trips), round(worst, 3))
