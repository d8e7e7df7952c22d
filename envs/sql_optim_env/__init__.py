"""SQL optimisation as an OpenEnv environment: the names a user imports.

They are loaded on first use: OpenEnv's library takes seconds to import, and the sandbox's workers need none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sql_optim_env.client import InfraFault, ServerError, SessionExpired, SQLOptimEnv
    from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, SQLOptimState, Suggestion

__all__ = [
    "InfraFault",
    "SQLOptimAction",
    "SQLOptimEnv",
    "SQLOptimObservation",
    "SQLOptimState",
    "ServerError",
    "SessionExpired",
    "Suggestion",
    "__version__",
]

__version__ = "0.1.0"

_HOMES = {
    "InfraFault": "client",
    "SQLOptimAction": "models",
    "SQLOptimEnv": "client",
    "SQLOptimObservation": "models",
    "SQLOptimState": "models",
    "ServerError": "client",
    "SessionExpired": "client",
    "Suggestion": "models",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
