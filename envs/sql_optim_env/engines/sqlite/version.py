"""Which SQLite this engine is, and the proof that it is the one whose page counts the tasks were admitted with.

Page counts depend on the planner, and so on the version and on compile options. They are compared only within one build: the string of
:func:`engine_version` belongs into every cache key and every report.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

import apsw

from sql_optim_env.errors import InfraError

__all__ = ["APSW_VERSION", "COMPILE_OPTIONS", "SQLITE_VERSION", "assert_engine", "engine_version"]

APSW_VERSION: Final = "3.54.1.0"
SQLITE_VERSION: Final = "3.54.1"

COMPILE_OPTIONS: Final = frozenset(
    {
        "DEFAULT_AUTOVACUUM",
        "DEFAULT_CACHE_SIZE=-2000",
        "DEFAULT_FILE_FORMAT=4",
        "DEFAULT_MMAP_SIZE=0",
        "DEFAULT_PAGE_SIZE=4096",
        "DEFAULT_PCACHE_INITSZ=20",
        "DEFAULT_WORKER_THREADS=0",
        "DIRECT_OVERFLOW_READ",
        "ENABLE_COLUMN_METADATA",
        "ENABLE_MATH_FUNCTIONS",
        "ENABLE_PERCENTILE",
        "ENABLE_STAT4",
        "LIKE_DOESNT_MATCH_BLOBS",
        "OMIT_AUTOINIT",
        "OMIT_DEPRECATED",
        "OMIT_SHARED_CACHE",
        "TEMP_STORE=1",
    }
)
"""Options that plans, page counts, spilled bytes or results depend on. Those about compilers, platforms and limits may differ."""

_PLAN_CHANGING = ("DISABLE_", "ENABLE_QPSG", "ENABLE_STAT3", "OMIT_")
"""Beginnings of options that must not be there unless they are expected: they take an optimisation away or add one."""


def assert_engine() -> None:
    """Check the engine that is loaded against the one that is expected. Raises InfraError that says what differs."""
    problems = []
    if apsw.apsw_version() != APSW_VERSION:
        problems.append(f"apsw is {apsw.apsw_version()}, expected {APSW_VERSION}")
    if apsw.sqlite_lib_version() != SQLITE_VERSION:
        problems.append(f"SQLite is {apsw.sqlite_lib_version()}, expected {SQLITE_VERSION}")
    found = frozenset(apsw.compile_options)
    if missing := sorted(COMPILE_OPTIONS - found):
        problems.append(f"compile options are missing: {', '.join(missing)}")
    if extra := sorted(option for option in found - COMPILE_OPTIONS if option.startswith(_PLAN_CHANGING)):
        problems.append(f"compile options are unexpected: {', '.join(extra)}")
    if problems:
        raise InfraError(f"page counts would not be comparable: {'; '.join(problems)}")


@cache
def engine_version() -> str:
    """Return what page counts belong to, e.g. ``sqlite-3.54.1+555e07ef33f6.1a2b3c4d``: version, source id, digest of the options."""
    source = apsw.sqlite3_sourceid().split()[-1][:12]
    options = sorted(option for option in apsw.compile_options if not option.startswith("COMPILER="))
    return f"sqlite-{apsw.sqlite_lib_version()}+{source}.{hashlib.sha256(';'.join(options).encode()).hexdigest()[:8]}"
