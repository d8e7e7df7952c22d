"""Canaries: recorded ways to buy a reward, each with the most that it may earn.

They are data, one TOML file a kind::

    kind = "keyword stuffing"
    why = "words are cheap; ..."

    [[canary]]
    name = "every word of the vocabulary, no query"
    family = "rewrite"
    task = "task_1_basic_antipatterns"   # where the suite plays it
    anywhere = true                      # and it may be played on every task of its family
    seed = 3                             # of the reset; left out: none
    most = 0.0                           # the most that its rewards may add up to
    code = "refused_function"            # the error of its last action; left out: not asked
    says = "words"                       # what the last feedback or error must hold; left out: not asked
    [[canary.actions]]
    kind = "submit"
    summary = "$vocabulary"

Texts may hold ``$name`` for what a cheat would know or take from elsewhere: see :func:`fillings`. A whole field ``suggestions =
"$every_type"`` stands for a list. ``$name`` that is no filling stays as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final

from sql_optim_env.agents.fixed import StuffingPlayer
from sql_optim_env.agents.player import Session, Turn
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType

__all__ = ["Canary", "CanaryRun", "fillings", "load_canaries", "play_canary"]

_FIELDS: Final = frozenset("name family task anywhere seed most code says actions".split())

_LONG: Final = {
    "x30000": "x" * 30_000,
    "ors20000": " OR ".join(f"id = {n}" for n in range(20_000)),
    "selects100000": "SELECT 1;" * 100_000,
}
"""Texts that are too long to stand in a file."""


@dataclass(frozen=True, slots=True)
class Canary:
    """One way to buy a reward."""

    kind: str
    name: str
    family: str
    task_id: str
    most: float
    actions: tuple[Mapping[str, Any], ...]
    anywhere: bool = False
    seed: int | None = None
    code: str | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class CanaryRun:
    """What came of one canary on one task."""

    earned: float
    """All rewards of the episode together."""
    code: str
    """The error code of the last action; empty for none."""
    said: str
    """The last feedback, and the last error's message."""


def load_canaries(directory: Path) -> tuple[Canary, ...]:
    """Every canary of a directory, by file and place. Raises InvalidArgumentError for a file that is not in the format."""
    found: list[Canary] = []
    for path in sorted(directory.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in table.get("canary", []):
            found.append(_canary(path.name, str(table["kind"]), entry))
    if not found:
        raise InvalidArgumentError(f"{directory.name} holds no canaries (*.toml)")
    return tuple(found)


def _canary(file: str, kind: str, entry: Mapping[str, Any]) -> Canary:
    unknown = sorted(set(entry) - _FIELDS)
    missing = sorted({"name", "family", "task", "most", "actions"} - set(entry))
    if unknown or missing:
        raise InvalidArgumentError(f"{file}: {entry.get('name', 'a canary')}: unknown {unknown}, missing {missing}")
    return Canary(
        kind=kind,
        name=entry["name"],
        family=entry["family"],
        task_id=entry["task"],
        most=float(entry["most"]),
        actions=tuple(entry["actions"]),
        anywhere=entry.get("anywhere", False),
        seed=entry.get("seed"),
        code=entry.get("code"),
        says=entry.get("says", ""),
    )


def play_canary(session: Session, canary: Canary, lookup: Callable[[str], Task], task_id: str | None = None) -> CanaryRun:
    """Play one canary, on its own task or another of its family, until its actions or the episode end."""
    task = lookup(task_id or canary.task_id)
    arguments: dict[str, Any] = {"task_id": task.id} if canary.seed is None else {"task_id": task.id, "seed": canary.seed}
    turn = session.reset(**arguments)
    opening = turn.observation
    known = fillings(task, canary.seed, opening)
    if any("$constants" in str(action) for action in canary.actions):
        known["constants"] = _constants(task, session.step(SQLOptimAction(kind="query", sql=task.sql)).observation)
    earned = 0.0
    for action in canary.actions:
        turn = session.step(_filled(action, known, opening))
        earned += float(turn.reward or 0.0)
        if turn.done:
            break
    return _run(turn, earned)


def _run(turn: Turn, earned: float) -> CanaryRun:
    error = turn.observation.error
    said = turn.observation.feedback + ("" if error is None else f" {error.message}")
    return CanaryRun(round(earned, 6), "" if error is None else error.code, said)


def fillings(task: Task, seed: int | None, opening: SQLOptimObservation) -> dict[str, str]:
    """What a ``$name`` stands for.

    Of every task: ``original`` (the query as it was given), ``table`` (a table of the task), ``vocabulary`` (all issue types as words),
    ``constants`` (a SELECT of the visible result's first rows as literals). A cheat that hides behind an honest answer takes it from the
    grader: ``reference`` (rewrite, tune), and of an audit task ``target``, ``column``, ``structure_look``, ``column_look``, ``fix``,
    ``check``. ``x30000``, ``ors20000`` and ``selects100000`` are a long text, a long chain of OR, and many statements.
    """
    known = {
        "original": opening.sql_query,
        "table": task.tables[0] if task.tables else "",
        "vocabulary": ", ".join(kind.value for kind in IssueType),
        **_LONG,
    }
    if task.family == "rewrite":
        known |= {"reference": task.rewrite.reference_sql}
    elif task.family == "tune":
        known |= {"reference": task.tune.reference_sql}
    else:
        scenario = scenario_of(task, seed)
        known |= {
            "table": scenario.target,
            "target": scenario.target,
            "defect_table": scenario.defect.table,
            "column": scenario.defect.columns[0],
            "structure_look": scenario.structure_look,
            "column_look": scenario.column_look,
            "fix": scenario.reference_fix,
            "check": scenario.check,
        }
    return known


def _filled(action: Mapping[str, Any], known: Mapping[str, str], opening: SQLOptimObservation) -> SQLOptimAction:
    fields = {name: _fill(value, known) for name, value in action.items()}
    if fields.get("suggestions") == "$every_type":
        fields["suggestions"] = StuffingPlayer().act(opening).suggestions
    return SQLOptimAction(**fields)


def _fill(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return Template(value).safe_substitute(known)
    return [_fill(item, known) for item in value] if isinstance(value, list) else value


def _constants(task: Task, seen: SQLOptimObservation) -> str:
    """A query that returns the shown rows under the right names and types, whatever the data."""
    if not seen.rows:
        return "SELECT 1 AS nothing"
    rows = [
        ", ".join(_literal(task, value, column.type, column.name) for value, column in zip(row, seen.columns, strict=True))
        for row in seen.rows
    ]
    return " UNION ALL ".join(f"SELECT {row}" for row in rows)


def _literal(task: Task, value: Any, kind: str, name: str) -> str:
    text = "NULL" if value is None else str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"
    return f'CAST({text} AS {kind}) AS "{name}"' if task.dialect == "duckdb" else f'{text} AS "{name}"'
