"""Reads the grader data of a task of the ``tune`` family.

Its folder holds::

    task.toml        name, description, limits (max_indexes among them), and under [grader]:
                       max_vm_steps, max_spill_bytes   what a submission may use beside pages, on one instance
                       reference_ddl                   the DDL that belongs to reference.sql; may be empty
                       [[grader.variants]]             submissions with the right rows: name, sql, ddl, why
                       [[grader.wrong]]                submissions whose rows are wrong somewhere, in the same form
    original.sql     the query that the agent sees
    reference.sql    the query of the best known submission
    variants/*.sql   queries of the others; their field ``sql`` names a file of the folder, also original.sql or reference.sql
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sql_optim_env.tasks.folder import TaskFolder, squeezed
from sql_optim_env.tasks.task import TuneGrader, TuneVariant

__all__ = ["read_tune_grader"]

_GRADER_FIELDS: Final = frozenset("max_vm_steps max_spill_bytes reference_ddl variants wrong".split())
_VARIANT_FIELDS: Final = frozenset("name sql ddl why".split())
_MAX_CAP: Final = 1_000_000_000

_Submission = tuple[str, tuple[str, ...]]


def read_tune_grader(folder: TaskFolder, grader: Mapping[str, Any], sql: str) -> TuneGrader:
    """The grader data in ``[grader]`` and the files it names; ``sql`` is the original query. Raises TaskFormatError."""
    folder.only(grader, _GRADER_FIELDS, "grader.")
    reference = folder.sql("reference.sql")
    reference_ddl = folder.texts(grader, "reference_ddl", "grader.", least=0)
    seen = {_key(sql, ()): "original", _key(reference, reference_ddl): "reference"}
    if len(seen) == 1:
        folder.fail("reference.sql", "", "is the original query, without DDL")
    variants = _variants(folder, grader, "variants", seen)
    wrong = _variants(folder, grader, "wrong", seen)
    used = {entry["sql"] for field in ("variants", "wrong") for entry in grader.get(field, [])}
    for name in folder.sql_files("variants"):
        if f"variants/{name}" not in used:
            folder.fail(f"variants/{name}", "", "is used by no variant")
    return TuneGrader(
        reference_sql=reference,
        reference_ddl=reference_ddl,
        variants=variants,
        wrong=wrong,
        max_vm_steps=folder.within(grader, "max_vm_steps", range(1, _MAX_CAP + 1), "grader."),
        max_spill_bytes=folder.within(grader, "max_spill_bytes", range(0, _MAX_CAP + 1), "grader."),
    )


def _variants(folder: TaskFolder, grader: Mapping[str, Any], field: str, seen: dict[_Submission, str]) -> tuple[TuneVariant, ...]:
    """The entries of one list. ``seen`` maps every submission so far to its name, and is added to."""
    found = []
    for position, entry in enumerate(folder.value(grader, field, list, "grader.", default=[])):
        where = f"grader.{field}[{position}]."
        if not isinstance(entry, dict):
            folder.fail("task.toml", where.rstrip("."), "must be a table")
        folder.only(entry, _VARIANT_FIELDS, where)
        name = folder.text(entry, "name", where)
        sql = folder.sql(*folder.text(entry, "sql", where).split("/"))
        ddl = folder.texts(entry, "ddl", where, least=0)
        if name in seen.values():
            folder.fail("task.toml", f"{where}name", f"{name!r} is taken")
        if twin := seen.get(_key(sql, ddl)):
            folder.fail("task.toml", where.rstrip("."), f"is the same submission as {twin!r}")
        seen[_key(sql, ddl)] = name
        found.append(TuneVariant(name, sql, ddl, folder.text(entry, "why", where)))
    return tuple(found)


def _key(sql: str, ddl: tuple[str, ...]) -> _Submission:
    return squeezed(sql), tuple(map(squeezed, ddl))
