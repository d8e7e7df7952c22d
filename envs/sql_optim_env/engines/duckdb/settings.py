"""How an instance is opened: read-only, one thread, bounded memory and spill, no way out, configuration locked."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

__all__ = ["open_read_only"]


def open_read_only(path: Path, *, memory_mb: int, spill_mb: int, temp_dir: Path) -> duckdb.DuckDBPyConnection:
    """A connection on which cost is repeatable and from which nothing but the instance is reachable.

    ``temp_dir`` is where the engine may spill up to ``spill_mb`` MB. Raises duckdb.Error.
    """
    con = duckdb.connect(
        os.fspath(path),
        read_only=True,
        config={
            # Row counts, intermediate sizes and plans are repeatable at one thread only; no helper threads for I/O either.
            "threads": 1,
            "async_threads": 0,
            # Dynamic join filters change how many rows a scan passes on from connection to connection.
            "disabled_optimizers": "join_filter_pushdown",
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": os.fspath(temp_dir),
            "max_temp_directory_size": f"{spill_mb}MB",
            # HUGEINT, TIMETZ, UUID, BIT and BOOLEAN keep their type and every digit.
            "arrow_lossless_conversion": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        },
    )
    for setting in (
        # Once set, temp_directory can no longer be: hence not in the configuration above.
        "SET enable_external_access = false",
        "SET TimeZone = 'UTC'",
        # Profiling belongs to the connection and must be on before the lock.
        "PRAGMA enable_profiling = 'no_output'",
        "SET lock_configuration = true",
    ):
        con.execute(setting)
    return con
