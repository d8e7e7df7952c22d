from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sql_optim_env.engines.base import Column
from sql_optim_env.engines.duckdb import Capture, Comparer, compare, has_distinct_rows
from sql_optim_env.engines.duckdb.equality import MAX_VALUE_LENGTH
from sql_optim_env.errors import AgentError, ErrorCode

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "equality.yaml").read_text())


def captured(con: duckdb.DuckDBPyConnection, sql: str) -> Capture:
    relation = con.sql(sql)
    columns = tuple(Column(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True))
    return Capture.of(columns, relation.to_arrow_table())


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1, "arrow_lossless_conversion": True}) as opened:
        opened.execute("SET TimeZone = 'UTC'")
        yield opened


@pytest.fixture
def take(con: duckdb.DuckDBPyConnection) -> Callable[[str], Capture]:
    return lambda sql: captured(con, sql)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_corpus_of_pairs_gets_its_verdicts(
    con: duckdb.DuckDBPyConnection, take: Callable[[str], Capture], case: dict[str, Any]
) -> None:
    con.execute(case.get("data", ""))
    expected, submitted = take(case["expected"]), take(case["submitted"])
    verdict = compare(expected, submitted)
    assert verdict.kind == case["verdict"], verdict
    assert verdict.equal is (case["verdict"] == "equal")
    assert verdict.equal is (verdict.message == "")
    assert case.get("says", "") in verdict.message
    if "differing" in case:
        assert [verdict.missing_count, verdict.extra_count] == case["differing"]
    # Symmetric, whichever way is taken.
    back = compare(submitted, expected)
    assert (back.kind, back.missing_count, back.extra_count) == (verdict.kind, verdict.extra_count, verdict.missing_count)
    assert compare(replace(expected, distinct=has_distinct_rows(expected)), submitted).kind == case["verdict"]


# -- agreement with EXCEPT ALL ------------------------------------------------------------------------------------------------------------

VALUES: dict[str, list[str]] = {
    "INTEGER": ["0", "1", "-1", "2147483647"],
    "UBIGINT": ["0", "18446744073709551615"],
    "HUGEINT": ["0", "170141183460469231731687303715884105727", "170141183460469231731687303715884105726"],
    "UHUGEINT": ["0", "340282366920938463463374607431768211455"],
    "BIGNUM": ["'0'", "'123456789012345678901234567890'", "'-123456789012345678901234567890'"],
    "DECIMAL(4, 1)": ["1.0", "1.1", "-999.9"],
    "DECIMAL(38, 10)": ["1.0", "1.0000000001", "-1.0"],
    "FLOAT": ["0.0", "'-0.0'", "'nan'", "'inf'", "1.5"],
    "DOUBLE": ["0.0", "'-0.0'", "'nan'", "'-nan'", "'-inf'", "0.3", "0.1::DOUBLE + 0.2::DOUBLE"],
    "BOOLEAN": ["true", "false"],
    "VARCHAR": ["''", "'a'", "'A'", "'a '", "'é'", "'e' || chr(769)", "'a long text that is not stored inline'"],
    "BLOB": ["''", "'a'", "'\\x00'", "'a\\x00'"],
    "BIT": ["'0'", "'1'", "'01'", "'0000000000000001'"],
    "DATE": ["'2024-02-29'", "'infinity'", "'-infinity'", "'0044-03-15 (BC)'"],
    "TIME": ["'00:00:00'", "'00:00:00.000001'", "'24:00:00'"],
    "TIMETZ": ["'01:00:00+01'", "'00:00:00+00'"],
    "TIMESTAMP": ["'2024-01-01'", "'2024-01-01 00:00:00.000001'", "'infinity'", "'0044-03-15 (BC) 00:00:00'"],
    "TIMESTAMP_S": ["'2024-01-01'", "'2024-01-01 00:00:01'"],
    "TIMESTAMP_NS": ["'2024-01-01'", "'2024-01-01 00:00:00.000000001'"],
    "TIMESTAMPTZ": ["'2024-01-01 01:00:00+01'", "'2024-01-01 00:00:00+00'", "'2024-01-01 00:00:00.5+00'"],
    "INTERVAL": ["'1 month'", "'30 days'", "'720 hours'", "'1 day'", "'24 hours'", "'-1 day'", "'1 month 1 microsecond'"],
    "UUID": ["'550e8400-e29b-41d4-a716-446655440000'", "'00000000-0000-0000-0000-000000000000'"],
    "ENUM('b', 'a')": ["'a'", "'b'"],
    "INTEGER[]": ["[]", "[NULL]", "[1]", "[1, NULL]", "[NULL, 1]"],
    "DOUBLE[]": ["[0.0]", "['-0.0'::DOUBLE]", "['nan'::DOUBLE]", "[]"],
    "VARCHAR[][]": ["[]", "[[]]", "[[], []]", "[NULL]", "[['a'], NULL]"],
    "INTEGER[2]": ["[1, 2]", "[2, 1]", "[NULL, 1]"],
    "INTERVAL[]": ["[INTERVAL '1 month']", "[INTERVAL '30 days']", "[INTERVAL '1 hour']"],
    "STRUCT(a INTEGER, b VARCHAR)": ["{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': 'x'}", "{'a': NULL, 'b': NULL}"],
    "STRUCT(a DOUBLE[], b STRUCT(c DATE))": [
        "{'a': ['-0.0'::DOUBLE], 'b': {'c': NULL}}",
        "{'a': [0.0], 'b': {'c': NULL}}",
        "{'a': NULL, 'b': NULL}",
    ],
    "MAP(VARCHAR, INTEGER)": ["map {}", "map {'a': 1}", "map {'a': NULL}", "map {'a': 1, 'b': 2}"],
}

TABLES = count()


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Column types, and rows of both tables as indices into VALUES (the index after the last value is NULL)."""
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, len(VALUES[kind])) for kind in kinds))
    expected = draw(st.lists(row, max_size=12))
    submitted = draw(st.permutations(expected))
    if draw(st.booleans()):
        keep = draw(st.integers(0, len(submitted)))
        submitted = [*submitted[:keep], *draw(st.lists(row, max_size=4))]
    return kinds, expected, submitted


def table_of(con: duckdb.DuckDBPyConnection, kinds: list[str], rows: list[tuple[int, ...]]) -> str:
    name = f"t{next(TABLES)}"
    con.execute(f"CREATE TABLE {name} ({', '.join(f'k{index} {kind}' for index, kind in enumerate(kinds))})")
    if rows:
        texts = [
            ", ".join(
                f"CAST({VALUES[kind][value]} AS {kind})" if value < len(VALUES[kind]) else "NULL"
                for kind, value in zip(kinds, row, strict=True)
            )
            for row in rows
        ]
        con.execute(f"INSERT INTO {name} VALUES {', '.join(f'({text})' for text in texts)}")
    return name


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1, "arrow_lossless_conversion": True}) as opened:
        opened.execute("SET TimeZone = 'UTC'")
        yield opened


@settings(max_examples=250, deadline=None)
@given(two_tables())
def test_verdict_and_counts_are_those_of_a_symmetric_except_all(
    engine: duckdb.DuckDBPyConnection, tables: tuple[list[str], list[tuple[int, ...]], list[tuple[int, ...]]]
) -> None:
    kinds, expected_rows, submitted_rows = tables
    left, right = table_of(engine, kinds, expected_rows), table_of(engine, kinds, submitted_rows)
    # On the engine's own tables, so the way through Arrow is part of what is proven.
    missing, extra = engine.execute(
        f"SELECT (SELECT count(*) FROM (FROM {left} EXCEPT ALL FROM {right})), (SELECT count(*) FROM (FROM {right} EXCEPT ALL FROM {left}))"
    ).fetchall()[0]
    expected, submitted = captured(engine, f"FROM {left}"), captured(engine, f"FROM {right}")
    engine.execute(f"DROP TABLE {left}; DROP TABLE {right}")
    verdict = compare(expected, submitted)
    assert (verdict.missing_count, verdict.extra_count, verdict.equal) == (missing, extra, missing == extra == 0)
    assert (len(verdict.missing), len(verdict.extra)) == (min(5, len(set(verdict.missing))), min(5, len(set(verdict.extra))))
    # The short way for distinct rows agrees, and so does the mirror image; every result equals itself.
    assert compare(replace(expected, distinct=has_distinct_rows(expected)), submitted).equal is verdict.equal
    assert compare(submitted, expected).extra_count == missing
    assert compare(expected, expected).equal


@settings(max_examples=60, deadline=None)
@given(two_tables(), st.randoms(use_true_random=False))
def test_order_never_counts_and_multiplicity_always_does(
    engine: duckdb.DuckDBPyConnection, tables: tuple[list[str], list[tuple[int, ...]], list[tuple[int, ...]]], random: Any
) -> None:
    kinds, rows, _ = tables
    name = table_of(engine, kinds, rows)
    expected = captured(engine, f"FROM {name}")
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = Capture.of(expected.columns, expected.table.take(pa.array(order, pa.int64())))
    assert compare(expected, shuffled).equal
    if rows:
        more = Capture.of(expected.columns, pa.concat_tables([expected.table, expected.table.slice(0, 1)]))
        assert (compare(expected, more).missing_count, compare(expected, more).extra_count) == (0, 1)
        assert "not as often" in compare(expected, more).message
    engine.execute(f"DROP TABLE {name}")


# -- messages, saving, limits --------------------------------------------------------------------------------------------------------------


def test_examples_are_the_same_five_rows_whatever_the_order(take: Callable[[str], Capture]) -> None:
    expected = take("SELECT i AS a, 'v' || i AS b FROM range(20) r(i)")
    for order in ("a", "a DESC", "hash(a)"):
        verdict = compare(expected, take(f"SELECT i AS a, 'w' || i AS b FROM range(20) r(i) ORDER BY {order}"))
        assert verdict.missing == (("0", "v0"), ("1", "v1"), ("2", "v2"), ("3", "v3"), ("4", "v4"))
        assert verdict.extra[0] == ("0", "w0")
        assert (verdict.missing_count, verdict.extra_count) == (20, 20)
        assert verdict.message == "20 rows are missing and 20 rows are extra. The values differ in column b; the other columns match."


def test_long_values_and_nulls_are_shown_shortened_and_named(take: Callable[[str], Capture]) -> None:
    verdict = compare(take("SELECT repeat('x', 500) AS a, NULL::INTEGER AS b"), take("SELECT 'y' AS a, 1 AS b"))
    assert verdict.missing == (("x" * (MAX_VALUE_LENGTH - 1) + "…", "NULL"),)
    assert verdict.extra == (("y", "1"),)


def test_without_examples_only_counts_are_told(take: Callable[[str], Capture]) -> None:
    verdict = compare(take("SELECT 1 AS a, 2 AS b"), take("SELECT 1 AS a, 3 AS b"), examples=0)
    assert (verdict.message, verdict.missing, verdict.extra) == ("1 row is missing and 1 row is extra.", (), ())


def test_an_empty_result_against_rows_differs_in_counts_only(take: Callable[[str], Capture]) -> None:
    verdict = compare(take("SELECT i AS a FROM range(3) r(i)"), take("SELECT i AS a FROM range(0) r(i)"))
    assert (verdict.kind, verdict.missing_count, verdict.extra_count) == ("rows", 3, 0)
    assert verdict.message == "3 rows are missing."


@pytest.mark.parametrize("kind", sorted(VALUES))
def test_a_saved_capture_is_read_back_equal_with_its_types(con: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str) -> None:
    name = table_of(con, [kind, kind], [(index, len(VALUES[kind])) for index in range(len(VALUES[kind]) + 1)])
    capture = captured(con, f"SELECT k0 AS same, k1 AS same FROM {name}")
    path = tmp_path / "capture.arrow"
    capture.save(path, distinct=has_distinct_rows)
    loaded = Capture.load(path)
    assert loaded.columns == capture.columns
    assert loaded.distinct is has_distinct_rows(capture)
    assert compare(loaded, capture).equal
    assert compare(capture, loaded).equal
    assert loaded.row_count == len(VALUES[kind]) + 1
    # Differing rows of this type are found and can be shown.
    verdict = compare(loaded, Capture.of(capture.columns, capture.table.slice(1)))
    assert (verdict.missing_count, verdict.extra_count, len(verdict.missing)) == (1, 0, 1)


def test_a_comparison_that_runs_out_of_memory_is_an_error_and_never_equal(take: Callable[[str], Capture]) -> None:
    expected = take("SELECT i AS a, md5(i::VARCHAR) AS b FROM range(300000) r(i)")
    submitted = take("SELECT i AS a, md5(i::VARCHAR) AS b FROM range(300000) r(i) ORDER BY b")
    with Comparer(memory_mb=16) as small, pytest.raises(AgentError) as caught:
        small.compare(expected, submitted)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_a_comparison_spills_where_it_may(take: Callable[[str], Capture], tmp_path: Path) -> None:
    expected = take("SELECT i AS a, md5(i::VARCHAR) AS b FROM range(300000) r(i)")
    submitted = take("SELECT i AS a, md5(i::VARCHAR) AS b FROM range(300000) r(i) ORDER BY b")
    with Comparer(memory_mb=32, spill_mb=200, temp_dir=tmp_path) as spilling:
        assert spilling.compare(expected, submitted).equal
        changed = Capture.of(submitted.columns, submitted.table.slice(1))
        assert spilling.compare(expected, changed).missing_count == 1
        assert spilling.compare(expected, submitted).equal
