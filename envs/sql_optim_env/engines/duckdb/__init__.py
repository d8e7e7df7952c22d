"""DuckDB: admission, execution on a locked read-only instance, deterministic cost, comparison of results, plans as text."""

from __future__ import annotations

from sql_optim_env.engines.duckdb.admission import AdmissionPolicy, Statement, policy_for
from sql_optim_env.engines.duckdb.capture import Capture
from sql_optim_env.engines.duckdb.database import Database, Run
from sql_optim_env.engines.duckdb.equality import Comparer, compare, has_distinct_rows

__all__ = ["AdmissionPolicy", "Capture", "Comparer", "Database", "Run", "Statement", "compare", "has_distinct_rows", "policy_for"]
