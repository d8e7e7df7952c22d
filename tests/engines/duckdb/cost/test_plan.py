from __future__ import annotations

from sql_optim_env.engines.duckdb.cost.plan import match_plans, texts


def physical(name: str, children: list[object] | None = None, **info: object) -> dict[str, object]:
    return {"name": name, "extra_info": {key.replace("_", " "): value for key, value in info.items()}, "children": children or []}


def reference(index: int, alias: str = "") -> dict[str, object]:
    node: dict[str, object] = {"expression_class": "BOUND_REF", "index": index}
    return {**node, "alias": alias} if alias else node


def function(name: str, alias: str = "") -> dict[str, object]:
    node: dict[str, object] = {"expression_class": "BOUND_FUNCTION", "qname": {"path": [name]}, "children": [reference(0)]}
    return {**node, "alias": alias} if alias else node


def plan_of(*operators: dict[str, object]) -> dict[str, object]:
    root: dict[str, object] | None = None
    for operator in reversed(operators):
        root = {**operator, "children": [root] if root else []}
    return {"error": False, "plans": [root]}


def projection(*expressions: dict[str, object]) -> dict[str, object]:
    return {"type": "LOGICAL_PROJECTION", "expressions": list(expressions)}


def test_one_entry_and_many_are_both_lists() -> None:
    assert texts("a") == ["a"]
    assert texts(["a", "b"]) == ["a", "b"]
    assert texts("") == texts(None) == []


def test_an_aliased_expression_is_paired_with_what_it_computes() -> None:
    node = physical("PROJECTION", Projections="m")
    pairs, _ = match_plans([node], plan_of(projection(function("md5", "m"))))
    assert pairs[id(node)].expressions[0]["qname"] == {"path": ["md5"]}


def test_a_projection_that_the_logical_plan_lacks_is_left_alone() -> None:
    inner = physical("PROJECTION", Projections=["#0", "md5(email)"])
    outer = physical("PROJECTION", [inner], Projections="m")
    pairs, _ = match_plans([outer], plan_of(projection(function("md5", "m"))))
    assert id(outer) in pairs
    assert id(inner) not in pairs


def test_operators_of_one_look_are_paired_from_the_top_down() -> None:
    inner = physical("PROJECTION", Projections="x")
    outer = physical("PROJECTION", [inner], Projections="x")
    pairs, _ = match_plans([outer], plan_of(projection(function("lower", "x")), projection(function("md5", "x"))))
    assert pairs[id(outer)].expressions[0]["qname"] == {"path": ["lower"]}
    assert pairs[id(inner)].expressions[0]["qname"] == {"path": ["md5"]}


def test_joins_pair_by_type_and_number_of_conditions() -> None:
    join = {"type": "LOGICAL_COMPARISON_JOIN", "join_type": "SEMI", "conditions": [{"left": reference(0), "right": reference(0)}]}
    other = physical("HASH_JOIN", Join_Type="INNER", Conditions="a = b")
    same = physical("HASH_JOIN", Join_Type="SEMI", Conditions="a = b")
    pairs, _ = match_plans([other, same], plan_of(join))
    assert (id(other) in pairs, id(same) in pairs) == (False, True)


def test_a_window_expression_is_handed_out_once() -> None:
    window = {
        "type": "LOGICAL_WINDOW",
        "expressions": [{"expression_class": "BOUND_WINDOW", "type": "WINDOW_ROW_NUMBER", "partitions": [reference(0)], "orders": [1]}],
    }
    _, take = match_plans([], plan_of(window))
    printed = "row_number() OVER (PARTITION BY a ORDER BY b ASC NULLS LAST)"
    assert take("row_number() OVER (ORDER BY b ASC NULLS LAST)") is None
    assert take(printed) is not None
    assert take(printed) is None


def test_a_missing_or_failed_plan_pairs_nothing() -> None:
    node = physical("PROJECTION", Projections="m")
    for plan in (None, {"error": True, "error_message": "no"}):
        pairs, _ = match_plans([node], plan)
        assert pairs == {}
