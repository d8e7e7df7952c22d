"""What operator modules share: the relation that flows between operators, and the workbench on which one operator's features are
collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sql_optim_env.engines.duckdb.cost.bound import bound_expression
from sql_optim_env.engines.duckdb.cost.card import Card
from sql_optim_env.engines.duckdb.cost.evaluation import Evaluator
from sql_optim_env.engines.duckdb.cost.expressions import Expr, leaves, parse_expression
from sql_optim_env.engines.duckdb.cost.kinds import FIXED_WIDTH, Column, Value, row_width
from sql_optim_env.engines.duckdb.cost.plan import Json, LogicalOperator, texts
from sql_optim_env.engines.duckdb.cost.prices import UNKNOWN_FUNCTION, Prices

__all__ = ["Relation", "Workbench", "observed_lists", "operator_rows"]


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows that flowed out of an operator, and what is known about their columns."""

    columns: tuple[Column, ...] = ()
    rows: float = 0.0

    @property
    def width(self) -> float:
        """Average bytes of a row."""
        return row_width(self.columns)

    def flat(self) -> tuple[Column, ...]:
        """The columns after the rows were copied: dictionaries are gone."""
        return tuple(Column(column.name, column.value.flat()) for column in self.columns)


@dataclass(slots=True)
class Workbench:
    """Everything one operator needs to describe itself. ``features`` are sums over rows, bytes or nanoseconds; see docs/cost-model.md."""

    node: Json
    inputs: Sequence[Relation]
    logical: LogicalOperator | None
    parent_logical: LogicalOperator | None
    """The pair of an aggregate above, when this operator may be the projection that computes its arguments."""
    prices: Prices
    card: Card
    take_window: Callable[[str], Json | None]
    features: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def name(self) -> str:
        """The physical operator's name."""
        return str(self.node.get("name", ""))

    @property
    def rows_in(self) -> float:
        """Rows of all inputs together."""
        return sum(relation.rows for relation in self.inputs)

    @property
    def rows_out(self) -> float:
        """Rows this operator handed on."""
        return operator_rows(self.node)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of all inputs side by side."""
        return tuple(column for relation in self.inputs for column in relation.columns)

    def info(self, key: str) -> list[str]:
        """One field of ``extra_info`` as a list."""
        return texts((self.node.get("extra_info") or {}).get(key))

    def text(self, key: str) -> str:
        """One field of ``extra_info`` as text, empty when absent."""
        found = self.info(key)
        return found[0] if found else ""

    def input(self, position: int) -> Relation:
        """An input, empty when the plan has fewer."""
        return self.inputs[position] if position < len(self.inputs) else Relation()

    def evaluator(self, columns: tuple[Column, ...] | None = None) -> Evaluator:
        """A fresh collector of charges over these columns (default: all inputs)."""
        return Evaluator(self.columns if columns is None else columns, self.prices)

    def charge(self, feature: str, evaluator: Evaluator, rows: float) -> None:
        """Pay for everything the evaluator collected, once for each of ``rows``."""
        self.features[feature] += evaluator.nanoseconds() * rows

    def charge_printed(self, feature: str, printed: str, columns: tuple[Column, ...], rows: float) -> Value:
        """Pay for an expression known only by its printed text. A name that the input lacks hides something, so it is priced as unknown."""
        evaluator = self.evaluator(columns)
        expr = parse_expression(printed)
        value = evaluator.value(expr)
        self.charge(feature, evaluator, rows)
        self.features[feature] += self.hidden(expr, columns) * rows
        return value

    def hidden(self, expr: Expr, columns: tuple[Column, ...]) -> float:
        """ns a row for the names in a printed expression that no input column has: most likely aliases of expressions."""
        names = {column.name for column in columns}
        missing = {leaf.name for leaf in leaves(expr) if leaf.op == "column" and leaf.name not in names}
        return UNKNOWN_FUNCTION[0] * len(missing) if "" not in names else 0.0

    def bound(self, node: Mapping[str, object]) -> Expr:
        """The tree of a bound expression."""
        return bound_expression(node)


def operator_rows(node: Json) -> float:
    """``intermediate_rows`` of a profile node."""
    return float(node.get("intermediate_rows") or 0)


def observed_lists(node: Json, columns: tuple[Column, ...], inputs: tuple[Column, ...]) -> tuple[Column, ...]:
    """Replace guessed list lengths by what the operator's measured output bytes say (8 to 10 bytes an element beyond the fixed parts).
    Lists that are handed on as they came from ``inputs`` keep their length."""
    rows = operator_rows(node)
    known = {id(column.value) for column in inputs}
    made = [column.value.kind == "list" and id(column.value) not in known for column in columns]
    if not any(made) or not rows:
        return columns
    size = float(node.get("intermediate_size_bytes") or 0)
    fixed = sum(FIXED_WIDTH[column.value.kind] for column in columns)
    length = max(max(size / rows - fixed, 0.0) / sum(made) / BYTES_PER_ELEMENT, 1.0)
    return tuple(Column(c.name, Value("list", length) if new else c.value) for c, new in zip(columns, made, strict=True))


BYTES_PER_ELEMENT = 8.0
"""Average bytes of a list element in an operator's output."""
