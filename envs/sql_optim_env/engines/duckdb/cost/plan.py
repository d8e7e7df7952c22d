"""Pair the operators of an executed plan (the profile) with those of the serialised logical plan.

Both trees come from the same optimizer run and keep the same order, but the physical one has more projections (arguments of aggregates,
projection maps) and lacks those that only pass columns through. So each physical operator, in pre-order, takes the first unused logical
operator of its family that looks the same. One without a partner is priced from its printed text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["AGGREGATES", "JOINS", "Json", "LogicalOperator", "match_plans", "texts"]

Json = Mapping[str, Any]

JOINS: Final = frozenset(
    {
        "HASH_JOIN",
        "NESTED_LOOP_JOIN",
        "BLOCKWISE_NL_JOIN",
        "CROSS_PRODUCT",
        "PIECEWISE_MERGE_JOIN",
        "IE_JOIN",
        "ASOF_JOIN",
        "POSITIONAL_JOIN",
        "LEFT_DELIM_JOIN",
        "RIGHT_DELIM_JOIN",
    }
)
AGGREGATES: Final = frozenset(
    {"HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY", "UNGROUPED_AGGREGATE", "SIMPLE_AGGREGATE", "PARTITIONED_AGGREGATE"}
)

_PHYSICAL_FAMILY: Final[dict[str, str]] = {
    "PROJECTION": "projection",
    "FILTER": "filter",
    "ORDER_BY": "order",
    "TOP_N": "order",
    "UNNEST": "unnest",
    **dict.fromkeys(JOINS, "join"),
    **dict.fromkeys(AGGREGATES, "aggregate"),
}
_LOGICAL_FAMILY: Final[dict[str, str]] = {
    "LOGICAL_PROJECTION": "projection",
    "LOGICAL_FILTER": "filter",
    "LOGICAL_ORDER_BY": "order",
    "LOGICAL_TOP_N": "order",
    "LOGICAL_UNNEST": "unnest",
    "LOGICAL_COMPARISON_JOIN": "join",
    "LOGICAL_ANY_JOIN": "join",
    "LOGICAL_CROSS_PRODUCT": "join",
    "LOGICAL_ASOF_JOIN": "join",
    "LOGICAL_DELIM_JOIN": "join",
    "LOGICAL_POSITIONAL_JOIN": "join",
    "LOGICAL_AGGREGATE_AND_GROUP_BY": "aggregate",
    "LOGICAL_DISTINCT": "aggregate",
    "LOGICAL_WINDOW": "window",
}


def texts(value: object) -> list[str]:
    """The entries of an ``extra_info`` field, which is one string when there is only one."""
    if value is None or value == "":
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


@dataclass(slots=True)
class LogicalOperator:
    """One operator of the serialised plan. ``used`` marks it as paired; a window operator is used expression by expression."""

    family: str
    node: Json
    used: bool = False

    @property
    def expressions(self) -> list[Json]:
        """The operator's bound expressions (projections, predicates, aggregates, window functions)."""
        return [item for item in self.node.get("expressions") or () if isinstance(item, Mapping)]

    @property
    def groups(self) -> list[Json]:
        """Grouping keys of an aggregate, distinct targets of a DISTINCT."""
        return [item for item in self.node.get("groups") or self.node.get("distinct_targets") or () if isinstance(item, Mapping)]

    @property
    def arguments(self) -> list[Json]:
        """What the projection below an aggregate computes: groups, then arguments and order keys, then filters."""
        found = list(self.groups)
        if self.node.get("type") == "LOGICAL_DISTINCT":
            return found
        for aggregate in self.expressions:
            found += aggregate.get("children") or ()
            orders = (aggregate.get("order_bys") or {}).get("orders") or ()
            found += [order["expression"] for order in orders if "expression" in order]
        found += [aggregate["filter"] for aggregate in self.expressions if isinstance(aggregate.get("filter"), Mapping)]
        return found

    @property
    def orders(self) -> list[Json]:
        """Bound sort keys of an ORDER BY or TOP N."""
        return [order["expression"] for order in self.node.get("orders") or () if isinstance(order, Mapping) and "expression" in order]

    @property
    def conditions(self) -> list[Json]:
        """Join conditions with ``left``, ``right`` and ``comparison``."""
        return [item for item in self.node.get("conditions") or () if isinstance(item, Mapping)]


def _walk(node: Json) -> Iterator[LogicalOperator]:
    family = _LOGICAL_FAMILY.get(str(node.get("type")))
    if family is not None:
        yield LogicalOperator(family, node)
    for child in node.get("children") or ():
        if isinstance(child, Mapping):
            yield from _walk(child)


def _logical_operators(plan: Json | None) -> list[LogicalOperator]:
    if not plan or plan.get("error"):
        return []
    return [operator for root in plan.get("plans") or () for operator in _walk(root)]


def _same_projection(text: str, expression: Json) -> bool:
    alias = expression.get("alias")
    if alias:
        return text == alias or (expression.get("expression_class") == "BOUND_REF" and text.startswith("#"))
    if expression.get("expression_class") == "BOUND_REF":
        return text == f"#{expression.get('index')}"
    if expression.get("expression_class") == "BOUND_CONSTANT":
        return not text.startswith("#")
    return re.fullmatch(r"#?\w+", text) is None


def _aliases(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("expression_class") in ("BOUND_REF", "BOUND_COLUMN_REF") and node.get("alias"):
            yield str(node["alias"])
        for value in node.values():
            if isinstance(value, (Mapping, list)):
                yield from _aliases(value)
    elif isinstance(node, list):
        for value in node:
            yield from _aliases(value)


def _looks_like(physical: Json, operator: LogicalOperator) -> bool:
    info = physical.get("extra_info") or {}
    if operator.family == "projection":
        printed = texts(info.get("Projections"))
        expressions = operator.expressions
        return len(printed) == len(expressions) and all(map(_same_projection, printed, expressions))
    if operator.family == "filter":
        printed_filter = " ".join(texts(info.get("Expression")))
        return all(alias in printed_filter for alias in _aliases(operator.expressions))
    if operator.family == "join":
        join_type = info.get("Join Type")
        logical_type = operator.node.get("join_type")
        if join_type is not None and logical_type is not None and join_type != logical_type:
            return False
        if physical.get("name") == "BLOCKWISE_NL_JOIN":
            return "condition" in operator.node
        return len(texts(info.get("Conditions"))) == len(operator.conditions) and "condition" not in operator.node
    if operator.family == "aggregate":
        if len(texts(info.get("Groups"))) != len(operator.groups):
            return False
        if operator.node.get("type") == "LOGICAL_DISTINCT":
            return True
        return len(texts(info.get("Aggregates"))) == len(operator.expressions)
    if operator.family == "order":
        return len(texts(info.get("Order By"))) == len(operator.orders)
    return True


def _computes_arguments(node: Json, aggregate: LogicalOperator | None) -> bool:
    """Whether a projection is the one that the engine puts below an aggregate to compute its arguments."""
    if aggregate is None or node.get("name") != "PROJECTION":
        return False
    arguments = aggregate.arguments
    printed = texts((node.get("extra_info") or {}).get("Projections"))
    return bool(arguments) and all(any(_same_projection(text, argument) for argument in arguments) for text in printed)


def match_plans(roots: list[Json], plan: Json | None) -> tuple[dict[int, LogicalOperator], Callable[[str], Json | None]]:
    """Pair physical and logical operators.

    Returns the pairs keyed by ``id`` of the physical node, and a function that hands out the first unused bound window expression that
    matches a printed one (window operators are split by partitioning, so they pair by expression).
    """
    operators = _logical_operators(plan)
    pairs: dict[int, LogicalOperator] = {}

    def visit(node: Json, aggregate: LogicalOperator | None = None) -> None:
        family = _PHYSICAL_FAMILY.get(str(node.get("name")))
        if family is not None and not _computes_arguments(node, aggregate):
            for operator in operators:
                if operator.family == family and not operator.used and _looks_like(node, operator):
                    operator.used = True
                    pairs[id(node)] = operator
                    break
        paired = pairs.get(id(node))
        for child in node.get("children") or ():
            visit(child, paired if family == "aggregate" else None)

    for root in roots:
        visit(root)
    windows = [expression for operator in operators if operator.family == "window" for expression in operator.expressions]

    def take_window(printed: str) -> Json | None:
        for position, expression in enumerate(windows):
            if _window_signature(expression) == _printed_window_signature(printed):
                return windows.pop(position)
        return None

    return pairs, take_window


def _window_signature(expression: Json) -> tuple[str, bool, bool]:
    path = (expression.get("qname") or {}).get("path") or []
    name = str(path[-1]) if path else str(expression.get("type", "")).removeprefix("WINDOW_").lower()
    return (name, bool(expression.get("partitions")), bool(expression.get("orders")))


def _printed_window_signature(printed: str) -> tuple[str, bool, bool]:
    name = re.match(r'"?(\w+)"?\(', printed)
    over = printed.rpartition(" OVER ")[2]
    return (name.group(1) if name else "", "PARTITION BY" in over, "ORDER BY" in over)
