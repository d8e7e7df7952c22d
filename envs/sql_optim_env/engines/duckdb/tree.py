"""The walk over the engine's parse tree: an allow-list of node kinds, fields, functions, types and tables.

The walk is iterative, so the depth of a statement cannot exhaust the interpreter's stack.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from sql_optim_env.engines.duckdb.arguments import Node, fixed_argument_refusal, generator_refusal
from sql_optim_env.engines.duckdb.functions import ALLOWED_FUNCTIONS, SESSION_VALUES, RefusalReason, refusal_reason
from sql_optim_env.errors import AgentError, ErrorCode

__all__ = ["MAX_DEPTH", "TOO_DEEP", "TreeWalker", "fold"]

_PLAIN = frozenset({"class", "type", "alias", "query_location", "query_location_length"})
"""Fields every node may have and that hold nothing to check."""

# kind -> (fields that hold expressions, fields that hold plain values and are checked elsewhere or need no check)
_EXPRESSIONS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = MappingProxyType(
    {
        kind: (frozenset(children.split()), frozenset(plain.split()))
        for kind, children, plain in (
            ("BETWEEN", "input lower upper", ""),
            ("CASE", "case_checks else_expr", ""),
            ("CAST", "child type_expr", "try_cast"),
            ("COLLATE", "child", "collation"),
            ("COLUMN_REF", "", "column_names"),
            ("COMPARISON", "left right", ""),
            ("CONJUNCTION", "children", ""),
            ("CONSTANT", "", "literal"),
            ("FUNCTION", "filter order_bys arguments",
             "function_name schema catalog distinct is_operator export_state qualified_name is_legacy_function_call"),
            ("LAMBDA", "lhs expr", "syntax_type"),
            ("OPERATOR", "children", ""),
            ("POSITIONAL_REFERENCE", "", "index"),
            ("STAR", "replace_list expr",
             "relation_name exclude_list columns qualified_exclude_list rename_list"),
            ("SUBQUERY", "subquery child", "subquery_type comparison_type"),
            ("TYPE", "children", "catalog schema type_name qualified_name"),
            ("WINDOW", "partitions orders start_expr end_expr offset_expr default_expr filter_expr arg_orders arguments",
             "function_name schema catalog start end ignore_nulls exclude_clause distinct has_ignore_nulls qualified_name "
             "is_legacy_function_call"),
        )
    }
)  # fmt: skip

_NODES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = MappingProxyType(
    {
        kind: (frozenset(children.split()), frozenset(plain.split()))
        for kind, children, plain in (
            ("SELECT_NODE", "modifiers select_list from_table where_clause group_expressions having qualify",
             "cte_map group_sets aggregate_handling sample"),
            ("SET_OPERATION_NODE", "modifiers left right children", "cte_map setop_type setop_all"),
            ("RECURSIVE_CTE_NODE", "modifiers left right", "cte_map cte_name union_all aliases key_targets"),
            ("BASE_TABLE", "", "sample schema_name table_name column_name_alias catalog_name at_clause qualified_name"),
            ("EMPTY", "", "sample"),
            ("EXPRESSION_LIST", "values", "sample expected_names expected_types"),
            ("JOIN", "left right condition",
             "sample join_type ref_type using_columns delim_flipped duplicate_eliminated_columns is_implicit ranking_expression "
             "nearest_count nearest_order_type nearest_approx"),
            ("SUBQUERY", "subquery", "sample column_name_alias"),
            ("TABLE_FUNCTION", "function", "sample column_name_alias with_ordinality"),
            ("DISTINCT_MODIFIER", "distinct_on_targets", ""),
            ("LIMIT_MODIFIER", "limit offset", "limit_type"),
            ("ORDER_MODIFIER", "orders", ""),
            ("ORDER_DEFAULT", "expression", "null_order"),
            ("ASCENDING", "expression", "null_order"),
            ("DESCENDING", "expression", "null_order"),
        )
    }
)  # fmt: skip

_WRAPPERS = (
    frozenset({"name", "expression"}),
    frozenset({"when_expr", "then_expr"}),
    frozenset({"key", "value"}),
    frozenset({"node", "named_param_map"}),
)
"""Dictionaries without a kind of their own that hold expressions or a query."""

_OPERATORS = frozenset(
    "ARRAY_EXTRACT ARRAY_SLICE ARRAY_CONSTRUCTOR COMPARE_IN COMPARE_NOT_IN GROUPING_FUNCTION OPERATOR_COALESCE OPERATOR_IS_NOT_NULL "
    "OPERATOR_IS_NULL OPERATOR_NOT OPERATOR_TRY OPERATOR_UNPACK STRUCT_EXTRACT".split()
)
_JOIN_KINDS = frozenset({"REGULAR", "CROSS", "NATURAL", "ASOF"})
_TABLE_FUNCTIONS = frozenset({"unnest", "range", "generate_series"})
_COLLATIONS = frozenset({"nocase", "noaccent", "nfc", "binary", "c", "posix"})
_TYPES = frozenset(
    """
    array bigint bignum binary bit bitstring blob bool boolean bpchar bytea char date datetime dec decimal double enum float float4
    float8 guid hugeint int int1 int128 int16 int2 int32 int4 int64 int8 integer integral interval list logical long map null numeric
    nvarchar real row short signed smallint string struct text time time_ns timestamp timestamp_ms timestamp_ns timestamp_s timestamp_us
    timestamptz timetz tinyint tuple ubigint uhugeint uint128 uint16 uint32 uint64 uint8 uinteger usmallint utinyint uuid varbinary varchar
    varint
    """.split()
) | {"time with time zone", "timestamp with time zone"}
_CATALOGUE_PREFIXES = ("duckdb_", "information_schema", "pg_", "pragma_", "sqlite_")
_PHYSICAL_COLUMNS = frozenset({"rowid"})
_SCOPE = frozenset[str]

TOO_DEEP = "the statement is nested too deeply; write it with fewer levels"
MAX_DEPTH = 600
"""Deepest nesting of the tree, in JSON containers (about three for an operator). Well below what the interpreter's JSON reader takes."""
_MAX_NAME_PARTS = 10
# A column path of 9,000 parts keeps the engine's binder busy for ten seconds.

_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """``name`` as the engine compares identifiers: ASCII letters lower case, everything else untouched.

    ``str.lower`` would also fold characters such as the Kelvin sign, and let a CTE pass for a name that the engine thinks different.
    """
    return name.translate(_ASCII_LOWER)


def _refuse(code: ErrorCode, message: str) -> NoReturn:
    raise AgentError(code, message)


def _shown(name: str) -> str:
    return name if len(name) <= 60 else name[:57] + "..."


class TreeWalker:
    """One walk over one statement's tree.

    With ``waive`` the walk is of a task's own query: generators and recursion pass, and are noted in ``found_generators`` and
    ``found_recursion``.
    """

    def __init__(self, *, tables: frozenset[str], allow_recursion: bool, generator_functions: frozenset[str], waive: bool) -> None:
        self._tables = tables
        self._allow_recursion = allow_recursion
        self._generators = generator_functions
        self._waive = waive
        self._stack: list[tuple[Any, _SCOPE, int]] = []
        self._depth = 0
        self.found_generators: set[str] = set()
        self.found_recursion = False

    def walk(self, statement: Node) -> None:
        """Check the whole tree; raises AgentError at the first thing that is not admitted."""
        self._stack = [(statement, frozenset(), 0)]
        while self._stack:
            value, scope, self._depth = self._stack.pop()
            if self._depth > MAX_DEPTH:
                _refuse(ErrorCode.REFUSED_SYNTAX, TOO_DEEP)
            if isinstance(value, list):
                self._push(value, scope)
            elif isinstance(value, dict):
                self._visit(value, scope)
            elif isinstance(value, str):
                continue
            elif value is not None:
                _refuse(ErrorCode.REFUSED_SYNTAX, "this construct is not admitted")

    def _visit(self, node: dict[str, Any], scope: _SCOPE) -> None:
        if "class" in node:
            kind, table, check = str(node["class"]), _EXPRESSIONS, self._expression_checks
        elif isinstance(node.get("type"), str):
            kind, table, check = str(node["type"]), _NODES, self._node_checks
        elif frozenset(node) in _WRAPPERS:
            if node.get("named_param_map"):
                self._no_parameters()
            self._push((value for key, value in node.items() if key not in ("name", "key", "named_param_map")), scope)
            return
        else:
            _refuse(ErrorCode.REFUSED_SYNTAX, "this construct is not admitted")
        fields = table.get(kind)
        if fields is None:
            self._refused_kind(kind)
        children, plain = fields
        unknown = set(node) - children - plain - _PLAIN
        if unknown:
            _refuse(ErrorCode.REFUSED_SYNTAX, f"this form of {kind.lower().replace('_', ' ')} is not admitted")
        if node.get("sample") is not None:
            _refuse(ErrorCode.REFUSED_SYNTAX, "sampling (TABLESAMPLE, USING SAMPLE) is not admitted: results must not depend on chance")
        if "cte_map" in node:
            scope = self._ctes(node["cte_map"], scope)
        check(kind, node, scope)
        self._push((node[field] for field in node if field in children), scope)

    def _push(self, values: Any, scope: _SCOPE) -> None:
        # Reversed, so that what is written first is also reported first.
        below = self._depth + 1
        self._stack.extend((value, scope, below) for value in reversed(list(values)) if value is not None)

    # -- query nodes and tables ------------------------------------------------------------------------------------------------------

    def _ctes(self, cte_map: Node, scope: _SCOPE) -> _SCOPE:
        """Check the WITH list and return the scope of the query that it stands before."""
        if set(cte_map) != {"map"}:
            _refuse(ErrorCode.REFUSED_SYNTAX, "this form of WITH is not admitted")
        for entry in cte_map["map"]:
            name, cte = fold(entry["key"]), entry["value"]
            if name.startswith(_CATALOGUE_PREFIXES):
                _refuse(
                    ErrorCode.REFUSED_TABLE, f"a WITH query may not be named like a catalogue view ({_shown(name)}); choose another name"
                )
            if set(cte) - {"aliases", "materialized", "key_targets", "payload_aggregates", "query_node"}:
                _refuse(ErrorCode.REFUSED_SYNTAX, "this form of WITH is not admitted")
            if cte["key_targets"] or cte["payload_aggregates"]:
                _refuse(ErrorCode.REFUSED_SYNTAX, "USING KEY in a recursive WITH is not admitted")
            body = cte["query_node"]
            own_scope = scope
            if body.get("type") == "RECURSIVE_CTE_NODE":
                self._recursion()
                own_scope = scope | {name}
            # A name is visible in later entries and in the query, never in its own body (unless it recurses) or in earlier ones.
            self._push([body], own_scope)
            scope = scope | {name}
        return scope

    def _recursion(self) -> None:
        self.found_recursion = True
        if not (self._waive or self._allow_recursion):
            _refuse(
                ErrorCode.REFUSED_SYNTAX,
                "WITH RECURSIVE is not admitted here, since the task's query has none; use joins, aggregates or window functions",
            )

    def _node_checks(self, kind: str, node: Node, scope: _SCOPE) -> None:
        if kind == "BASE_TABLE":
            self._table(node, scope)
        elif kind == "TABLE_FUNCTION":
            name = fold(node["function"].get("function_name", ""))
            if name not in _TABLE_FUNCTIONS:
                _refuse(ErrorCode.REFUSED_FUNCTION, f"the table function {_shown(name)} is not admitted; {self._tables_text()}")
        elif kind == "JOIN":
            if node["ref_type"] not in _JOIN_KINDS or node["ranking_expression"] is not None:
                _refuse(
                    ErrorCode.REFUSED_SYNTAX,
                    f"{str(node['ref_type']).lower()} joins are not admitted; "
                    "use an INNER, LEFT, RIGHT, FULL, SEMI, ANTI, CROSS or ASOF join",
                )
        elif kind == "RECURSIVE_CTE_NODE" and node["key_targets"]:
            _refuse(ErrorCode.REFUSED_SYNTAX, "USING KEY in a recursive WITH is not admitted")

    def _table(self, node: Node, scope: _SCOPE) -> None:
        path = [fold(part) for part in node["qualified_name"]["path"]]
        if node["at_clause"] is not None:
            _refuse(ErrorCode.REFUSED_SYNTAX, "AT (time travel) is not admitted; read the table as it is")
        named = [part for part in (node["catalog_name"], node["schema_name"], node["table_name"]) if part]
        if path != [fold(part) for part in named]:
            _refuse(ErrorCode.REFUSED_TABLE, f"this way of naming a table is not admitted; {self._tables_text()}")
        if len(path) == 1 and path[0] in scope:
            return
        if path[-1] in self._tables and path[:-1] in ([], ["main"]):
            return
        _refuse(ErrorCode.REFUSED_TABLE, f"{_shown('.'.join(path))} is not a table of this task; {self._tables_text()}")

    def _tables_text(self) -> str:
        return f"the tables are: {', '.join(sorted(self._tables))}"

    # -- expressions -----------------------------------------------------------------------------------------------------------------

    def _expression_checks(self, kind: str, node: Node, scope: _SCOPE) -> None:
        if kind in ("FUNCTION", "WINDOW"):
            self._function(node)
        elif kind == "COLUMN_REF":
            self._column(node)
        elif kind == "OPERATOR":
            if node["type"] not in _OPERATORS:
                _refuse(ErrorCode.REFUSED_SYNTAX, f"the operator {str(node['type']).lower()} is not admitted")
        elif kind == "TYPE":
            self._type(node)
        elif kind == "LAMBDA":
            if node["syntax_type"] != "LAMBDA_KEYWORD":
                _refuse(ErrorCode.REFUSED_SYNTAX, "the arrow -> is not admitted; write a lambda as: lambda x: x + 1")
        elif kind == "COLLATE" and not set(fold(node["collation"]).split(".")) <= _COLLATIONS:
            _refuse(ErrorCode.REFUSED_SYNTAX, f"this collation is not admitted; admitted are {', '.join(sorted(_COLLATIONS))}")

    def _function(self, node: Node) -> None:
        name = fold(node["function_name"])
        path = [fold(part) for part in node["qualified_name"]["path"]]
        if not path or path[-1] != name:
            _refuse(ErrorCode.REFUSED_FUNCTION, "this way of naming a function is not admitted")
        if node.get("export_state"):
            _refuse(ErrorCode.REFUSED_SYNTAX, "EXPORT_STATE is not admitted")
        reason = refusal_reason(name)
        if reason is not None:
            _refuse(ErrorCode.REFUSED_FUNCTION, f"the function {_shown(name)} is refused because {reason.value}{_suggestion(name, reason)}")
        arguments = [argument["expression"] for argument in node["arguments"]]
        plain = len(path) == 1 and not any(argument["name"] for argument in node["arguments"])
        refusal = fixed_argument_refusal(name, arguments, plain=plain)
        if refusal is not None:
            _refuse(ErrorCode.REFUSED_FUNCTION, f"this call of {name} is refused: {refusal}")
        refusal = generator_refusal(name, arguments, plain=plain)
        if refusal is None:
            return
        self.found_generators.add(name)
        if not (self._waive or name in self._generators):
            _refuse(
                ErrorCode.REFUSED_FUNCTION, f"this call of {name} is refused: {refusal}, since the task's query does not use it otherwise"
            )

    def _column(self, node: Node) -> None:
        names = [fold(part) for part in node["column_names"]]
        if len(names) > _MAX_NAME_PARTS:
            _refuse(ErrorCode.REFUSED_SYNTAX, f"a name may have at most {_MAX_NAME_PARTS} parts")
        if len(names) == 1 and names[0] in SESSION_VALUES:
            _refuse(
                ErrorCode.REFUSED_FUNCTION, f"{names[0]} is refused because {RefusalReason.VOLATILE.value}; write the value as a constant"
            )
        if names[-1] in _PHYSICAL_COLUMNS:
            _refuse(ErrorCode.REFUSED_SYNTAX, f"{names[-1]} is refused: it is a row's place in the file and no data of the task")

    def _type(self, node: Node) -> None:
        name = fold(node["type_name"])
        if name not in _TYPES or [fold(part) for part in node["qualified_name"]["path"]] != [name]:
            _refuse(
                ErrorCode.REFUSED_SYNTAX,
                f"the type {_shown(name)} is not admitted; use numbers, text, dates, times, lists, structs or maps",
            )
        children = node["children"]
        if any(child.get("class") not in ("CONSTANT", "TYPE") for child in children):
            _refuse(ErrorCode.REFUSED_SYNTAX, "the parameters of a type must be constants or types")

    # -- refusals --------------------------------------------------------------------------------------------------------------------

    def _no_parameters(self) -> NoReturn:
        _refuse(ErrorCode.REFUSED_SYNTAX, "parameters (?, $1, $name) are not admitted; write the values")

    def _refused_kind(self, kind: str) -> NoReturn:
        if kind == "PARAMETER":
            self._no_parameters()
        if kind in ("PIVOT", "SHOW_REF"):
            what = "PIVOT and UNPIVOT are" if kind == "PIVOT" else "DESCRIBE, SHOW and SUMMARIZE are"
            _refuse(ErrorCode.REFUSED_SYNTAX, f"{what} not admitted; write a SELECT with CASE or FILTER over the task's tables")
        if kind.endswith("_QUERY_NODE"):
            verb = kind.removesuffix("_QUERY_NODE")
            _refuse(ErrorCode.NOT_ONE_SELECT, f"{verb} inside WITH is not admitted; every part of the statement must be a SELECT")
        _refuse(ErrorCode.REFUSED_SYNTAX, f"{_shown(kind.lower().replace('_', ' '))} is not admitted")


def _suggestion(name: str, reason: RefusalReason) -> str:
    if reason is not RefusalReason.UNKNOWN:
        return ""
    close = difflib.get_close_matches(name, [allowed for allowed in ALLOWED_FUNCTIONS if allowed.isidentifier()], n=3)
    return f" (similar names: {', '.join(close)})" if close else ""
