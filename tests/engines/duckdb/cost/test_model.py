from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost import Card, CostModel, build_card
from sql_optim_env.engines.duckdb.cost.features import total_features


def run(path: Path, sql: str) -> tuple[dict[str, Any], dict[str, Any], Card]:
    con = duckdb.connect(str(path), read_only=True, config={"threads": 1})
    con.execute("SET disabled_optimizers = 'join_filter_pushdown'")
    con.execute("PRAGMA enable_profiling = 'no_output'")
    plan = json.loads(
        con.execute("SELECT json_serialize_plan(?, skip_null := true, skip_empty := true, optimize := true)", [sql]).fetchall()[0][0]
    )
    con.sql(sql).to_arrow_reader(100_000).read_all()
    profile = json.loads(con.get_profiling_information("json"))
    found = build_card(con)
    con.close()
    return profile, plan, found


def test_the_version_names_the_engine_and_the_weights(model: CostModel) -> None:
    assert model.version == f"duckdb-{duckdb.__version__}/weights-{model.weights.version}"


def test_a_cost_is_a_positive_integer(describe: Any) -> None:
    cost = describe("SELECT status, sum(total) FROM orders GROUP BY 1").cost
    assert isinstance(cost, int)
    assert cost > 0


def test_the_parts_add_up_to_the_cost(describe: Any, model: CostModel) -> None:
    described = describe("SELECT u.tier, sum(o.total) AS s FROM orders o JOIN users u ON u.id = o.customer_id GROUP BY 1 ORDER BY s DESC")
    parts = sum(operator.cost for operator in described.breakdown) + model.weights.constant_ns
    assert parts == pytest.approx(described.cost, abs=len(described.breakdown) + 1)
    assert [operator.depth for operator in described.breakdown][:2] == [0, 1]


def test_a_statement_answered_from_statistics_costs_the_constant(model: CostModel, card: Card, shop: duckdb.DuckDBPyConnection) -> None:
    shop.sql("SELECT count(*) FROM orders").to_arrow_reader(1000).read_all()
    profile = json.loads(shop.get_profiling_information("json"))
    assert profile == {"result": "error"}
    assert model.cost(profile, None, card) == round(model.weights.constant_ns)


def test_two_texts_with_one_plan_have_one_cost(describe: Any) -> None:
    first = describe("SELECT status, sum(total) AS s FROM orders WHERE total > 20 GROUP BY status")
    second = describe("select o.status , SUM(o.total) as  s /* the same */ from orders as o where 20 < o.total group by 1")
    assert first.cost == second.cost


def test_the_files_path_and_name_do_not_change_a_cost(shop_path: Path, tmp_path: Path, model: CostModel) -> None:
    copy = tmp_path / "main.orders.copy of it.db"
    shutil.copy(shop_path, copy)
    sql = "SELECT u.tier, count(*) FROM orders o JOIN users u ON u.id = o.customer_id WHERE lower(o.status) = 'paid' GROUP BY 1"
    assert model.cost(*run(shop_path, sql)) == model.cost(*run(copy, sql))


def test_features_do_not_depend_on_the_order_in_which_they_are_summed(describe: Any, model: CostModel) -> None:
    features = total_features(list(describe("SELECT customer_id, median(total), list(id) FROM orders GROUP BY 1").operators))
    shuffled = list(features.items())
    random.Random(3).shuffle(shuffled)
    assert model.cost_of_features(dict(shuffled)) == model.cost_of_features(features)


def test_an_operator_nobody_has_heard_of_still_costs_something(model: CostModel, card: Card) -> None:
    scan = {"name": "SEQ_SCAN", "intermediate_rows": 1_000_000, "rows_scanned": 1_000_000, "extra_info": {"Table": "x.main.orders"}}
    novelty = {"name": "QUANTUM_JOIN", "intermediate_rows": 1_000_000, "extra_info": {}, "children": [scan]}
    without = model.cost({"operator": [scan]}, None, card)
    assert model.cost({"operator": [novelty]}, None, card) > without + 1_000_000


@pytest.mark.parametrize("profile", [{}, {"operator": []}, {"operator": [{"name": "SEQ_SCAN"}]}, {"operator": [{}]}])
def test_a_thin_profile_still_has_a_cost(profile: dict[str, Any], model: CostModel, card: Card) -> None:
    assert model.cost(profile, {"plans": [{"type": "LOGICAL_GET"}]}, card) >= round(model.weights.constant_ns)


def test_every_kind_of_honest_query_gets_a_cost(describe: Any, model: CostModel) -> None:
    for sql in (
        "SELECT * FROM empty_table",
        "SELECT id FROM empty_table WHERE note LIKE 'x%' ORDER BY id LIMIT 3",
        "SELECT 1 + 1 AS two",
        "VALUES (1, 'a'), (2, 'b')",
        "SELECT * FROM (PIVOT (SELECT tier, region, id FROM users) ON region USING count(*) GROUP BY tier)",
        "SELECT tier, region, count(*) FROM users GROUP BY CUBE (tier, region)",
        "SELECT struct_pack(a := id, b := email).b AS b, map([tier], [id]) AS m FROM users",
        "SELECT u.id, t.total FROM users u, LATERAL (SELECT total FROM orders o WHERE o.customer_id = u.id ORDER BY total DESC LIMIT 2) t",
        "SELECT id FROM users EXCEPT ALL SELECT customer_id FROM orders",
        "SELECT sum(total) FROM orders POSITIONAL JOIN users",
    ):
        assert describe(sql).cost > 0, sql
