"""Loaded by every process of a server under test (its directory stands in PYTHONPATH): plants a marker in every piece of grader data.

A marker is a comment or a word that changes no result, so the tasks stay what they are. Where one of them is ever seen from outside, grader
data has leaked.
"""

from __future__ import annotations

from dataclasses import replace

import sql_optim_env.tasks.audit.draw as draw
import sql_optim_env.tasks.loader as loader
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import Content, Kind, Scenario, Variant
from sql_optim_env.tasks.task import RewriteGrader, Task, TuneGrader, TuneVariant

MARK = "mk7f3a"
PLAYED = {
    "task_1_basic_antipatterns",
    "task_6_segment_revenue",
    "tune_seed_bank",
    "tune_country_vet",
    "type_repair",
    "null_audit",
    "dedup_bug",
}


def commented(sql: str, name: str) -> str:
    return f"{sql}\n/* {MARK}_{name} */"


def variant(found: TuneVariant) -> TuneVariant:
    return replace(found, sql=commented(found.sql, "variant"), why=f"{found.why} {MARK}_why")


def planted(task: Task) -> Task:
    grader = task.grader
    if isinstance(grader, RewriteGrader):
        texts = tuple(commented(sql, "equivalent") for sql in grader.equivalents)
        reference = commented(grader.reference_sql, "reference") if not grader.optimal else grader.reference_sql
        return replace(task, grader=replace(grader, reference_sql=reference, summary=f"{grader.summary} {MARK}_summary", equivalents=texts))
    if isinstance(grader, TuneGrader):
        return replace(
            task,
            grader=replace(
                grader,
                reference_sql=commented(grader.reference_sql, "reference"),
                reference_ddl=tuple(commented(sql, "ddl") for sql in grader.reference_ddl),
                variants=tuple(map(variant, grader.variants)),
                wrong=tuple(map(variant, grader.wrong)),
            ),
        )
    return task


def plant_scenarios() -> None:
    drawn = draw.scenario_of

    def scenario_of(task: Task, seed: int | None) -> Scenario:
        found = drawn(task, seed)
        return replace(
            found,
            reference_fix=f"{found.reference_fix}\n/* {MARK}_fix */" if found.reference_fix else "",
            structure_look=commented(found.structure_look, "structure_look"),
            column_look=commented(found.column_look, "column_look"),
            check=commented(found.check, "check") if found.check else "",
        )

    draw.scenario_of = scenario_of


def plant_rows(kind: Kind) -> None:
    """A table of its own in every hidden database, whose one row is a marker."""
    made = kind.content

    def content(scenario: Scenario, variant: Variant) -> Content:
        found = made(scenario, variant)
        if variant == "base":
            return found
        return replace(found, ddl=(*found.ddl, "CREATE TABLE zz_hidden (word TEXT)"), rows={**found.rows, "zz_hidden": ((f"{MARK}_row",),)})

    kind.content = content


original = loader.load_tasks
loader.load_tasks = lambda root: tuple(planted(task) for task in original(root) if task.id in PLAYED)
plant_scenarios()
for each in kinds().values():
    plant_rows(each)
