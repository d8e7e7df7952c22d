"""SQLite: clean-room DDL, admitted queries measured in pages, one statement at a time on a scratch copy, equality of results.

Everything takes a database as the bytes of its file and works on a private copy in memory.
"""

from __future__ import annotations

from sql_optim_env.engines.sqlite.capture import Capture
from sql_optim_env.engines.sqlite.connection import Caps
from sql_optim_env.engines.sqlite.ddl import apply_ddl
from sql_optim_env.engines.sqlite.equality import compare
from sql_optim_env.engines.sqlite.measure import Run, measure
from sql_optim_env.engines.sqlite.rules import DdlError, Rule, describe_rules
from sql_optim_env.engines.sqlite.scratch import ScratchRun, explain_statement, run_statement
from sql_optim_env.engines.sqlite.version import assert_engine, engine_version

__all__ = [
    "Caps",
    "Capture",
    "DdlError",
    "Rule",
    "Run",
    "ScratchRun",
    "apply_ddl",
    "assert_engine",
    "compare",
    "describe_rules",
    "engine_version",
    "explain_statement",
    "measure",
    "run_statement",
]
