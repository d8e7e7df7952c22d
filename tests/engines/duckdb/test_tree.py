from __future__ import annotations

import pytest

from sql_optim_env.engines.duckdb.tree import TreeWalker, fold
from sql_optim_env.errors import AgentError, ErrorCode


def walker() -> TreeWalker:
    return TreeWalker(tables=frozenset({"t"}), allow_recursion=False, generator_functions=frozenset(), waive=False)


def refused(tree: dict[str, object]) -> AgentError:
    with pytest.raises(AgentError) as caught:
        walker().walk({"node": tree, "named_param_map": []})
    return caught.value


@pytest.mark.parametrize(("name", "folded"), [("Users", "users"), ("ÉTÉ", "ÉtÉ"), ("duc\u212adb", "duc\u212adb"), ("\u0130", "\u0130")])
def test_only_ascii_letters_are_folded(name: str, folded: str) -> None:
    assert fold(name) == folded


@pytest.mark.parametrize(
    "tree",
    [
        {"type": "SOME_NEW_NODE"},
        {"class": "SOME_NEW_EXPRESSION", "type": "X"},
        {"class": "CONSTANT", "type": "VALUE_CONSTANT", "literal": {}, "some_new_field": []},
        {"class": "OPERATOR", "type": "SOME_NEW_OPERATOR", "children": []},
        {"some": "dictionary"},
        {"class": "CONJUNCTION", "type": "CONJUNCTION_AND", "children": [5]},
    ],
    ids=str,
)
def test_what_the_walk_does_not_know_is_refused(tree: dict[str, object]) -> None:
    assert refused(tree).code is ErrorCode.REFUSED_SYNTAX


def test_an_unknown_query_node_is_named_as_what_it_is() -> None:
    error = refused({"type": "MERGE_QUERY_NODE"})
    assert error.code is ErrorCode.NOT_ONE_SELECT
    assert error.message.startswith("MERGE inside WITH")


def test_parameters_are_refused_where_the_tree_lists_them() -> None:
    with pytest.raises(AgentError, match="parameters"):
        walker().walk(
            {"node": {"class": "CONSTANT", "type": "VALUE_CONSTANT", "literal": {}}, "named_param_map": [{"key": "1", "value": 1}]}
        )


def test_depth_is_bounded_and_breadth_is_not() -> None:
    leaf: dict[str, object] = {"class": "CONSTANT", "type": "VALUE_CONSTANT", "literal": {}}
    walker().walk({"class": "CONJUNCTION", "type": "CONJUNCTION_OR", "children": [leaf] * 50_000})
    deep = leaf
    for _ in range(400):
        deep = {"class": "CONJUNCTION", "type": "CONJUNCTION_OR", "children": [deep]}
    assert "nested too deeply" in refused(deep).message
