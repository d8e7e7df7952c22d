"""How often views stand for views: a chain that doubles at every step is short to write and endless to prepare, and nothing interrupts
the engine while it prepares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import apsw

from sql_optim_env.engines.sqlite.text import fold, names
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["MAX_EXPANSIONS", "check_expansion", "check_views"]

MAX_EXPANSIONS: Final = 200
"""Most views that a view, or a statement, may come to when each is replaced by its definition."""


def check_views(con: apsw.Connection) -> None:
    """Check every view of the schema. Raises AgentError (REFUSED_SYNTAX)."""
    definitions = _definitions(con)
    sizes: dict[str, int] = {}
    for view in definitions:
        _check(_size(view, definitions, sizes, ()))


def check_expansion(con: apsw.Connection, sql: str) -> None:
    """Check a statement that is about to be prepared; the views are within bounds. Raises AgentError (REFUSED_SYNTAX)."""
    definitions = _definitions(con)
    if definitions:
        sizes: dict[str, int] = {}
        _check(sum(count * _size(view, definitions, sizes, ()) for view, count in _references(sql, definitions)))


def _check(size: int) -> None:
    if size > MAX_EXPANSIONS:
        raise AgentError(
            ErrorCode.REFUSED_SYNTAX, f"views stand for more than {MAX_EXPANSIONS} views when they are replaced by what they mean"
        )


def _definitions(con: apsw.Connection) -> Mapping[str, str]:
    schemas = ("main.sqlite_schema", "temp.sqlite_temp_schema")
    rows = (row for schema in schemas for row in con.execute(f"SELECT name, sql FROM {schema} WHERE type = 'view'"))
    return {fold(str(name)): str(sql) for name, sql in rows}


def _size(view: str, definitions: Mapping[str, str], sizes: dict[str, int], within: tuple[str, ...]) -> int:
    """One for the view itself and the size of every view it names; a view that names itself fails when it is used, at no cost."""
    if view in within:
        return 0
    if view not in sizes:
        parts = _references(definitions[view], definitions)
        inside = (*within, view)
        sizes[view] = min(1 + sum(count * _size(part, definitions, sizes, inside) for part, count in parts), MAX_EXPANSIONS + 1)
    return sizes[view]


def _references(sql: str, definitions: Mapping[str, str]) -> list[tuple[str, int]]:
    return [(name, count) for name, count in _counted(sql).items() if name in definitions]


@lru_cache(maxsize=512)
def _counted(sql: str) -> Counter[str]:
    return Counter(names(sql))
