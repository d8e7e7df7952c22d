from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.bound import bound_expression, bound_kind
from sql_optim_env.engines.duckdb.cost.expressions import LITERAL, Expr, leaves


def projected(shop: duckdb.DuckDBPyConnection, expression: str, table: str = "orders") -> Expr:
    """The bound form of one projected expression."""
    sql = f"SELECT {expression} AS x FROM {table}"
    text = shop.execute("SELECT json_serialize_plan(?, skip_null := true, skip_empty := true, optimize := true)", [sql]).fetchall()[0][0]
    root: Mapping[str, Any] = json.loads(text)["plans"][0]
    return bound_expression(root["expressions"][0])


def test_a_function_keeps_its_name_argument_and_type(shop: duckdb.DuckDBPyConnection) -> None:
    assert projected(shop, "md5(status)") == Expr("call", "md5", (Expr("slot", kind="string", index=0),), "string")


def test_comparison_operators_share_one_name(shop: duckdb.DuckDBPyConnection) -> None:
    names = {projected(shop, f"total {operator} 5").name for operator in ("=", "<>", "<", ">=", "IS DISTINCT FROM")}
    assert names == {"compare"}


def test_a_cast_becomes_the_kind_it_casts_to(shop: duckdb.DuckDBPyConnection) -> None:
    tree = projected(shop, "customer_id::VARCHAR")
    assert (tree.op, tree.kind, tree.args[0].kind) == ("cast", "string", "integer")


def test_a_case_keeps_conditions_and_branches(shop: duckdb.DuckDBPyConnection) -> None:
    tree = projected(shop, "CASE WHEN total > 5 THEN md5(status) ELSE lower(status) END")
    assert tree.op == "case"
    assert [arg.name for arg in tree.args] == ["compare", "md5", "lower"]


def test_an_in_list_keeps_its_members() -> None:
    operand = {"expression_class": "BOUND_REF", "index": 0, "return_type": {"id": "INTEGER"}}
    members = [{"expression_class": "BOUND_CONSTANT"}] * 3
    tree = bound_expression({"expression_class": "BOUND_OPERATOR", "type": "COMPARE_IN", "children": [operand, *members]})
    assert tree.op == "in"
    assert tree.args == (Expr("slot", kind="integer", index=0), LITERAL, LITERAL, LITERAL)


def test_a_lambda_body_is_found_and_appears_once(shop: duckdb.DuckDBPyConnection) -> None:
    tree = projected(shop, "list_transform([id, customer_id], lambda x: x + product_id)")
    lambdas = [arg for arg in tree.args if arg.op == "lambda"]
    assert len(lambdas) == 1
    assert lambdas[0].args[0].name == "+"


def test_a_constant_is_a_literal_whatever_it_was_folded_from(shop: duckdb.DuckDBPyConnection) -> None:
    assert projected(shop, "md5('abc')") == LITERAL


def test_conjunctions_keep_all_their_operands(shop: duckdb.DuckDBPyConnection) -> None:
    tree = projected(shop, "total > 5 OR status = 'paid' OR id = 3")
    assert tree.op == "or"
    assert len(list(leaves(tree))) == 3


def test_a_class_that_is_not_known_becomes_an_unknown_call_over_its_operands() -> None:
    operand = {"expression_class": "BOUND_REF", "index": 4, "return_type": {"id": "VARCHAR"}}
    tree = bound_expression({"expression_class": "BOUND_NOVELTY", "some_child": operand})
    assert tree == Expr("call", "?", (Expr("slot", kind="string", index=4),))


@pytest.mark.parametrize(
    ("type_json", "kind"),
    [
        ({"id": "DECIMAL", "type_info": {"width": 38}}, "huge"),
        ({"id": "DECIMAL", "type_info": {"width": 10}}, "decimal"),
        ({"id": "LIST"}, "list"),
        (None, None),
    ],
)
def test_serialised_types_have_kinds(type_json: dict[str, Any] | None, kind: str | None) -> None:
    assert bound_kind(type_json) == kind


def test_a_list_aggregate_carries_the_name_of_its_aggregate(describe: Any) -> None:
    """What it costs on an element depends on the aggregate: a mode needs a hash table, a sum an addition."""
    total = describe("SELECT list_sum(l) FROM (SELECT list(product_id) AS l FROM orders GROUP BY customer_id)")
    mode = describe("SELECT list_mode(l) FROM (SELECT list(product_id) AS l FROM orders GROUP BY customer_id)")
    named = describe("SELECT aggregate(l, 'mode') FROM (SELECT list(product_id) AS l FROM orders GROUP BY customer_id)")
    assert mode.total("projection.expressions") > 10 * total.total("projection.expressions") > 0
    assert named.cost == mode.cost
