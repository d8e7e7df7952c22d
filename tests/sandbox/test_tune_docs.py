"""docs/tune.md is true: its worked example is measured again, and its figures are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.sqlite import apply_ddl, measure
from sql_optim_env.grading.score import log_score
from sql_optim_env.sandbox.tune_baseline import LEAST_EDGES, LEAST_GAIN, LEAST_TWINS
from sql_optim_env.sandbox.tune_jobs import MAX_GROWTH
from sql_optim_env.tasks.catalogue import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
TASK = catalogue().get("tune_lost_property")
PLAUSIBLE = next(variant for variant in TASK.tune.variants if variant.name == "plausible")
KIND, FOUND = PLAUSIBLE.ddl

EXAMPLE = {
    "the original": (TASK.sql, ()),
    "the original, with an index on `item(kind_id)`": (TASK.sql, (KIND,)),
    "an inner join, with an index on `item(kind_id)`": (PLAUSIBLE.sql, (KIND,)),
    "an inner join, with indexes on `item(kind_id)` and `item(found)`": (PLAUSIBLE.sql, (KIND, FOUND)),
    "an inner join, with an index on `item(kind_id)` and `ANALYZE`": (PLAUSIBLE.sql, (KIND, "ANALYZE")),
    "the reference: the join order written down, with an index on `item(kind_id)`": (TASK.tune.reference_sql, TASK.tune.reference_ddl),
}


@pytest.fixture(scope="module")
def public(depot: Path) -> bytes:
    return DatasetStore(depot).ensure(get_dataset(TASK.dataset).public).read_bytes()


def full_scan_steps(database: bytes, sql: str) -> int:
    """SQLite's own count, which the engine of this package has no use for."""
    found = 0

    def profile(event: dict[str, dict[str, int]]) -> None:
        nonlocal found
        found = event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"]

    con = apsw.Connection(":memory:")
    con.deserialize("main", database)
    con.trace_v2(apsw.SQLITE_TRACE_PROFILE, profile)
    con.execute(sql).fetchall()
    con.close()
    return found


@pytest.mark.parametrize("row", EXAMPLE)
def test_the_worked_example_is_what_is_measured(public: bytes, row: str) -> None:
    sql, ddl = EXAMPLE[row]
    database = apply_ddl(public, ddl, tables=TASK.tables, max_indexes=TASK.max_indexes)
    run = measure(database, sql, tables=TASK.tables)
    pages = {
        name: measure(apply_ddl(public, items, tables=TASK.tables, max_indexes=3), text, tables=TASK.tables).pages
        for name, (text, items) in {
            "original": EXAMPLE["the original"],
            "reference": (TASK.tune.reference_sql, TASK.tune.reference_ddl),
        }.items()
    }
    score = log_score(pages["original"], run.pages, pages["reference"])
    assert f"\n| {row} | {run.pages:,} | {full_scan_steps(database, sql):,} | {run.vm_steps:,} | {score:.2f} |\n" in PAGE


def test_every_row_of_the_example_is_measured() -> None:
    table = PAGE.split("| submission | pages |")[1].split("\n\n")[0]
    assert re.findall(r"^\| ([a-z].*?) \| \d", table, re.MULTILINE) == list(EXAMPLE)


def test_the_figures_of_the_page_are_those_of_the_code() -> None:
    words = {2: "two", 4: "four", 5: "five"}
    assert f"grow by {MAX_GROWTH >> 20} MiB" in PAGE
    assert f"at least {words[LEAST_GAIN]} times the pages" in PAGE.replace("\n", " ")
    assert f"at least {words[LEAST_EDGES]} small ones" in PAGE
    assert f"at least {words[LEAST_TWINS]} twins" in PAGE
