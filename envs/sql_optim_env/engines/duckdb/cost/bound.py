"""Bound expressions of ``json_serialize_plan`` as trees of :mod:`expressions`.

Why they are needed beside the profile's text: the profile prints ``md5(email) AS m`` as ``m`` and never prints what an UNNEST computes. The
serialised plan has every expression with its types, and its references are positions in the operator's input, which an alias cannot fake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sql_optim_env.engines.duckdb.cost.expressions import COMPARISON, COMPARISON_NAMES, LITERAL, UNKNOWN_CALL, Expr
from sql_optim_env.engines.duckdb.cost.kinds import Kind, kind_of

__all__ = ["LIST_AGGREGATES", "bound_expression", "bound_kind", "function_name"]

LIST_AGGREGATES: Final = frozenset({"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"})
"""Names of the function that runs a named aggregate over a list; ``list_sum`` and its kin are macros of it."""

Json = Mapping[str, Any]


def bound_kind(type_json: Json | None) -> Kind | None:
    """The kind of a serialised logical type, None when it is absent."""
    if not type_json:
        return None
    name = str(type_json.get("id", ""))
    if name == "DECIMAL":
        width = (type_json.get("type_info") or {}).get("width", 18)
        return "huge" if int(width) > 18 else "decimal"
    return kind_of(name) if name and name not in ("INVALID", "LAMBDA") else None


def _constant_kind(node: Json) -> Kind | None:
    """The kind of a serialised constant."""
    return bound_kind((node.get("value") or {}).get("type"))


def function_name(node: Json) -> str:
    """The unqualified name of a serialised function, negated operators without their ``!``."""
    path = (node.get("qname") or {}).get("path") or [UNKNOWN_CALL]
    name = str(path[-1])
    if name in COMPARISON_NAMES:
        return COMPARISON
    if name == "__between":
        return "between"
    return name[1:] if name.startswith("!") and len(name) > 1 and not name.startswith("!__") else name


def _nested(node: Json) -> Iterator[Json]:
    """Serialised expressions directly below a node whose class is not handled by name."""
    for key in sorted(node):
        value = node[key]
        candidates = value if isinstance(value, list) else [value]
        for candidate in candidates:
            if isinstance(candidate, Mapping) and "expression_class" in candidate:
                yield candidate


def bound_expression(node: Json) -> Expr:
    """The tree of one serialised expression. Classes that are not known become an unknown call over their operands."""
    try:
        return _convert(node)
    except RecursionError:
        return Expr("call", UNKNOWN_CALL)


def _convert(node: Json) -> Expr:
    kind = bound_kind(node.get("return_type"))
    expression_class = node.get("expression_class")
    if expression_class == "BOUND_REF":
        return Expr("slot", kind=kind, index=int(node.get("index", -1)))
    if expression_class == "BOUND_COLUMN_REF":
        return Expr("column", str(node.get("alias", "")), kind=kind)
    if expression_class == "BOUND_CONSTANT":
        value = (node.get("value") or {}).get("value")
        return Expr("literal", number=value) if isinstance(value, int) and _constant_kind(node) == "integer" else LITERAL
    if expression_class == "BOUND_CASE":
        return Expr("case", args=tuple(_case_parts(node)), kind=kind)
    if expression_class == "BOUND_CONJUNCTION":
        children = tuple(_convert(child) for child in node.get("children", ()))
        return Expr("and" if "AND" in str(node.get("type")) else "or", args=children, kind=kind)
    if expression_class == "BOUND_LAMBDA" or expression_class == "LAMBDA":
        body = node.get("lambda_expr")
        return Expr("lambda", args=(_convert(body),) if isinstance(body, Mapping) else ())
    if expression_class == "BOUND_BETWEEN":
        return Expr("call", "between", tuple(_convert(node[key]) for key in ("input", "lower", "upper") if key in node), kind)
    if expression_class == "BOUND_COMPARISON":
        return Expr("call", COMPARISON, (_convert(node["left"]), _convert(node["right"])), kind)
    if expression_class in ("BOUND_FUNCTION", "BOUND_CAST"):
        return _function(node, kind)
    if expression_class == "BOUND_OPERATOR":
        return _operator(node, kind)
    return Expr("call", UNKNOWN_CALL, tuple(_convert(child) for child in _nested(node)), kind)


def _case_parts(node: Json) -> Iterator[Expr]:
    for check in node.get("case_checks", ()):
        yield _convert(check["when_expr"])
        yield _convert(check["then_expr"])
    if "else_expr" in node:
        yield _convert(node["else_expr"])


def _function(node: Json, kind: Kind | None) -> Expr:
    children = tuple(_convert(child) for child in node.get("children", ()))
    if not children and "child" in node:
        children = (_convert(node["child"]),)
    if node.get("type") == "OPERATOR_CAST" or node.get("expression_class") == "BOUND_CAST":
        if len(children) == 1 and children[0].op == "literal":
            return LITERAL
        return Expr("cast", _element_cast(node), children[:1], kind)
    name = function_name(node)
    if name in ("and", "or"):
        return Expr("and" if name == "and" else "or", args=children, kind=kind)
    if name in LIST_AGGREGATES:
        name = _list_aggregate(node)
    data = node.get("function_data")
    body = data.get("lambda_expr") if isinstance(data, Mapping) else None
    if isinstance(body, Mapping) and body and not any(child.op == "lambda" for child in children):
        children = (*children, Expr("lambda", args=(_convert(body),)))
    return Expr("call", name, children, kind)


def _list_aggregate(node: Json) -> str:
    """``list_aggr(mode)``: what an aggregate costs on an element depends on the aggregate, which is a constant text."""
    named = [item for item in node.get("children") or () if isinstance(item, Mapping) and item.get("expression_class") == "BOUND_CONSTANT"]
    text = (named[0].get("value") or {}).get("value") if named else None
    return f"list_aggr({text.lower()})" if isinstance(text, str) else "list_aggr"


def _element_kind(type_json: Json | None) -> Kind | None:
    info = (type_json or {}).get("type_info")
    return bound_kind(info.get("child_type")) if isinstance(info, Mapping) else None


def _element_cast(node: Json) -> str:
    """``float>string`` for a cast between lists of different elements, which converts every element; empty for other casts."""
    sources = [*(node.get("children") or ()), node.get("child")]
    source = next((item for item in sources if isinstance(item, Mapping)), None)
    before = _element_kind((source or {}).get("return_type"))
    after = _element_kind(node.get("return_type"))
    return f"{before}>{after}" if before and after and before != after else ""


def _operator(node: Json, kind: Kind | None) -> Expr:
    children = tuple(_convert(child) for child in node.get("children", ()))
    operator = str(node.get("type"))
    if operator in ("COMPARE_IN", "COMPARE_NOT_IN"):
        return Expr("in", args=children, kind=kind)
    if "NULL" in operator and operator.startswith("OPERATOR_IS"):
        return Expr("call", "is_null", children, kind)
    names = {"OPERATOR_COALESCE": "COALESCE", "OPERATOR_NOT": "not", "ARRAY_EXTRACT": "array_extract", "OPERATOR_TRY": "try"}
    return Expr("call", names.get(operator, operator.lower()), children, kind)
