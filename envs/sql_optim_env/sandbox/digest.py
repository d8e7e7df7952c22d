"""What measured figures depend on beside the data: a digest of the engine's version, its settings, and the cost model with its weights."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import duckdb

import sql_optim_env.engines.duckdb as engine

__all__ = ["engine_digest"]


@cache
def engine_digest() -> str:
    """Return a digest of the DuckDB version and of every source and data file of the engine package.

    It is part of the key of every figure that is kept on disk, so that no change to how costs are computed can meet figures from before it,
    whether or not anyone thought of raising a version.
    """
    root = Path(next(iter(engine.__path__)))
    digest = hashlib.blake2b(duckdb.__version__.encode(), digest_size=12)
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".json"):
            digest.update(f"{path.relative_to(root)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
