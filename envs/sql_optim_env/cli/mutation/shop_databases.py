"""The databases of a rewrite task over the shop, in memory."""

from __future__ import annotations

import math
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from threading import Lock, Thread
from types import TracebackType
from typing import Final

import duckdb

from sql_optim_env.cli.mutation.constants import PublicResult
from sql_optim_env.cli.mutation.databases import DEADLINE_S, Databases, recast
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.shop import adversarial, bulk, edge, schema, small
from sql_optim_env.datasets.shop.grow import Shape
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.engines.base import Column
from sql_optim_env.engines.duckdb import Capture, compare
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.task import Task

__all__ = ["ShopDatabase", "ShopDatabases"]

_SEEDS: Final = 6
_TINY_SEEDS: Final = 60
_PLAIN: Final = (
    bulk.BulkProfile(60, 12, 400, 900, 1),
    bulk.BulkProfile(300, 40, 3_000, 6_000, 2),
    bulk.BulkProfile(800, 100, 8_000, 16_000, 1),
)
_MOST_DATABASES: Final = 24
"""Kept at once: each takes 12 MB."""
_WATCH_S: Final = 0.25
_MOST_ROWS: Final = 200_000


@dataclass(frozen=True, slots=True)
class ShopDatabase:
    """What a database is grown from."""

    profile: str
    seed: int
    payload: str = ""
    shape: Shape | None = None
    plain: bulk.BulkProfile | None = None

    def fill(self, con: duckdb.DuckDBPyConnection) -> None:
        """Fill the empty tables of ``con``."""
        if self.plain is not None:
            bulk.fill(con, self.plain, self.seed)
        elif self.payload:
            small.insert(con, edge.rows(self.profile, self.seed, self.payload, self.shape))
        else:
            small.insert(con, adversarial.rows(self.profile, self.seed))


class _Alarm:
    """Interrupts a connection whose statement takes too long: one thread for all statements, since there are many and most are short."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con, self._lock, self._until = con, Lock(), math.inf
        Thread(target=_watch, args=(weakref.ref(self),), daemon=True).start()

    def __enter__(self) -> None:
        with self._lock:
            self._until = time.monotonic() + DEADLINE_S

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._until = math.inf

    def look(self) -> None:
        """Interrupt the statement that runs if its time is over."""
        with self._lock:
            if time.monotonic() > self._until:
                self._con.interrupt()


def _watch(watched: weakref.ref[_Alarm]) -> None:
    while (alarm := watched()) is not None:
        alarm.look()
        del alarm  # so that it can go while this thread sleeps
        time.sleep(_WATCH_S)  # between two looks at the clock: this thread is an alarm


class _Engine:
    """Databases beside each other in one engine in memory, each in a schema; beyond a number the one that was not used for longest goes."""

    def __init__(self) -> None:
        self._con = duckdb.connect(config={"threads": 1, "memory_limit": "768MB", "arrow_lossless_conversion": True})
        self._con.execute("SET TimeZone = 'UTC'")
        self.alarm = _Alarm(self._con)
        self._ready: OrderedDict[ShopDatabase, str] = OrderedDict()
        self._made = 0

    def use(self, database: ShopDatabase) -> duckdb.DuckDBPyConnection:
        """A connection whose unqualified names are those of ``database``."""
        name = self._ready.get(database)
        if name is None:
            while len(self._ready) >= _MOST_DATABASES:
                self._con.execute(f"SET schema = 'main'; DROP SCHEMA {self._ready.popitem(last=False)[1]} CASCADE")
            self._made += 1
            name = f"s{self._made}"
            self._con.execute(f"CREATE SCHEMA {name}; SET schema = '{name}'")
            self._con.execute(schema.DDL)
            database.fill(self._con)
            self._ready[database] = name
        self._ready.move_to_end(database)
        self._con.execute(f"SET schema = '{name}'")
        return self._con


@cache
def _engine() -> _Engine:
    return _Engine()


class ShopDatabases(Databases[ShopDatabase, Capture]):
    """The small instances that grade a task; other seeds of them; smaller and larger ones; and ones around a mutant's own literals."""

    def __init__(self, task: Task, store: DatasetStore) -> None:
        super().__init__(task.sql, task.rewrite.reference_sql)
        self._task, self._store = task, store
        self._payload = edge.payload([task.sql, task.rewrite.reference_sql])
        self._columns = self._bound(task.sql)

    def grading(self) -> Iterable[ShopDatabase]:
        """The adversarial and the edge instances of a few hundred rows."""
        return [_database(instance) for instance in task_instances(self._task) if not _is_large(instance)]

    def searched(self) -> Iterator[ShopDatabase]:
        """Other seeds and other sizes."""
        yield from _around(self._payload, seeds=_SEEDS, tiny=_TINY_SEEDS)
        for seed in range(_SEEDS):
            yield from (ShopDatabase(profile, 1_000 + seed) for profile in adversarial.PROFILES)
        yield from (ShopDatabase("plain", seed, plain=plain) for plain in _PLAIN for seed in (3, 41, 67))

    def searched_for(self, sql: str) -> Iterator[ShopDatabase]:
        """Databases around the literals of a mutant and of its reference."""
        own = edge.payload([self._task.sql, self._task.rewrite.reference_sql, sql])
        if own != self._payload:
            yield from _around(own, seeds=2, tiny=_TINY_SEEDS // 4)

    def public(self) -> PublicResult:
        """The original's result on the public instance."""
        public = task_instances(self._task)[0]
        with duckdb.connect(str(self._store.ensure(public)), read_only=True, config={"threads": 1}) as con:
            con.execute("SET TimeZone = 'UTC'")
            texts = ", ".join(f'CAST("{column.name}" AS VARCHAR)' for column in self._columns)
            rows = con.sql(f"SELECT {texts} FROM (\n{self._task.sql}\n) AS r").fetchall()
        literals = [[_literal(value, column.type) for value, column in zip(row, self._columns, strict=True)] for row in rows]
        counts = self._store.row_counts(public)
        return PublicResult([column.name for column in self._columns], literals, counts)

    def fitted(self, sql: str) -> str | None:
        """``sql`` cast to the original's types."""
        try:
            columns = self._bound(sql)
            if len(columns) != len(self._columns) or columns == self._columns:
                return sql
            cast = recast(sql, columns, self._columns)
            self._bound(cast)
        except duckdb.Error:
            return None
        return cast

    def _bound(self, sql: str) -> tuple[Column, ...]:
        relation = _engine().use(ShopDatabase("empty", 0)).sql(sql)
        return tuple(Column(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True))

    def _run(self, sql: str, key: ShopDatabase) -> Capture:
        con = _engine().use(key)
        try:
            relation = con.sql(sql)
            columns = tuple(Column(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True))
            with _engine().alarm:
                table = relation.limit(_MOST_ROWS).to_arrow_table()
        except (duckdb.InterruptException, duckdb.OutOfMemoryException) as error:
            raise AgentError(ErrorCode.TIMEOUT, "too much work") from error
        except duckdb.Error as error:
            raise AgentError(ErrorCode.EXECUTION_ERROR, str(error)) from error
        return Capture.of(columns, table)

    def _equal(self, right: Capture, found: Capture) -> bool:
        return compare(right, found, examples=0).equal


def _is_large(instance: Instance) -> bool:
    return instance.role != "edge" and instance.profile not in adversarial.PROFILES


def _database(instance: Instance) -> ShopDatabase:
    return ShopDatabase(instance.profile, instance.seed, instance.payload)


def _around(payload: str, *, seeds: int, tiny: int) -> Iterator[ShopDatabase]:
    """Databases around literals: of the usual size under other seeds, and very small ones, in which little hides a difference."""
    for seed in range(seeds):
        yield from (ShopDatabase(profile, 500 + seed, payload) for profile in edge.PROFILES)
    for seed in range(tiny):
        size = 2 + seed % 7
        shape = Shape(users=1 + seed % 4, products=1 + seed % 3, orders=size, events=size + seed % 3, nulls=10 + seed % 40, same_time=30)
        yield ShopDatabase(edge.PROFILES[seed % len(edge.PROFILES)], 700 + seed, payload, shape)


def _literal(value: object, kind: str) -> str:
    if value is None:
        return f"CAST(NULL AS {kind})"
    text = str(value).replace("'", "''")
    return f"CAST('{text}' AS {kind})"
