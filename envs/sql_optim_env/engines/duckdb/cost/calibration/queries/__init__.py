"""The queries of the calibration as SQL files: ``--- title`` opens a section, a semicolon at the end of a line closes a statement."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

__all__ = ["read_sections"]


@lru_cache(maxsize=8)
def read_sections(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Sections of one file in order: title and statements. Line breaks inside a statement become single spaces."""
    text = files("sql_optim_env.engines.duckdb.cost.calibration.queries").joinpath(f"{name}.sql").read_text(encoding="utf-8")
    sections: list[tuple[str, tuple[str, ...]]] = []
    for block in text.split("\n--- ")[1:]:
        title, _, body = block.partition("\n")
        lines = [line.strip() for line in body.splitlines() if line.strip()]
        statements = " ".join(lines).split("; ")
        sections.append((title.strip(), tuple(statement.rstrip(";") for statement in statements if statement)))
    return tuple(sections)
