"""The databases of a tune task, as bytes of SQLite files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Final

import apsw

from sql_optim_env.cli.mutation.constants import PublicResult
from sql_optim_env.cli.mutation.databases import DEADLINE_S, Databases
from sql_optim_env.datasets.edges import extract
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.datasets.tune import TuneDataset
from sql_optim_env.datasets.tune.edges import PROFILES, Profile, Value, distorted, table_info
from sql_optim_env.engines.sqlite import Caps, Capture, compare, measure
from sql_optim_env.errors import AgentError
from sql_optim_env.sandbox.tune_baseline import tune_instances
from sql_optim_env.tasks.task import Task

__all__ = ["TuneDatabase", "TuneDatabases"]

_SEEDS: Final = 6
_TINY_SEEDS: Final = 80
_FRESH_SEEDS: Final = (5, 71)


@dataclass(frozen=True, slots=True)
class TuneDatabase:
    """An instance of the dataset, or a profile, a seed and whether the queries' literals and awkward values come on top of the hot ones."""

    instance: Instance | None = None
    profile: Profile | None = None
    seed: int = 0
    literals: str = ""
    """The statement whose literals are worked in beside those of the task."""


class TuneDatabases(Databases[TuneDatabase, Capture]):
    """The edge instances that grade a task; other seeds and sizes of them; ones around literals; full ones under fresh seeds."""

    def __init__(self, task: Task, store: DatasetStore) -> None:
        super().__init__(task.sql, task.tune.reference_sql)
        self._task, self._store = task, store
        dataset = get_dataset(task.dataset)
        if not isinstance(dataset, TuneDataset):
            raise TypeError(f"{task.dataset} is no dataset of tune tasks")
        self._dataset = dataset
        self._bytes: dict[TuneDatabase, bytes] = {}
        self._names = self._run(task.sql, self._empty).names

    @property
    def _empty(self) -> TuneDatabase:
        return TuneDatabase(profile=PROFILES["empty"])

    def grading(self) -> Iterable[TuneDatabase]:
        """The edge instances."""
        return [TuneDatabase(instance) for instance in tune_instances(self._task) if instance.role == "edge"]

    def searched(self) -> Iterator[TuneDatabase]:
        """Other seeds and other sizes, with the hot values and with the queries' literals and odd values beside them."""
        for seed in range(_SEEDS):
            for profile in PROFILES.values():
                if profile.rows:
                    yield TuneDatabase(profile=profile, seed=1_000 + seed)
                    yield TuneDatabase(profile=profile, seed=2_000 + seed, literals=self._task.sql)
        yield from _tiny(_TINY_SEEDS, "")
        yield from _tiny(_TINY_SEEDS, self._task.sql)
        public = self._dataset.public
        for seed in _FRESH_SEEDS:
            yield TuneDatabase(Instance(public.dataset, f"fresh_{seed}", "twin", seed, public.profile, public.payload))

    def searched_for(self, sql: str) -> Iterator[TuneDatabase]:
        """Databases around the literals of a mutant and of its reference."""
        queries = [self._task.sql, self._task.tune.reference_sql]
        if extract([*queries, sql], "sqlite") != extract(queries, "sqlite"):
            yield TuneDatabase(profile=PROFILES["mixed"], seed=3_000, literals=sql)
            yield from _tiny(_TINY_SEEDS // 3, sql)

    def public(self) -> PublicResult:
        """The original's result on the public instance."""
        public = self._dataset.public
        found = self._run(self._task.sql, TuneDatabase(public))
        return PublicResult(found.names, [[_literal(value) for value in row] for row in found.rows], self._store.row_counts(public))

    def fitted(self, sql: str) -> str | None:
        """``sql`` under the original's names."""
        try:
            names = self._run(sql, self._empty).names
            if names == self._names or len(names) != len(self._names):
                return sql
            listed = ", ".join(f'"{have}" AS "{want}"' for have, want in zip(names, self._names, strict=True))
            renamed = f"SELECT {listed} FROM (\n{sql}\n) AS m"
            self._run(renamed, self._empty)
        except AgentError:
            return None
        return renamed

    def _run(self, sql: str, key: TuneDatabase) -> Capture:
        limits = self._task.tune
        caps = Caps(max_vm_steps=limits.max_vm_steps, max_spill_bytes=limits.max_spill_bytes, deadline_s=DEADLINE_S)
        return measure(self._database(key), sql, tables=self._task.tables, caps=caps).capture

    def _equal(self, right: Capture, found: Capture) -> bool:
        return compare(right, found, examples=0).equal

    def _database(self, key: TuneDatabase) -> bytes:
        if key not in self._bytes:
            self._bytes[key] = self._store.ensure(key.instance).read_bytes() if key.instance is not None else self._grown(key)
        return self._bytes[key]

    def _grown(self, key: TuneDatabase) -> bytes:
        dataset, profile = self._dataset, key.profile or PROFILES["mixed"]
        dice = Random(f"{dataset.name}:{key.seed}:{profile}:{bool(key.literals)}")
        con = apsw.Connection(":memory:")
        try:
            con.execute(dataset.ddl)
            infos = {table: table_info(con, table) for table in dataset.tables}
            rows = dataset.rows(dice, {name: min(size, profile.rows) for name, size in dataset.sizes.items()})
            hot = self._hot(con, key.literals) if key.literals else dataset.hot
            for table, made in distorted(rows, infos, profile, dice, references=dataset.references, hot=hot).items():
                marks = ", ".join("?" * len(infos[table].columns))
                # A CHECK may forbid an awkward value.
                con.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", made)
            return con.serialize("main")
        finally:
            con.close()

    def _hot(self, con: apsw.Connection, sql: str) -> Mapping[str, Sequence[Value]]:
        """The dataset's hot values, and the literals of the task's queries and of ``sql`` with their neighbours and some odd values."""
        found = extract([self._task.sql, self._task.tune.reference_sql, sql], "sqlite")
        hot: dict[str, tuple[Value, ...]] = {}
        for table in self._dataset.tables:
            for name, kind in con.execute("SELECT name, type FROM pragma_table_info(?)", (table,)):
                key = f"{table}.{name}"
                values: list[Value] = list(self._dataset.hot.get(key, ()))
                if kind == "INTEGER":
                    numbers = [int(Decimal(text)) for column, text in found.numbers if column == name and Decimal(text) % 1 == 0]
                    values += [number + shift for number in numbers for shift in (0, -1, 1)] + [0, 1, -1]
                elif kind == "TEXT":
                    texts = [text for column, text in (*found.strings, *found.patterns) if column == name]
                    values += [form for text in texts for form in (text, text, text.upper(), text.title(), f"{text} ", f"{text}x")] + [
                        "",
                        "é",
                    ]
                if values:
                    hot[key] = tuple(values)
        return hot


def _tiny(seeds: int, literals: str) -> Iterator[TuneDatabase]:
    """Very small databases, in which little hides a difference."""
    for seed in range(seeds):
        profile = Profile(rows=1 + seed % 9, hot=50 + seed % 45, nulls=5 + seed % 30, ties=40, repeats=20 + seed % 40, dangling=seed % 25)
        yield TuneDatabase(profile=profile, seed=seed, literals=literals)


def _literal(value: Value | float) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
