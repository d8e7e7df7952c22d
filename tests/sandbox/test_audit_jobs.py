from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.engines.sqlite import engine_version
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.audit_evidence import FixResult, Look, TableChange
from sql_optim_env.sandbox import audit_bench as bench_module
from sql_optim_env.sandbox import tune_baseline
from sql_optim_env.sandbox.audit_bench import AuditBench, audit_digest
from sql_optim_env.sandbox.audit_jobs import (
    SAMPLE_ROWS,
    audit_fix,
    audit_grade,
    audit_open,
    audit_profile,
    audit_query,
    prepare_audit,
)
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario
from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("dedup_bug")
SEED = 11
SCENARIO = scenario_of(TASK, SEED)
TABLE, COLUMN = SCENARIO.defect.table, SCENARIO.defect.columns[0]
MAKES_ITS_TABLE = catalogue().get("schema_drift")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
HAND_MADE = [task for task in catalogue().hand_made() if task.family == "audit"]


@pytest.fixture
def audit_sandbox(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    return make_sandbox(deadline_s=30.0)


def query(sandbox: Sandbox, sql: str, fix: str = "", seed: int | None = SEED) -> Look:
    return sandbox.call(audit_query, TASK.id, seed, sql, fix)


def fix(sandbox: Sandbox, script: str) -> FixResult:
    return sandbox.call(audit_fix, TASK.id, SEED, script)


def count(table: str = TABLE) -> str:
    return f'SELECT count(*) FROM "{table}"'


def test_an_episode_opens_with_the_schema_its_row_counts_and_the_first_rows_of_each_table(audit_sandbox: Sandbox) -> None:
    brief = audit_sandbox.call(audit_open, TASK.id, SEED)
    content = kinds()["dedup_bug"].content(SCENARIO, "base")
    assert [sample.table for sample in brief.samples] == list(content.rows)
    for sample in brief.samples:
        assert len(sample.rows) == min(SAMPLE_ROWS, sample.row_count)
        assert sample.row_count == len(content.rows[sample.table])
        assert query(audit_sandbox, f'SELECT * FROM "{sample.table}" ORDER BY rowid LIMIT {SAMPLE_ROWS}').shown.rows == sample.rows
        noun = "row" if sample.row_count == 1 else "rows"
        assert f"-- {sample.row_count:,} {noun}\nCREATE TABLE {sample.table}" in brief.schema_info.replace('"', "")
    for statement in content.ddl:
        assert statement in brief.schema_info


def test_without_a_seed_the_sizes_are_the_documented_ones(audit_sandbox: Sandbox) -> None:
    table = scenario_of(TASK, None).defect.table
    counts = {sample.table: sample.row_count for sample in audit_sandbox.call(audit_open, TASK.id, None).samples}
    assert counts[table] == 320


def test_a_query_runs_on_the_broken_database_and_on_a_copy_with_the_fix(audit_sandbox: Sandbox) -> None:
    before = query(audit_sandbox, count())
    assert before.repaired is None
    after = query(audit_sandbox, count(), f'DELETE FROM "{TABLE}"')
    assert after.shown == before.shown
    assert after.repaired is not None
    assert (before.shown.rows[0][0] or 0, after.repaired.rows) > (0, ((0,),))
    assert after.reads == before.reads
    assert query(audit_sandbox, count()) == before


def test_a_look_says_what_it_read(audit_sandbox: Sandbox) -> None:
    found = query(audit_sandbox, f'SELECT "{COLUMN}" FROM "{TABLE}"')
    assert (TABLE.lower(), COLUMN.lower()) in found.reads.columns
    assert found.reads.vm_steps >= found.shown.row_count
    assert found.shown.truncated
    assert len(found.shown.rows) == 50
    assert query(audit_sandbox, f"SELECT '{TABLE}.{COLUMN}' AS x -- {COLUMN}").reads.columns == frozenset()
    assert query(audit_sandbox, f'PRAGMA table_info("{TABLE}")').reads.structures == {TABLE.lower()}


def test_a_query_that_fails_on_the_repaired_copy_only_says_so(audit_sandbox: Sandbox) -> None:
    found = query(audit_sandbox, count(), f'DROP TABLE "{TABLE}"')
    assert found.repaired is None
    assert "no such table" in found.repaired_error
    assert found.shown.row_count == 1


def test_a_query_whose_names_the_fix_has_made_is_a_look_at_the_copy_alone(audit_sandbox: Sandbox) -> None:
    made = "CREATE TABLE notes AS SELECT 7 AS n"
    found = query(audit_sandbox, "SELECT n FROM notes", made)
    assert found.repaired is not None
    assert (found.repaired.rows, found.shown.rows, found.shown.row_count) == (((7,),), (), 0)
    assert "no such table: notes" in found.broken_error
    assert found.reads.columns == {("notes", "n")}
    facts, look = audit_sandbox.call(audit_profile, TASK.id, SEED, "notes", "n", made)
    assert (facts.row_count, facts.minimum, facts.maximum) == (1, 7, 7)
    assert look.broken_error
    with pytest.raises(AgentError, match="no such table: notes") as error:
        query(audit_sandbox, "SELECT n FROM notes")
    assert error.value.code is ErrorCode.BINDING_ERROR
    with pytest.raises(AgentError, match="no such table: other"):
        query(audit_sandbox, "SELECT n FROM other", made)


@pytest.mark.parametrize("sql", [f'DELETE FROM "{TABLE}"', f'DROP TABLE "{TABLE}"', "ATTACH 'x' AS y", "SELECT 1; SELECT 2", "VACUUM"])
def test_a_query_only_reads(audit_sandbox: Sandbox, sql: str) -> None:
    whole = query(audit_sandbox, count())
    with pytest.raises(AgentError):
        query(audit_sandbox, sql, SCENARIO.reference_fix)
    assert query(audit_sandbox, count()) == whole


def test_a_profile_counts_a_column_and_is_a_look_at_it(audit_sandbox: Sandbox) -> None:
    facts, look = audit_sandbox.call(audit_profile, TASK.id, SEED, TABLE, COLUMN, SCENARIO.reference_fix)
    found = query(audit_sandbox, f'SELECT count(*), count("{COLUMN}"), count(DISTINCT "{COLUMN}") FROM "{TABLE}"').shown.rows[0]
    assert (facts.row_count, facts.row_count - facts.null_count, facts.distinct_count) == found
    assert sum(number for _, number in facts.types) == facts.row_count
    assert (TABLE.lower(), COLUMN.lower()) in look.reads.columns
    assert query(audit_sandbox, look.sql).shown == look.shown
    assert look.repaired is not None
    with pytest.raises(AgentError) as error:
        audit_sandbox.call(audit_profile, TASK.id, SEED, TABLE, "nope", "")
    assert error.value.code is ErrorCode.BINDING_ERROR


def test_a_fix_says_what_it_did_to_each_table_and_changes_nothing_for_later(audit_sandbox: Sandbox) -> None:
    rows = query(audit_sandbox, count()).shown.rows[0][0]
    assert isinstance(rows, int)
    other = next(sample.table for sample in audit_sandbox.call(audit_open, TASK.id, SEED).samples if sample.table != TABLE)
    lost = query(audit_sandbox, count(other)).shown.rows[0][0]
    result = fix(
        audit_sandbox,
        f'CREATE TABLE notes (n); INSERT INTO notes VALUES (1), (1), (2); DELETE FROM "{TABLE}" WHERE rowid <= 3;'
        f' PRAGMA foreign_keys = OFF; DROP TABLE "{other}"; SELECT count(*) AS n FROM notes',
    )
    assert {change.table: change for change in result.changes} == {
        TABLE: TableChange(TABLE, rows, rows - 3, 0, 3),
        other: TableChange(other, lost, None, 0, lost),
        "notes": TableChange("notes", None, 3, 3, 0),
    }
    assert result.shown is not None
    assert (result.shown.rows, result.statements) == (((3,),), 6)
    assert query(audit_sandbox, count()).shown.rows == ((rows,),)
    assert fix(audit_sandbox, "SELECT 1").changes == ()


def test_values_that_change_their_type_and_columns_that_change_their_name_are_changes(audit_sandbox: Sandbox) -> None:
    rows = query(audit_sandbox, count()).shown.rows[0][0]
    assert isinstance(rows, int)
    renamed = fix(audit_sandbox, f'ALTER TABLE "{TABLE}" RENAME COLUMN "{COLUMN}" TO other_name').changes
    assert TableChange(TABLE, rows, rows, rows, rows) in renamed
    added = fix(audit_sandbox, f'ALTER TABLE "{TABLE}" ADD COLUMN extra').changes
    assert added == (TableChange(TABLE, rows, rows, rows, rows),)


def test_a_failing_fix_names_its_statement_and_leaves_nothing(audit_sandbox: Sandbox) -> None:
    with pytest.raises(AgentError, match="2"):
        fix(audit_sandbox, f'DELETE FROM "{TABLE}"; SELECT * FROM nope')
    with pytest.raises(AgentError):
        query(audit_sandbox, count("nope"), "")
    assert query(audit_sandbox, count()).shown.rows != ((0,),)


@pytest.mark.parametrize("task", [task for task in HAND_MADE if task.max_fixes], ids=lambda task: str(task.id))
@pytest.mark.parametrize("seed", [None, 3])
def test_the_reference_repairs_every_database_of_every_task(audit_sandbox: Sandbox, task: Any, seed: int | None) -> None:
    scenario = scenario_of(task, seed)
    evidence = audit_sandbox.call(audit_grade, task.id, seed, scenario.reference_fix, (scenario.check, "SELECT 1"))
    assert tuple(facts.variant for facts in evidence.facts) == VARIANTS
    for facts in evidence.facts:
        assert (facts.error_code, facts.target_present, facts.declared) == (None, True, True)
        assert (facts.good_kept, facts.others_kept) == (facts.good_total, facts.others_total)
        assert (facts.surplus, facts.others_surplus) == (0, 0)
        assert facts.mended >= scenario.perfect_share * facts.defects > 0
    assert evidence.checks == (True, False)
    assert evidence.engine_version == engine_version()
    rows = kinds()[task.audit.kind].content(scenario, "base").rows[scenario.defect.table]
    assert evidence.table_rows == len(rows)


def test_without_a_fix_there_is_nothing_but_the_size(audit_sandbox: Sandbox) -> None:
    evidence = audit_sandbox.call(audit_grade, TASK.id, SEED, "", ())
    assert (evidence.facts, evidence.checks) == ((), ())
    assert evidence.table_rows > 0


def test_a_fix_that_fails_on_hidden_data_only_is_a_fact_with_a_code_and_the_figures_of_the_broken_data(audit_sandbox: Sandbox) -> None:
    columns = len(query(audit_sandbox, f'SELECT * FROM "{TABLE}" LIMIT 1').shown.columns)
    script = f'{SCENARIO.reference_fix}; INSERT INTO "{TABLE}" SELECT {", ".join(["NULL"] * columns)} WHERE 0'
    base, extra, *_ = audit_sandbox.call(audit_grade, TASK.id, SEED, script, ()).facts
    untouched = audit_sandbox.call(audit_grade, TASK.id, SEED, "SELECT 1", ()).facts[1]
    assert (base.error_code, base.mended) == (None, base.defects)
    assert extra.error_code is not None
    assert extra == replace(untouched, error_code=extra.error_code)


@pytest.mark.parametrize(
    ("sql", "could_fail"),
    [
        (SCENARIO.check, True),
        (count(), True),
        (f'SELECT 1 FROM "{TABLE}" WHERE 0', False),
        (f'PRAGMA table_info("{TABLE}")', False),
        (f'SELECT min("{COLUMN}") FROM "{TABLE}"', False),
        ("SELECT * FROM nope", False),
        ("DELETE FROM x", False),
    ],
)
def test_a_check_counts_when_its_result_tells_the_repaired_database_from_the_broken_one(
    audit_sandbox: Sandbox, sql: str, could_fail: bool
) -> None:
    assert audit_sandbox.call(audit_grade, TASK.id, SEED, "SELECT 1", (sql,)).checks == (could_fail,)


def test_a_check_of_a_table_that_only_the_repair_makes_could_fail(audit_sandbox: Sandbox) -> None:
    scenario = scenario_of(MAKES_ITS_TABLE, SEED)
    evidence = audit_sandbox.call(audit_grade, MAKES_ITS_TABLE.id, SEED, scenario.reference_fix, (count(scenario.target), count("nope")))
    assert evidence.checks == (True, False)


def everything(sandbox: Sandbox, task_id: str, seed: int | None) -> list[object]:
    scenario = scenario_of(catalogue().get(task_id), seed)
    script, sql = scenario.reference_fix, scenario.column_look
    return [
        sandbox.call(audit_open, task_id, seed),
        sandbox.call(audit_query, task_id, seed, sql, ""),
        sandbox.call(audit_query, task_id, seed, sql, script),
        sandbox.call(audit_profile, task_id, seed, scenario.defect.table, scenario.defect.columns[0], ""),
        sandbox.call(audit_fix, task_id, seed, script),
        sandbox.call(audit_grade, task_id, seed, script, (scenario.check,)),
    ]


def test_everything_is_the_same_in_every_worker_and_every_time(make_sandbox: Callable[..., Sandbox]) -> None:
    one, two = make_sandbox(deadline_s=30.0), make_sandbox(deadline_s=30.0)
    found = everything(one, TASK.id, SEED)
    assert everything(one, TASK.id, SEED) == found
    assert everything(two, TASK.id, SEED) == found


def test_problems_that_share_a_worker_do_not_mix(make_sandbox: Callable[..., Sandbox]) -> None:
    shared = make_sandbox(deadline_s=30.0)
    problems = [(TASK.id, None), (TASK.id, 1), (TASK.id, 2), ("fk_integrity", 1)]
    together = [everything(shared, *problem) for problem in problems for _ in range(2)]
    for number, problem in enumerate(problems):
        alone = everything(make_sandbox(deadline_s=30.0), *problem)
        assert together[2 * number] == together[2 * number + 1] == alone
    assert len({str(found[0]) for found in together}) == len(problems)


def test_an_endless_fix_or_query_ends_in_time_and_the_worker_serves_on(make_sandbox: Callable[..., Sandbox]) -> None:
    sandbox = make_sandbox(deadline_s=4.0)
    for call in (lambda: fix(sandbox, ENDLESS), lambda: query(sandbox, ENDLESS)):
        with pytest.raises(AgentError) as error:
            call()
        assert error.value.code is ErrorCode.TIMEOUT
    assert query(sandbox, count()).shown.row_count == 1


def test_no_job_leaves_a_file(make_sandbox: Callable[..., Sandbox], tmp_path: Path) -> None:
    sandbox = make_sandbox(deadline_s=30.0)
    everything(sandbox, TASK.id, SEED)
    assert [path.name for path in (tmp_path / "data").rglob("*") if path.is_file()] == []
    assert [path for path in (tmp_path / "scratch").glob("*/*/scratch/*")] == []


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> AuditBench:
    """A bench in this process, where no deadline runs."""
    monkeypatch.setattr(tune_baseline, "remaining_s", lambda: 60.0)
    bench = AuditBench()
    monkeypatch.setattr(bench_module, "audit_bench", lambda: bench)
    monkeypatch.setattr("sql_optim_env.sandbox.audit_jobs.audit_bench", lambda: bench)
    return bench


@pytest.mark.parametrize("task", HAND_MADE, ids=lambda task: str(task.id))
def test_every_task_can_be_prepared(here: AuditBench, task: Any) -> None:
    prepare_audit(task.id)


def test_a_task_whose_reference_repairs_nothing_is_broken(here: AuditBench, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(task: Any, seed: int | None) -> Scenario:
        return replace(scenario_of(task, seed), reference_fix="SELECT 1")

    monkeypatch.setattr(bench_module, "scenario_of", drawn)
    with pytest.raises(InfraError, match="task dedup_bug is broken: its reference does not repair it"):
        prepare_audit(TASK.id)


def test_databases_are_built_once_and_the_least_recently_used_is_dropped(here: AuditBench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = here.built(here.problem(TASK.id, 0))
    assert here.built(here.problem(TASK.id, 0)) is first
    for seed in range(1, 64):
        here._built.put((TASK.id, seed, "base"), first)
        assert here.built(here.problem(TASK.id, 0)) is first
    here._built.put((TASK.id, 64, "base"), first)
    assert here._built.get((TASK.id, 1, "base")) is None
    again = here.built(here.problem(TASK.id, 0))
    assert again is first
    here.release()
    rebuilt = here.built(here.problem(TASK.id, 0))
    assert rebuilt is not first
    assert rebuilt == first


def test_a_task_of_another_family_is_refused(here: AuditBench) -> None:
    with pytest.raises(InfraError, match="is not an audit task"):
        here.problem("tune_seed_bank", None)


def test_the_digest_is_of_the_sources_that_draw_problems() -> None:
    assert len(audit_digest()) == 24
    assert set(audit_digest()) <= set("0123456789abcdef")
