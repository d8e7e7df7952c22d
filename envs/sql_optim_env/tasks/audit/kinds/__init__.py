"""The kinds of defects, one module each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sql_optim_env.tasks.audit.scenario import Kind

__all__ = ["kinds"]


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by its name, sorted: one a module of this package, in its ``KIND``."""
    found = [import_module(f"{__name__}.{module.name}").KIND for module in iter_modules(__path__)]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: str(kind.name))}
