from __future__ import annotations

import pytest

from sql_optim_env.engines.duckdb.cost.expressions import LITERAL, Expr, leaves, parse_expression


def column(name: str) -> Expr:
    return Expr("column", name)


def integer(number: int) -> Expr:
    return Expr("literal", number=number)


def call(name: str, *args: Expr) -> Expr:
    return Expr("call", name, args)


@pytest.mark.parametrize(
    ("printed", "tree"),
    [
        ("total", column("total")),
        ("#3", Expr("slot", index=3)),
        ("#[0.2]", Expr("slot", index=2)),
        ("'it''s (x'", LITERAL),
        ("12.50", LITERAL),
        ("NULL::VARCHAR", LITERAL),
        ("(total > 5.00)", call("compare", column("total"), LITERAL)),
        ("((total * 2) > 100.00)", call("compare", call("*", column("total"), integer(2)), LITERAL)),
        ("(created_at >= '2024-01-01 00:00:00'::TIMESTAMP)", call("compare", column("created_at"), LITERAL)),
        ('"/"(CAST(#0 AS DOUBLE), 2)', call("/", Expr("cast", args=(Expr("slot", index=0),), kind="float"), integer(2))),
        ("contains(email, '1')", call("contains", column("email"), LITERAL)),
        ("(name !~~ '%x%')", call("~~", column("name"), LITERAL)),
        ("(id IN (1, 2, 3))", Expr("in", args=(column("id"), integer(1), integer(2), integer(3)))),
        ("(region IS NULL)", call("is_null", column("region"))),
        ("(region IS NOT NULL)", call("is_null", column("region"))),
        ("a IS NOT DISTINCT FROM b", call("compare", column("a"), column("b"))),
        ("(total BETWEEN 1.00 AND 2.00)", call("between", column("total"), LITERAL, LITERAL)),
        ("CAST(customer_id AS VARCHAR)", Expr("cast", args=(column("customer_id"),), kind="string")),
        ("CAST(total AS DECIMAL(38,2))", Expr("cast", args=(column("total"),), kind="huge")),
        ("list_value(1, id)", call("list_value", integer(1), column("id"))),
        ("(NOT flag)", call("not", column("flag"))),
    ],
)
def test_what_the_engine_prints_is_read_as_it_is_meant(printed: str, tree: Expr) -> None:
    assert parse_expression(printed) == tree


def test_a_case_lists_conditions_and_results_in_order() -> None:
    tree = parse_expression("CASE  WHEN ((total > 5.00)) THEN (md5(status)) ELSE lower(status) END")
    assert tree.op == "case"
    assert [arg.name for arg in tree.args] == ["compare", "md5", "lower"]


def test_conjunctions_and_disjunctions_keep_their_operands() -> None:
    tree = parse_expression("(((status = 'paid') OR (id = 1)) AND (strftime(created_at, '%Y') = '2024'))")
    assert tree.op == "and"
    assert tree.args[0].op == "or"
    assert [leaf.name for leaf in leaves(tree)] == ["status", "id", "created_at"]


def test_a_lambda_keeps_its_body() -> None:
    tree = parse_expression("list_transform(l, lambda x: (x + 1))")
    assert tree.name == "list_transform"
    assert tree.args[1].op == "lambda"
    assert tree.args[1].args[0].name == "+"


@pytest.mark.parametrize("printed", ["", "((((", "a b c", "'unfinished", "?? ~~~ !", "CASE WHEN", "f(", "CAST(", "x::", "1 2 3", "IN", "]"])
def test_text_that_makes_no_sense_never_raises(printed: str) -> None:
    assert isinstance(parse_expression(printed), Expr)


def test_nesting_beyond_the_stack_becomes_an_unknown_call() -> None:
    tree = parse_expression("f(" * 20_000 + "x" + ")" * 20_000)
    assert (tree.op, tree.name) == ("call", "?")
