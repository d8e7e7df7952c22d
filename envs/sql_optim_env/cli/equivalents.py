"""Right answers in other styles, which must be accepted, and answers that are refused for a name or a type, which must be told why.

The corpus is data: TOML files of ``pair`` (two free-standing queries over the shop that are equal), ``answer`` (a right answer to a task)
and ``refusal`` (right values under another name or type, what the refusal says, and the answer mended as it says).
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sql_optim_env.cli.task_jobs import grade, prepare
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.duckdb import Database, compare, policy_for
from sql_optim_env.grading.evidence import RewriteEvidence
from sql_optim_env.grading.tune_evidence import TuneEvidence
from sql_optim_env.sandbox.pool import Sandbox
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["Answer", "Corpus", "Pair", "Refusal", "graders", "load_equivalents", "misled", "rejected", "shop_instances", "unequal"]

_SHOP: Final = "shop"
_FULL_SIZE: Final = ("public", "mirrored")
_MAX_ROWS: Final = 2_000_000
_MAX_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Pair:
    """Two queries over the shop with the same rows, names and types on all of its databases."""

    name: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A right answer to a task; of a ``tune`` task it is handed in with the reference's DDL."""

    name: str
    task: str
    sql: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Right values under another name or type."""

    name: str
    task: str
    kind: str
    """Of difference: ``columns`` or ``types``."""
    says: tuple[str, ...]
    """Parts of the message: which column, what it should be, how to mend it."""
    sql: str
    mended: str
    """The same answer after the message was followed."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """All there is."""

    pairs: tuple[Pair, ...]
    answers: tuple[Answer, ...]
    refusals: tuple[Refusal, ...]


def load_equivalents(directory: Path) -> Corpus:
    """Return the corpus in the TOML files of ``directory``."""
    found: dict[str, list[dict[str, Any]]] = {"pair": [], "answer": [], "refusal": []}
    for path in sorted(directory.glob("*.toml")):
        for key, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found[key] += entries
    return Corpus(
        pairs=tuple(Pair(**entry) for entry in found["pair"]),
        answers=tuple(Answer(**entry) for entry in found["answer"]),
        refusals=tuple(Refusal(**{**entry, "says": tuple(entry["says"])}) for entry in found["refusal"]),
    )


def shop_instances(pairs: Sequence[Pair]) -> tuple[Instance, ...]:
    """Return the databases of the shop on which pairs are compared, those made for the constants of ``pairs`` among them.

    The two of full size are left out: the twin is made like them, and some pairs return more rows there than a statement has memory for.
    """
    shop = get_dataset(_SHOP)
    found = (*shop.instances, *shop.edge_instances([sql for pair in pairs for sql in (pair.a, pair.b)]))
    return tuple(instance for instance in found if instance.name not in _FULL_SIZE)


def unequal(pairs: Sequence[Pair], path: Path) -> dict[str, str]:
    """Return the pairs that differ on the database at ``path``, by name, and how."""
    rules = policy_for("SELECT 1", get_dataset(_SHOP).tables)
    found = {}
    with tempfile.TemporaryDirectory() as spill, Database(path, temp_dir=Path(spill)) as database:
        for pair in pairs:
            a, b = (
                database.run(database.admit(sql, rules), max_rows=_MAX_ROWS, max_bytes=_MAX_BYTES, priced=False).capture
                for sql in (pair.a, pair.b)
            )
            difference = compare(a, b)
            if not difference.equal:
                found[pair.name] = difference.message
    return found


@contextmanager
def graders(corpus: Corpus, store: DatasetStore) -> Iterator[Sandbox]:
    """A sandbox with one worker, in which every task of the corpus is prepared."""
    with Sandbox(workers=1, data_dir=store.root, deadline_s=60.0) as sandbox:
        for task_id in sorted({answer.task for answer in corpus.answers} | {refusal.task for refusal in corpus.refusals}):
            prepare(sandbox, catalogue().get(task_id))
        yield sandbox


def rejected(sandbox: Sandbox, answer: Answer) -> str:
    """Why grading does not accept the answer; an empty text when it does."""
    return _complaint(_graded(sandbox, answer.task, answer.sql))


def misled(sandbox: Sandbox, refusal: Refusal) -> str:
    """What is wrong with how the answer is refused, or with the answer after the message was followed; an empty text when nothing is."""
    evidence = _graded(sandbox, refusal.task, refusal.sql)
    if not evidence.measurements:
        return evidence.error_message
    first = evidence.measurements[0]
    if (first.instance, first.difference.kind) != ("public", refusal.kind):
        return f"refused on {first.instance} for its {first.difference.kind}, not on public for its {refusal.kind}"
    missing = [part for part in refusal.says if part not in first.difference.message]
    if missing:
        return f"{first.difference.message!r} does not say {missing}"
    return _complaint(_graded(sandbox, refusal.task, refusal.mended))


def _graded(sandbox: Sandbox, task_id: str, sql: str) -> RewriteEvidence | TuneEvidence:
    return grade(sandbox, catalogue().get(task_id), sql.strip())


def _complaint(evidence: RewriteEvidence | TuneEvidence) -> str:
    if evidence.equal:
        return ""
    differing = [f"{m.instance}: {m.difference.message}" for m in evidence.measurements if not m.difference.equal]
    return evidence.error_message or "; ".join(differing) or "it was not run on every database"
