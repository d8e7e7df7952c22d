"""Statements that nothing but the sandbox stops: run as they are, without admission, in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sandbox import hostile_jobs as jobs
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.sandbox.pool import Sandbox

DEADLINE_S = 1.0
PROMPTLY_S = 6.0
"""Far above the deadline: the machine that runs the tests may be busy. What matters is that the end comes at all."""

STOPPED = ("timeout", "out_of_memory")
ENGINE_GIVES_UP = (*STOPPED, "OutOfMemoryException")

STATEMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a list of 300 million numbers": ("SELECT len(range(300000000))", ENGINE_GIVES_UP),
    "a billion numbers, unnested": ("SELECT count(*) FROM (SELECT unnest(range(1000000000)))", ENGINE_GIVES_UP),
    "a string of 1.5 GB": ("SELECT length(lpad('x', 1500000000, 'y'))", ENGINE_GIVES_UP),
    "a cross join of a trillion rows": ("SELECT count(*) FROM range(1000000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3", STOPPED),
    "20,000 terms of OR": (
        "SELECT count(*) FROM range(10) t(i) WHERE " + " OR ".join(f"i + {n} = {2 * n}" for n in range(20_000)),
        (*ENGINE_GIVES_UP, "done"),
    ),
    "20,000 times UNION ALL": (" UNION ALL ".join(f"SELECT {n} AS n" for n in range(20_000)), (*ENGINE_GIVES_UP, "done")),
    "a join of 300 tables": (
        "WITH t AS (SELECT 1 AS k) SELECT count(*) FROM t t0 " + " ".join(f"JOIN t t{n} USING (k)" for n in range(1, 300)),
        ENGINE_GIVES_UP,
    ),
    "a text of 30 MB": ("SELECT '" + "x" * 30_000_000 + "'", (*ENGINE_GIVES_UP, "done")),
    "ten thousand parentheses": ("SELECT " + "(" * 10_000 + "1" + ")" * 10_000, ("ParserException",)),
    "endless recursion": ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r", STOPPED),
    "a doubling chain of CTEs": (
        "WITH c0 AS (SELECT 1 AS x), "
        + ", ".join(f"c{n} AS NOT MATERIALIZED (SELECT a.x FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 40))
        + " SELECT count(*) FROM c39",
        ENGINE_GIVES_UP,
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_without_bounds_ends_and_harms_nobody(make_sandbox: Callable[..., Sandbox], name: str) -> None:
    sandbox = make_sandbox(workers=2, deadline_s=DEADLINE_S)
    statement, endings = STATEMENTS[name]
    with ThreadPoolExecutor() as threads:
        began = time.monotonic()
        hostile = threads.submit(sandbox.call, jobs.run_sql_unprotected, statement)
        neighbour = threads.submit(sandbox.call, jobs.echo, "unharmed", deadline_s=10.0)
        assert neighbour.result() == "unharmed"
        try:
            ending = hostile.result()
        except AgentError as error:
            ending = error.code.value
        assert time.monotonic() - began < PROMPTLY_S
    assert ending in endings
    assert sandbox.call(jobs.echo, "next", deadline_s=10.0) == "next"


@pytest.mark.parametrize(
    ("job", "arguments", "code"),
    [
        (jobs.crash_with_a_null_pointer, (), ErrorCode.ENGINE_CRASH),
        (jobs.abort, (), ErrorCode.ENGINE_CRASH),
        (jobs.abort_for_want_of_memory, (), ErrorCode.OUT_OF_MEMORY),
        (jobs.leave_with, (7,), ErrorCode.ENGINE_CRASH),
        (jobs.leave_with, (0,), ErrorCode.ENGINE_CRASH),
        (jobs.call_sys_exit, (), ErrorCode.ENGINE_CRASH),
        (jobs.spin, (), ErrorCode.TIMEOUT),
        (jobs.compute_in_native_code, (), ErrorCode.TIMEOUT),
    ],
    ids=["null pointer", "abort", "bad_alloc", "exit 7", "exit 0", "sys.exit", "endless loop", "native code"],
)
def test_a_worker_that_is_brought_down_is_an_agent_error_and_is_replaced(
    make_sandbox: Callable[..., Sandbox], job: Callable[..., Any], arguments: tuple[Any, ...], code: ErrorCode
) -> None:
    sandbox = make_sandbox(workers=1, deadline_s=DEADLINE_S)
    began = time.monotonic()
    with pytest.raises(AgentError) as caught:
        sandbox.call(job, *arguments)
    assert time.monotonic() - began < PROMPTLY_S
    assert caught.value.code is code
    assert "/" not in caught.value.message, "no path reaches the agent"
    assert sandbox.call(jobs.echo, "next", deadline_s=10.0) == "next"


def test_native_code_cannot_delay_its_end(make_sandbox: Callable[..., Sandbox]) -> None:
    sandbox = make_sandbox(workers=1)
    began = time.monotonic()
    with pytest.raises(AgentError, match=r"did not finish within 0\.5 s"):
        sandbox.call(jobs.compute_in_native_code, deadline_s=0.5)
    # pebble alone would ask with SIGTERM and wait 3 s before SIGKILL.
    assert time.monotonic() - began < 2.4
