from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import hostile_jobs
from sql_optim_env.engines.base import Column
from sql_optim_env.errors import AgentError, ErrorCode, InfraError, UnknownTaskError
from sql_optim_env.grading.evidence import RewriteEvidence
from sql_optim_env.sandbox import jobs
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

TASK_ID = "task_1_basic_antipatterns"
TASK = catalogue().get(TASK_ID)
REFERENCE = TASK.rewrite.reference_sql

MakeSandbox = Callable[..., Sandbox]


def timeless(evidence: RewriteEvidence) -> RewriteEvidence:
    measurements = tuple(replace(m, submitted_ms=0.0) for m in evidence.measurements)
    return replace(evidence, measurements=measurements, wall_ms=0.0)


def test_preparation_measures_every_instance_in_the_order_in_which_answers_are_run(shop_sandbox: Sandbox) -> None:
    baseline = shop_sandbox.call(jobs.prepare_task, TASK_ID)
    roles = [item.role for item in baseline.instances]
    assert roles[0] == "public"
    assert roles[-1] == "twin"
    assert set(roles[1:-1]) == {"adversarial", "edge"}
    for item in baseline.instances:
        if item.role in ("public", "twin"):
            assert item.original_cost > 2 * item.reference_cost > 0
            assert item.original_ms > item.reference_ms > 0
        else:
            assert item.original_cost == item.reference_cost == 0


def test_preparation_is_done_once_and_then_read(make_sandbox: MakeSandbox, shop: Path) -> None:
    first, second = (make_sandbox(data_dir=shop, deadline_s=60.0).call(jobs.prepare_task, TASK_ID) for _ in range(2))
    # Clock figures are in it: measured again they would differ.
    assert first == second


def test_the_reference_is_equal_everywhere_and_costs_what_was_measured_before(shop_sandbox: Sandbox) -> None:
    baseline = shop_sandbox.call(jobs.prepare_task, TASK_ID)
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "cost")
    assert evidence.equal
    assert (evidence.measure, evidence.cost_version) == ("cost", baseline.cost_version)
    assert [m.instance for m in evidence.measurements] == [item.instance for item in baseline.instances]
    for measurement, item in zip(evidence.measurements, baseline.instances, strict=True):
        assert measurement.submitted_cost == item.reference_cost == measurement.reference_cost
        assert measurement.original_cost == item.original_cost
        assert (measurement.original_ms, measurement.reference_ms) == (item.original_ms, item.reference_ms)
        assert not measurement.hidden_work
    assert evidence.row_count == baseline.instances[0].row_count
    assert evidence.wall_ms > 0
    assert "SEQ_SCAN" in evidence.plan
    assert "actual" in evidence.plan


def test_a_copy_of_the_original_costs_what_the_original_costs(shop_sandbox: Sandbox) -> None:
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, TASK.sql, "cost")
    assert evidence.equal
    assert all(m.submitted_cost == m.original_cost for m in evidence.measurements)


def test_evidence_is_the_same_from_a_fresh_worker_apart_from_the_clock(make_sandbox: MakeSandbox, shop: Path) -> None:
    sandbox = make_sandbox(data_dir=shop, deadline_s=60.0)
    first = sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "cost")
    again = sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "cost")
    os.kill(sandbox.worker_pids()[0], signal.SIGKILL)
    fresh = sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "cost")
    assert timeless(first) == timeless(again) == timeless(fresh)


def test_a_wrong_answer_ends_at_the_public_instance_with_example_rows(shop_sandbox: Sandbox) -> None:
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, f"SELECT * FROM ({REFERENCE}) LIMIT 2", "cost")
    assert not evidence.equal
    (public,) = evidence.measurements
    assert public.role == "public"
    assert public.difference.kind == "rows"
    assert (public.difference.missing_count, public.difference.extra_count) == (2, 0)
    assert len(public.difference.missing) == 2
    assert public.submitted_cost > 0
    assert evidence.plan


def constants(sandbox: Sandbox) -> str:
    """The right answer on the public instance, written down as constants."""
    result = sandbox.call(jobs.run_query, TASK_ID, REFERENCE)

    def row(values: tuple[object, ...], columns: tuple[Column, ...]) -> str:
        cells = (f"CAST('{value}' AS {column.type}) AS \"{column.name}\"" for value, column in zip(values, columns, strict=True))
        return "SELECT " + ", ".join(cells)

    return " UNION ALL ".join(row(values, result.columns) for values in result.rows)


def test_an_answer_that_is_right_on_the_public_data_only_is_caught_and_nothing_is_shown(shop_sandbox: Sandbox) -> None:
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, constants(shop_sandbox), "cost")
    assert not evidence.equal
    assert evidence.measurements[0].difference.equal
    hidden = evidence.measurements[-1]
    assert hidden.role != "public"
    assert hidden.difference.message == "the result differs on a hidden instance"
    assert (hidden.difference.missing_count, hidden.difference.extra_count) == (0, 0)
    assert hidden.difference.missing == hidden.difference.extra == ()


def test_a_failure_on_hidden_data_says_nothing_about_the_data(shop_sandbox: Sandbox) -> None:
    # On the public instance the cast is never made; on others it fails, and the engine's message would quote the value.
    trap = (
        f"SELECT r.* FROM ({REFERENCE}) r WHERE"
        " (SELECT CASE WHEN count(*) = 500000 THEN 1 ELSE CAST(coalesce(max(status), 'x') AS INTEGER) END FROM orders) = 1"
    )
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, trap, "cost")
    assert evidence.error_code is ErrorCode.EXECUTION_ERROR
    assert evidence.error_message == "the statement ran on the public data and failed on other data of the same schema"
    assert [m.difference.equal for m in evidence.measurements][:1] == [True]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DELETE FROM orders", ErrorCode.NOT_ONE_SELECT),
        ("SELECT 1; SELECT 2", ErrorCode.NOT_ONE_SELECT),
        ("SELECT * FROM duckdb_settings()", ErrorCode.REFUSED_FUNCTION),
        ("SELEC 1", ErrorCode.SYNTAX_ERROR),
        ("SELECT no_such_column FROM orders", ErrorCode.BINDING_ERROR),
        ("SELECT CAST(status AS INTEGER) FROM orders", ErrorCode.EXECUTION_ERROR),
        ("SELECT a.id FROM orders a, orders b WHERE a.id <> b.id LIMIT 3000000", ErrorCode.RESULT_TOO_LARGE),
    ],
)
def test_a_statement_that_is_refused_or_fails_is_evidence_with_a_code_and_no_path(shop_sandbox: Sandbox, sql: str, code: ErrorCode) -> None:
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, sql, "cost")
    assert evidence.error_code is code
    assert evidence.error_message
    assert "duckdb/" not in evidence.error_message
    assert "/tmp" not in evidence.error_message
    assert evidence.measurements == ()
    assert not evidence.equal
    with pytest.raises(AgentError) as caught:
        shop_sandbox.call(jobs.run_query, TASK_ID, sql)
    assert caught.value.code is code


def test_with_the_time_measure_original_and_submission_are_timed_in_turns(shop_sandbox: Sandbox) -> None:
    baseline = shop_sandbox.call(jobs.prepare_task, TASK_ID)
    evidence = shop_sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "time")
    assert evidence.measure == "time"
    assert evidence.equal
    for measurement, item in zip(evidence.measurements, baseline.instances, strict=True):
        if measurement.scored:
            assert measurement.original_ms > 2 * measurement.submitted_ms > 0
            ratio = item.reference_ms / item.original_ms
            assert measurement.reference_ms == pytest.approx(measurement.original_ms * ratio)
            assert measurement.original_ms != item.original_ms


def test_a_query_shows_its_first_rows_as_json_values_and_the_cost_of_the_whole(shop_sandbox: Sandbox) -> None:
    result = shop_sandbox.call(jobs.run_query, TASK_ID, "SELECT id, total, created_at, status = 'paid' AS paid FROM orders ORDER BY id")
    assert [column.name for column in result.columns] == ["id", "total", "created_at", "paid"]
    assert [column.type for column in result.columns] == ["INTEGER", "DECIMAL(10,2)", "TIMESTAMP", "BOOLEAN"]
    assert (len(result.rows), result.row_count, result.truncated) == (50, 500_000, True)
    assert [type(value) for value in result.rows[0]] == [int, str, str, bool]
    assert [row[0] for row in result.rows] == list(range(1, 51))
    assert result.execution.cost > 0
    short = shop_sandbox.call(jobs.run_query, TASK_ID, "SELECT id FROM orders WHERE id <= 3", 10)
    assert (sorted(row[0] for row in short.rows), short.row_count, short.truncated) == ([1, 2, 3], 3, False)


def test_a_plan_comes_with_estimated_and_measured_rows(shop_sandbox: Sandbox) -> None:
    result = shop_sandbox.call(jobs.explain_query, TASK_ID, "SELECT status, count(*) FROM orders GROUP BY status")
    assert result.plan.startswith("PROJECTION") or "GROUP_BY" in result.plan
    assert "actual 500,000" in result.plan
    assert result.execution is not None
    assert result.execution.cost > 0
    assert str(Path.home()) not in result.plan


def test_a_statement_whose_result_is_too_large_is_planned_only(shop_sandbox: Sandbox) -> None:
    result = shop_sandbox.call(jobs.explain_query, TASK_ID, "SELECT a.id FROM orders a, orders b WHERE a.id <> b.id LIMIT 3000000")
    assert "LIMIT" in result.plan
    assert "actual" not in result.plan
    assert result.execution is None


def test_an_unknown_task_is_ours(shop_sandbox: Sandbox) -> None:
    with pytest.raises(InfraError):
        shop_sandbox.call(jobs.run_query, "no such task", "SELECT 1")
    with pytest.raises(UnknownTaskError):
        catalogue().get("no such task")


HOSTILE = {
    "a list of 300 million numbers": "SELECT len(range(300000000))",
    "a cross join of a trillion rows": "SELECT count(*) FROM orders a, orders b, orders c WHERE (a.id * b.id + c.id) % 7 = 3",
    "20,000 terms of OR": "SELECT count(*) FROM orders WHERE " + " OR ".join(f"id = {n}" for n in range(20_000)),
    "thousands of terms of OR that fit": "SELECT count(*) FROM orders WHERE " + " OR ".join(f"id={n}" for n in range(1_900)),
    "20,000 times UNION ALL": " UNION ALL ".join("SELECT 1" for _ in range(20_000)),
    "a thousand times UNION ALL": " UNION ALL ".join("SELECT 1" for _ in range(1_000)),
    "a join of 300 tables": "SELECT count(*) FROM orders t0 " + " ".join(f"JOIN orders t{n} USING (id)" for n in range(1, 300)),
    "a text of 30 MB": "SELECT '" + "x" * 30_000_000 + "'",
    "ten thousand parentheses": "SELECT " + "(" * 9_900 + "1" + ")" * 9_900,
    "a doubling chain of CTEs": "WITH c0 AS (SELECT id FROM orders), "
    + ", ".join(f"c{n} AS NOT MATERIALIZED (SELECT a.id FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 30))
    + " SELECT count(*) FROM c29",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_ends_as_an_agent_error_and_the_next_step_works(make_sandbox: MakeSandbox, shop: Path, name: str) -> None:
    sandbox = make_sandbox(workers=2, data_dir=shop, deadline_s=60.0)
    for job, arguments in ((jobs.grade_rewrite, (TASK_ID, HOSTILE[name], "cost")), (jobs.run_query, (TASK_ID, HOSTILE[name]))):
        with ThreadPoolExecutor() as threads:
            neighbour = threads.submit(sandbox.call, jobs.run_query, TASK_ID, "SELECT count(*) AS n FROM orders")
            began = time.monotonic()
            try:
                outcome = sandbox.call(job, *arguments, deadline_s=2.0)
            except AgentError as error:
                code: ErrorCode | None = error.code
            else:
                code = outcome.error_code if isinstance(outcome, RewriteEvidence) else None
                if name in ("thousands of terms of OR that fit", "a thousand times UNION ALL"):
                    # Admitted, and harmless on a fast machine: a row set is a fine ending too.
                    code = code or ErrorCode.TIMEOUT
            assert time.monotonic() - began < 8.0
            assert neighbour.result().rows == ((500_000,),)
        assert code is not None, outcome
    assert sandbox.call(jobs.run_query, TASK_ID, "SELECT max(id) AS n FROM orders").rows == ((500_000,),)


def test_a_worker_killed_in_the_middle_of_a_grade_is_an_infra_error_and_the_next_grade_works(make_sandbox: MakeSandbox, shop: Path) -> None:
    sandbox = make_sandbox(data_dir=shop, deadline_s=60.0)
    slow = "SELECT count(*) FROM orders a, orders b WHERE (a.id * b.id) % 7 = 3"
    sandbox.call(hostile_jobs.echo, 1)
    with ThreadPoolExecutor() as threads:
        grade = threads.submit(sandbox.call, jobs.grade_rewrite, TASK_ID, slow, "cost")
        time.sleep(1.0)
        assert not grade.done()
        os.kill(sandbox.worker_pids()[0], signal.SIGKILL)
        with pytest.raises(InfraError, match="killed from outside with SIGKILL"):
            grade.result()
    assert sandbox.call(jobs.grade_rewrite, TASK_ID, REFERENCE, "cost").equal
