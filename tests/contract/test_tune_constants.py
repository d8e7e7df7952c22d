"""Ways to buy a tune score that are made from the visible data: each earns nothing, or what the honest part of it earns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.grading.report import GradeReport
from sql_optim_env.grading.tune import grade_tune
from sql_optim_env.sandbox import tune_jobs
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("tune_seed_bank")


class Judge:
    """Grades submissions to the task in a worker, as a server does."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def grade(self, sql: str, ddl: tuple[str, ...] = ()) -> tuple[GradeReport, str]:
        """The grade, and the code of the error if there is one."""
        evidence = self.sandbox.call(tune_jobs.grade_tune, TASK.id, sql, ddl)
        return grade_tune(TASK, evidence), evidence.error_code.value if evidence.error_code is not None else ""

    def visible_rows(self) -> list[tuple[Any, ...]]:
        """The right result on the public data, as any agent can look at it."""
        seen = self.sandbox.call(tune_jobs.scratch_query, TASK.id, None, Path("unused"), TASK.sql, 1_000)
        assert not seen.truncated
        return [tuple(row) for row in seen.rows]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    chosen = os.environ.get("SQL_OPTIM_DATA_DIR")
    data_dir = Path(chosen) if chosen else tmp_path_factory.mktemp("datasets")
    with Sandbox(workers=1, data_dir=data_dir, deadline_s=60.0, scratch_root=tmp_path_factory.mktemp("scratch")) as sandbox:
        sandbox.call(tune_jobs.prepare_tune, TASK.id, deadline_s=240.0)
        yield Judge(sandbox)


def literal(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def constants(rows: list[tuple[Any, ...]]) -> str:
    return "VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


def test_the_honest_submission_earns_everything_and_the_original_nothing(judge: Judge) -> None:
    assert judge.grade(TASK.tune.reference_sql, TASK.tune.reference_ddl)[0].score == 1.0
    assert judge.grade(TASK.sql)[0].score == 0.0


def test_the_visible_rows_as_constants_are_wrong_on_hidden_data(judge: Judge) -> None:
    answer = constants(judge.visible_rows())
    for sql in (
        f"WITH a(taxon, accessions, seeds, tested, weakest) AS ({answer}) SELECT * FROM a",
        f"WITH RECURSIVE a(taxon, accessions, seeds, tested, weakest) AS ({answer} UNION SELECT * FROM a) SELECT * FROM a",
    ):
        report, code = judge.grade(sql)
        assert (report.score, code) == (0.0, "")
        assert "right on the public data, but different" in report.feedback


@pytest.mark.parametrize(
    ("honest", "ddl", "most"),
    [(TASK.sql, (), 0.0), (TASK.tune.reference_sql, TASK.tune.reference_ddl, 1.0)],
    ids=["the original elsewhere", "the reference elsewhere"],
)
def test_a_branch_on_a_fingerprint_of_the_visible_data_earns_what_its_honest_part_earns(
    judge: Judge, honest: str, ddl: tuple[str, ...], most: float
) -> None:
    seen = judge.sandbox.call(tune_jobs.scratch_query, TASK.id, None, Path("unused"), "SELECT MAX(id) FROM accession")
    here = f"coalesce((SELECT MAX(id) FROM accession) = {seen.rows[0][0]}, 0)"
    # The outer loop has no row here, so that the inner one never touches the table.
    elsewhere = honest.replace("FROM accession", f"FROM (SELECT 1 WHERE NOT {here}) CROSS JOIN accession")
    sql = (
        f"WITH a(taxon, accessions, seeds, tested, weakest) AS ({constants(judge.visible_rows())})"
        f" SELECT * FROM a WHERE {here} UNION ALL SELECT * FROM ({elsewhere})"
    )
    report, code = judge.grade(sql, ddl)
    assert code == ""
    assert report.execution is not None
    assert report.execution.equal, report.feedback
    assert (report.execution.submitted_cost or 0) < 20
    assert most - 0.05 <= report.score <= most
