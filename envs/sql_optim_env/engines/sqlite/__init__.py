"""SQLite: clean-room DDL, admitted queries measured in pages, scratch copies, equality of results; looks, repairing scripts, tables.

Everything takes a database as the bytes of its file and works on a private copy in memory.
"""

from __future__ import annotations

from sql_optim_env.engines.sqlite.build import build_database
from sql_optim_env.engines.sqlite.capture import Capture
from sql_optim_env.engines.sqlite.connection import Caps
from sql_optim_env.engines.sqlite.ddl import apply_ddl
from sql_optim_env.engines.sqlite.equality import compare
from sql_optim_env.engines.sqlite.investigate import Investigated, column_facts, look, profile_sql
from sql_optim_env.engines.sqlite.measure import Run, measure
from sql_optim_env.engines.sqlite.rules import DdlError, Rule, describe_rules
from sql_optim_env.engines.sqlite.scratch import ScratchRun, explain_statement, run_statement
from sql_optim_env.engines.sqlite.script import ScriptRun, run_script
from sql_optim_env.engines.sqlite.showing import JsonValue, ShownRows
from sql_optim_env.engines.sqlite.tables import declared_types, read_rows, table_names
from sql_optim_env.engines.sqlite.version import assert_engine, engine_version

__all__ = [
    "Caps",
    "Capture",
    "DdlError",
    "Investigated",
    "JsonValue",
    "Rule",
    "Run",
    "ScratchRun",
    "ScriptRun",
    "ShownRows",
    "apply_ddl",
    "assert_engine",
    "build_database",
    "column_facts",
    "compare",
    "declared_types",
    "describe_rules",
    "engine_version",
    "explain_statement",
    "look",
    "measure",
    "profile_sql",
    "read_rows",
    "run_script",
    "run_statement",
    "table_names",
]
