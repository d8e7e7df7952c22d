"""Joins between the shop's tables: every join type, with either side whole or filtered, counted, grouped, wide or cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

__all__ = ["join_statements"]

_PAIRS: Final = (
    # left table, right table, condition, number, group, left predicate, right predicate, right id
    ("users", "orders", "u.id = o.customer_id", "o.total", "u.tier", "u.tier = 'gold'", "o.status = 'paid'", "o.id"),
    ("users", "events", "u.id = o.user_id", "o.id", "u.region", "u.id > 4000", "o.event_type = 'purchase'", "o.id"),
    ("products", "orders", "u.id = o.product_id", "o.total", "u.category", "u.price > 50", "o.total > 100", "o.id"),
    ("orders", "events", "u.customer_id = o.user_id AND u.id = o.id", "o.id", "u.status", "u.total > 80", "o.session_id > 9000", "o.id"),
)
_JOINS: Final = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "SEMI JOIN", "ANTI JOIN", "FULL JOIN")


def join_statements() -> Iterator[tuple[str, str, str]]:
    """(family, template, sql) of every join."""
    for left, right, condition, number, group, left_predicate, right_predicate, right_id in _PAIRS:
        some_left = f"(SELECT * FROM {left} WHERE {left_predicate.replace('u.', '')}) u"
        some_right = f"(SELECT * FROM {right} WHERE {right_predicate.replace('o.', '')}) o"
        for join in _JOINS:
            kind = join.split()[0].lower()
            yield "join", f"join_all_{kind}", f"SELECT count(*) FROM {left} u {join} {right} o ON {condition}"
            yield "join", f"join_some_left_{kind}", f"SELECT count(*) FROM {some_left} {join} {right} o ON {condition}"
            yield "join", f"join_some_right_{kind}", f"SELECT count(*) FROM {left} u {join} {some_right} ON {condition}"
            yield "join", f"join_turned_{kind}", f"SELECT count(*) FROM {right} o {join} {some_left} ON {condition}"
            if kind in ("semi", "anti"):
                yield "join", f"join_rows_{kind}", f"SELECT * FROM {right} o {join} {some_left} ON {condition}"
                continue
            yield (
                "join",
                f"join_group_{kind}",
                f"SELECT {group}, sum({number}), count(*) FROM {left} u {join} {right} o ON {condition} GROUP BY 1",
            )
            yield "join", f"join_wide_{kind}", f"SELECT * FROM {some_left} {join} {some_right} ON {condition}"
            yield (
                "join",
                f"join_top_{kind}",
                f"SELECT {group}, {number} FROM {left} u {join} {some_right} ON {condition} ORDER BY 2 DESC, {right_id} LIMIT 10",
            )
        yield "subquery", "count_per_left", f"SELECT u.*, (SELECT count(*) FROM {right} o WHERE {condition}) AS c FROM {left} u"
        exists = f"(SELECT 1 FROM {right} o WHERE {condition} AND {right_predicate})"
        yield "subquery", "exists_right", f"SELECT count(*) FROM {left} u WHERE EXISTS {exists}"
        yield "subquery", "not_exists_right", f"SELECT count(*) FROM {left} u WHERE NOT EXISTS {exists}"
