"""Attempts to do work where the cost model does not look, and how much of each it misses.

Run as ``python -m sql_optim_env.engines.duckdb.cost.calibration --hidden-work`` beside a fitted model. Every attempt must be stopped: refused at
admission, or caught by the CPU guard, or priced within the guard's factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.corpus import PUBLIC
from sql_optim_env.engines.duckdb.cost.calibration.measure import Measurement, Statement, measure
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.guard import guard
from sql_optim_env.engines.duckdb.cost.model import CostModel

__all__ = ["ATTEMPTS", "HiddenWork", "attempt_statements", "false_trips", "measure_hidden_work"]

ATTEMPTS: Final[Mapping[str, str]] = {
    "one long list": "SELECT list_sum(list_transform(range(1000000), lambda x: x * x % 7)) FROM range(1)",
    "long list from a row": "SELECT list_sum(list_transform(range(id * 200000), lambda x: x * x % 7)) FROM users WHERE id = 5",
    "list_reduce": "SELECT list_reduce(range(id * 20000), lambda a, b: a + b % 3) FROM users WHERE id = 5",
    "nested lambdas": "SELECT list_sum(list_transform(range(id * 200), lambda x: list_sum(list_transform(range(1000), lambda y: x * y % 5)))) FROM users WHERE id = 5",
    "recursion over one row": "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 20000) SELECT max(n) FROM t",
    "recursion with work": "WITH RECURSIVE t AS (SELECT 1 AS n, 'a' AS s UNION ALL SELECT n + 1, md5(repeat(s, 300)) FROM t WHERE n < 2000) SELECT max(n), max(s) FROM t",
    "heavy regex": "SELECT count(*) FROM users WHERE regexp_matches(email, '(a|b|u)*(se|r)+.*([0-9]+-?)*(1|2|3)+x?$')",
    "regex with bounds": "SELECT count(*) FROM users WHERE regexp_matches(email, '([a-z]{1,40}){1,20}[0-9]{1,30}z')",
    "repeat": "SELECT max(length(repeat(email, 20000))) FROM users WHERE id < 2000",
    "repeat and md5": "SELECT max(md5(repeat(email, 2000))) FROM users WHERE id < 2000",
    "repeat and levenshtein": "SELECT max(levenshtein(repeat(email, 30), repeat(email, 29) || 'x')) FROM users WHERE id < 300",
    "lpad and replace": "SELECT max(length(replace(lpad(email, 100000, 'xy'), 'x', 'zzzz'))) FROM users WHERE id < 300",
    "hash chain behind an alias": "SELECT max(z) FROM (SELECT sha256(md5(sha256(md5(event_type || id)))) AS z FROM events)",
    "hash named like a column": "SELECT max(event_type) FROM (SELECT md5(event_type || id) AS event_type FROM events)",
    "lazy case": "SELECT sum(CASE WHEN total < 10000 THEN length(md5(status || id)) ELSE 0 END) FROM orders",
    "deep sines": "SELECT sum(sin(sin(sin(sin(sin(sin(sin(sin(total::DOUBLE))))))))) FROM orders",
    "giant ordered text": "SELECT length(string_agg(status, ',' ORDER BY md5(id::VARCHAR))) FROM orders WHERE id < 200000",
    "giant sorted list": "SELECT list_sort(list(total))[5] FROM orders",
    "unnest fan-out": "SELECT count(*) FROM (SELECT unnest(range(10000)) FROM users WHERE id < 200)",
    "generated series": "SELECT count(*) FROM generate_series(1, 20000000) g(x) WHERE x % 3 = 0",
    "mode of text": "SELECT mode(email || id % 7) FROM users",
    "list of quantiles": "SELECT quantile_cont(total, [0.1, 0.5, 0.9]) FROM orders",
    "cross join with a function": "SELECT count(*) FROM users a, users b WHERE a.id < 3000 AND b.id < 3000 AND sqrt(a.id * b.id) = 3.5",
    "printf": "SELECT max(printf('%s-%08d-%f', status, id, total::DOUBLE)) FROM orders",
    "wide range frame": "SELECT max(s) FROM (SELECT sum(total) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 20 DAY PRECEDING AND INTERVAL 20 DAY FOLLOWING) AS s FROM orders)",
    "wide quantile frame": "SELECT max(s) FROM (SELECT quantile_cont(total, 0.3) OVER (ORDER BY id ROWS BETWEEN 5000 PRECEDING AND 5000 FOLLOWING) AS s FROM orders WHERE id < 100000)",
    "split of a repeated text": "SELECT sum(len(string_split(repeat(email, 50), '@'))) FROM users",
    "text of a long list": "SELECT max(length(array_to_string(range(id * 1000), ','))) FROM users WHERE id < 100",
    "distinct of long lists": "SELECT sum(len(list_distinct(range(id * 100)))) FROM users WHERE id < 300",
    "hidden in unnest": "SELECT count(u) FROM (SELECT unnest([md5(email), sha256(email), md5(sha256(email))]) AS u FROM users)",
    "hidden in a join key": "SELECT count(*) FROM users a JOIN users b ON sha256(md5(a.email)) = sha256(md5(b.email))",
    "hidden in a sort key": "SELECT id FROM users ORDER BY sha256(md5(email)) LIMIT 3",
    "hidden in a window": "SELECT max(w) FROM (SELECT max(sha256(md5(email))) OVER (PARTITION BY tier) AS w FROM users)",
    "hidden in an aggregate's filter": "SELECT count(*) FILTER (sha256(md5(email)) > 'a') FROM users",
    "hidden in a group key": "SELECT count(*) FROM (SELECT sha256(md5(email)) AS k FROM users GROUP BY k)",
    "hidden in constant folding": "SELECT count(*) FROM users WHERE length(repeat('abc', 20000000)) > id",
}  # fmt: skip
"""Name → statement, for the public instance of the shop dataset."""


@dataclass(frozen=True, slots=True)
class HiddenWork:
    """One attempt: what it took and what was predicted (ns), and whether the guard trips."""

    name: str
    cpu_ms: float
    cost_ns: int
    guarded: bool

    @property
    def under_priced(self) -> float:
        """CPU time of execution over cost."""
        return self.cpu_ms * 1e6 / max(self.cost_ns, 1)


def attempt_statements() -> list[Statement]:
    """The attempts as statements to measure."""
    return [Statement(PUBLIC, "hidden_work", name, sql) for name, sql in ATTEMPTS.items()]


def judge(measurement: Measurement, model: CostModel, card: Card) -> HiddenWork:
    """Compare one measured statement with its cost."""
    cost = model.cost(measurement.profile, measurement.plan, card)
    cpu_ms = min(measurement.cpu[:3]) * 1e3
    return HiddenWork(measurement.statement.template, round(cpu_ms, 3), cost, guard(cpu_ms, cost))


def measure_hidden_work(database: Path, model: CostModel, card: Card, passes: int = 3) -> list[HiddenWork]:
    """Run every attempt and report them, worst under-pricing first. Attempts over the measuring deadline are left out."""
    measured = measure({PUBLIC: database}, attempt_statements(), passes)
    return sorted((judge(item, model, card) for item in measured), key=lambda item: -item.under_priced)


def false_trips(measurements: Iterable[Measurement], costs: Sequence[float]) -> list[tuple[str, float]]:
    """Honest statements on which the guard would trip, taking the minimum of three consecutive readings: (sql, ratio to the limit)."""
    found: list[tuple[str, float]] = []
    for item, cost in zip(measurements, costs, strict=True):
        for start in range(0, len(item.cpu) - 2):
            cpu_ms = min(item.cpu[start : start + 3]) * 1e3
            if guard(cpu_ms, round(cost)):
                found.append((item.statement.sql, cpu_ms * 1e6 / cost))
                break
    return found
