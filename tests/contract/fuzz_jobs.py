"""What runs in a worker: batches of written statements against one small database, each with its outcome."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from contract.sql_grammar import Grammar
from sql_optim_env.engines.duckdb.admission import policy_for
from sql_optim_env.engines.duckdb.database import Database
from sql_optim_env.engines.sqlite import Caps, measure, run_statement
from sql_optim_env.errors import AgentError

MAX_ROWS, MAX_BYTES = 100_000, 8 << 20
STEPS = 5_000_000
"""Of the virtual machine: what a statement of a fuzzer may take, so that ten thousand of them take seconds."""


def duckdb_batch(path: Path, temp_dir: Path, tables: dict[str, tuple[str, ...]], seed: int, count: int) -> Counter[str]:
    """Outcomes by name: ``rows``, or the code of an agent error. Any other exception leaves."""
    grammar, outcomes = Grammar(seed, tables), Counter[str]()
    policy = policy_for("SELECT 1", tuple(tables))
    with Database(path, memory_mb=256, spill_mb=64, temp_dir=temp_dir) as database:
        for _ in range(count):
            try:
                database.run(database.admit(grammar.statement(), policy), max_rows=MAX_ROWS, max_bytes=MAX_BYTES, priced=False)
                outcomes["rows"] += 1
            except AgentError as error:
                assert error.message
                outcomes[error.code.value] += 1
    return outcomes


def sqlite_batch(path: Path, tables: dict[str, tuple[str, ...]], seed: int, count: int) -> Counter[str]:
    """As :func:`duckdb_batch`: each statement as a submission and as an experiment on a copy."""
    grammar, outcomes = Grammar(seed, tables), Counter[str]()
    database = path.read_bytes()
    caps = Caps(max_vm_steps=STEPS, deadline_s=10.0, max_rows=MAX_ROWS, max_bytes=MAX_BYTES)

    def submission(sql: str) -> object:
        return measure(database, sql, tables=tuple(tables), caps=caps)

    def experiment(sql: str) -> object:
        return run_statement(database, sql, caps=caps)

    for _ in range(count):
        statement = grammar.statement()
        for run in (submission, experiment):
            try:
                run(statement)
                outcomes["rows"] += 1
            except AgentError as error:
                assert error.message
                outcomes[error.code.value] += 1
    return outcomes
