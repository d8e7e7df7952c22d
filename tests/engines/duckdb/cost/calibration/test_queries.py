from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

from sql_optim_env.datasets import get_dataset
from sql_optim_env.engines.duckdb.cost.calibration.corpus import PUBLIC, TWIN, shop_statements
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS
from sql_optim_env.engines.duckdb.cost.calibration.micro_suite import AGGREGATE_TEMPLATES, SCALAR_TEMPLATES
from sql_optim_env.engines.duckdb.cost.calibration.pairs import PAIRS, pair_statements
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections
from sql_optim_env.engines.duckdb.cost.calibration.synthetic import synthetic_statements

FAMILIES = frozenset(
    "filter project cast string date group distinct conditional_aggregate aggregate order window cte subquery set_operation list join "
    "non_equi_join recursion".split()
)


@pytest.fixture(scope="module")
def empty_shop() -> Iterator[duckdb.DuckDBPyConnection]:
    con = duckdb.connect(":memory:", config={"threads": 1})
    con.execute(get_dataset("shop").ddl)
    yield con
    con.close()


def test_sections_are_read_in_order_with_line_breaks_as_spaces() -> None:
    titles = [title for title, _ in read_sections("pairs")]
    assert titles[0] == "rank by counting"
    assert all("\n" not in sql and not sql.endswith(";") for _, sqls in read_sections("shop") for sql in sqls)


def test_a_semicolon_inside_a_text_does_not_end_a_statement() -> None:
    statements = dict(read_sections("pairs"))["count by splitting"]
    assert len(statements) == 2
    assert "';'" in statements[0]


def test_the_corpus_is_large_and_varied() -> None:
    statements = [item for item in shop_statements() if item.database == PUBLIC]
    assert len(statements) >= 300
    assert len({item.template for item in statements}) >= 150
    families = Counter(item.family for item in statements)
    assert set(families) == FAMILIES
    assert min(count for name, count in families.items() if name != "recursion") >= 10


def test_no_statement_is_measured_twice() -> None:
    everything = [*shop_statements(), *pair_statements(TWIN), *synthetic_statements()]
    keys = Counter((item.database, item.family == "pair", item.sql) for item in everything if item.family != "pair")
    assert [key for key, count in keys.items() if count > 1] == []


def test_there_are_at_least_sixty_pairs_of_two_different_queries() -> None:
    assert len(PAIRS) >= 60
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert [pair.name for pair in PAIRS if pair.slow == pair.fast] == []


def test_every_statement_binds_against_the_shops_schema(empty_shop: duckdb.DuckDBPyConnection) -> None:
    statements = [item.sql for item in shop_statements() if item.database == PUBLIC][::3]
    statements += [sql for pair in PAIRS for sql in (pair.slow, pair.fast)]
    for sql in statements:
        empty_shop.execute("EXPLAIN " + sql).fetchall()


def test_every_attempt_to_hide_work_binds_too(empty_shop: duckdb.DuckDBPyConnection) -> None:
    for attempt in ATTEMPTS:
        assert attempt.why
        if "folding" not in attempt.name:
            empty_shop.execute("EXPLAIN " + attempt.sql).fetchall()


def test_the_micro_benchmarks_cover_hundreds_of_forms() -> None:
    assert len(SCALAR_TEMPLATES) > 400
    assert len(AGGREGATE_TEMPLATES) > 50
    assert len(set(SCALAR_TEMPLATES)) == len(SCALAR_TEMPLATES)
