"""Every line of the table of cheats, and siblings, on a task whose original scans the table and whose reference reads two indexes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.engines.sqlite import Capture, DdlError, apply_ddl, compare, measure
from sql_optim_env.errors import AgentError

TABLES = ("parcel", "hub")
ORIGINAL = "SELECT id, story FROM parcel WHERE hub = 11 AND fault = 'lost' ORDER BY id"
REFERENCE = (
    "SELECT p.id, p.story FROM (SELECT id FROM parcel WHERE hub = 11 INTERSECT SELECT id FROM parcel WHERE fault = 'lost') k "
    "CROSS JOIN parcel p ON p.id = k.id ORDER BY p.id"
)
INDEXES = ["CREATE INDEX parcel_hub ON parcel(hub)", "CREATE INDEX parcel_fault ON parcel(fault)"]

NAMED_BY_RULE = {
    "composite index": ("composite", ["CREATE INDEX i ON parcel(hub, fault)"]),
    "composite index behind a plain one": ("composite", [INDEXES[0], "CREATE INDEX i ON parcel(fault, hub)"]),
    "composite index under a quoted name": ("composite", ['CREATE INDEX "parcel_hub\' --" ON parcel(hub, fault)']),
    "partial index": ("partial", ["CREATE INDEX i ON parcel(hub) WHERE fault = 'lost'"]),
    "expression index gluing two columns": ("expression", ["CREATE INDEX i ON parcel(hub || '/' || fault)"]),
    "unique index": ("unique", ["CREATE UNIQUE INDEX i ON parcel(id)"]),
    "a collation for a second purpose": ("collation", ["CREATE INDEX i ON parcel(fault COLLATE BINARY)"]),
    "a descending key": ("descending", ["CREATE INDEX i ON parcel(hub DESC)"]),
    "one index too many": ("max_indexes", [*INDEXES, "CREATE INDEX i ON parcel(sent)"]),
    "generated column": ("kind", ["ALTER TABLE parcel ADD COLUMN both TEXT AS (hub || fault)", "CREATE INDEX i ON parcel(both)"]),
    "CREATE TABLE AS": ("kind", ["CREATE TABLE answer AS SELECT id, story FROM parcel WHERE hub = 11"]),
    "temporary table": ("kind", ["CREATE TEMP TABLE answer AS SELECT id, story FROM parcel WHERE hub = 11"]),
    "temporary view over the table": ("kind", ["CREATE TEMP VIEW parcel AS SELECT 1 AS id"]),
    "copy without rowid": ("kind", ["CREATE TABLE copy (hub, fault, id, PRIMARY KEY (hub, fault, id)) WITHOUT ROWID"]),
    "full-text index": ("kind", ["CREATE VIRTUAL TABLE f USING fts5(fault, story)"]),
    "spatial index": ("kind", ["CREATE VIRTUAL TABLE r USING rtree(id, lo, hi)"]),
    "trigger": ("kind", ["CREATE TRIGGER t AFTER UPDATE ON parcel BEGIN DELETE FROM parcel; END"]),
    "DELETE and VACUUM": ("kind", ["DELETE FROM parcel WHERE hub <> 11", "VACUUM"]),
    "UPDATE": ("kind", ["UPDATE parcel SET story = substr(story, 1, 10) WHERE hub <> 11"]),
    "64 K pages": ("kind", ["PRAGMA page_size = 65536", "VACUUM"]),
    "DROP COLUMN": ("kind", ["ALTER TABLE parcel DROP COLUMN sent"]),
    "dropping a shipped index": ("kind", ["DROP INDEX parcel_grams"]),
    "writing the statistics": ("kind", ["ANALYZE", "UPDATE sqlite_stat1 SET stat = '9 1'"]),
    "writing the statistics behind ANALYZE": ("one_statement", ["ANALYZE; UPDATE sqlite_stat1 SET stat = '9 1'"]),
    "making the statistics by hand": ("kind", ["CREATE TABLE sqlite_stat1(tbl, idx, stat)"]),
    "sampling for statistics": ("kind", ["PRAGMA analysis_limit = 1", "ANALYZE"]),
    "mapping the file": ("kind", ["PRAGMA mmap_size = 1000000000"]),
    "mapping the file behind an index": ("one_statement", [INDEXES[0] + "; PRAGMA mmap_size = 1000000000"]),
    "writing the schema": ("kind", ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = ''"]),
    "another encoding": ("kind", ["PRAGMA encoding = 'UTF-16'"]),
    "attached copy": ("kind", ["ATTACH ':memory:' AS m", "CREATE TABLE m.answer AS SELECT * FROM parcel"]),
}

REFUSED_QUERIES = {
    "json_each as a table of constants": "SELECT value ->> 0 AS id, value ->> 1 AS story FROM json_each('[[2, \"x\"]]')",
    "mmap before the query": f"PRAGMA mmap_size = 1000000000; {ORIGINAL}",
    "mmap after the query": f"{ORIGINAL}; PRAGMA mmap_size = 1000000000",
    "statistics as data": "SELECT stat AS id, 1 AS story FROM sqlite_stat1",
    "the schema as data": "SELECT rootpage AS id, sql AS story FROM sqlite_schema",
    "pages through dbstat": "SELECT sum(ncell) AS id, 1 AS story FROM dbstat WHERE name = 'parcel'",
    "a pragma as a table": "SELECT * FROM pragma_index_list('parcel')",
    "another table": "SELECT id, answer AS story FROM secret",
    "a view": "SELECT id, 1 AS story FROM heavy",
    "a write with RETURNING": "UPDATE parcel SET grams = grams RETURNING id, story",
    "chance": "SELECT id, story FROM parcel ORDER BY random()",
    "the clock": "SELECT id, story FROM parcel WHERE hub = 11 AND date('now') > '2020-01-01'",
    "counters of the connection": "SELECT total_changes() AS id, 1 AS story",
}


@pytest.mark.parametrize(("rule", "items"), NAMED_BY_RULE.values(), ids=NAMED_BY_RULE)
def test_ddl_cheats_are_refused_by_the_rule_they_break(small: bytes, rule: str, items: list[str]) -> None:
    with pytest.raises(DdlError) as caught:
        apply_ddl(small, items, tables=TABLES, max_indexes=2)
    assert caught.value.rule == rule


@pytest.mark.parametrize("sql", REFUSED_QUERIES.values(), ids=REFUSED_QUERIES)
def test_query_cheats_are_refused(small: bytes, sql: str) -> None:
    with pytest.raises(AgentError):
        measure(apply_ddl(small, ["ANALYZE"], tables=TABLES, max_indexes=0), sql, tables=TABLES)


def test_the_honest_answer_passes_and_pays(depot: bytes) -> None:
    original = measure(depot, ORIGINAL, tables=TABLES)
    reference = measure(apply_ddl(depot, INDEXES, tables=TABLES, max_indexes=2), REFERENCE, tables=TABLES)
    assert compare(original.capture, reference.capture).equal
    assert original.capture.row_count > 10
    assert original.pages > 4 * reference.pages


def constants(capture: Capture) -> str:
    rows = " UNION ALL ".join(f"SELECT {row[0]}, '{row[1]}'" for row in capture.rows)
    return f"WITH answer(id, story) AS ({rows}) SELECT id, story FROM answer"


def test_constants_are_cheap_and_wrong_on_the_next_instance(depot: bytes, make_depot: Callable[[int, int], bytes]) -> None:
    sql = constants(measure(depot, ORIGINAL + " LIMIT 20", tables=TABLES).capture)
    assert measure(depot, sql, tables=TABLES).pages <= 1
    twin = make_depot(2, 3_000)
    difference = compare(measure(twin, ORIGINAL, tables=TABLES).capture, measure(twin, sql, tables=TABLES).capture)
    assert not difference.equal


def test_a_branch_on_a_fingerprint_is_cheap_only_where_it_was_taken(depot: bytes, make_depot: Callable[[int, int], bytes]) -> None:
    first = measure(depot, "SELECT grams FROM parcel WHERE id = 2", tables=TABLES).capture.rows[0][0]
    seen = f"(SELECT grams FROM parcel WHERE id = 2) = {first}"
    sql = (
        f"SELECT 1 AS id, '' AS story WHERE {seen} UNION ALL SELECT p.id, p.story FROM (SELECT 1 WHERE NOT {seen} LIMIT 1) AS unseen "
        "CROSS JOIN parcel p WHERE p.hub = 11 AND p.fault = 'lost'"
    )
    assert measure(depot, sql, tables=TABLES).pages < 10
    assert measure(make_depot(2, 3_000), sql, tables=TABLES).pages > 200


def test_a_quadratic_join_in_temporary_tables_costs_steps_where_it_costs_no_pages(depot: bytes) -> None:
    honest = measure(depot, "SELECT count(*) FROM parcel", tables=TABLES)
    sql = (
        "WITH a AS MATERIALIZED (SELECT id FROM parcel WHERE id < 1000), b AS MATERIALIZED (SELECT id FROM parcel WHERE id < 1000) "
        "SELECT count(*) FROM a, b WHERE a.id + b.id > 0"
    )
    hidden = measure(depot, sql, tables=TABLES)
    assert hidden.pages < 200
    assert hidden.vm_steps > 100 * honest.vm_steps
