"""Prices of scalar functions and aggregates, in nanoseconds, as measured by the micro-benchmarks and stored in the weights file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sql_optim_env.engines.duckdb.cost.kinds import Kind, Value

__all__ = ["UNKNOWN_AGGREGATE", "UNKNOWN_FUNCTION", "AggregatePrice", "Prices", "price_key"]

UNKNOWN_FUNCTION: Final = (250.0, 25.0)
"""ns a row and ns a byte or element for a function without a measured price: above nine tenths of the measured ones, so that an unmeasured
function never makes a query look cheap."""
UNKNOWN_AGGREGATE: Final = (80.0, 2.0)
"""ns a row and ns a byte for an aggregate without a measured price."""

_FREE = frozenset({"tuple", "struct_pack_literal"})


def price_key(name: str, kind: Kind) -> str:
    """The key of the weights file: ``md5|string``."""
    return f"{name}|{kind}"


@dataclass(frozen=True, slots=True)
class AggregatePrice:
    """ns a row without groups, ns a row with groups, and ns a group; each already includes the length of the argument."""

    ungrouped: float
    grouped: float
    per_group: float
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Prices:
    """Lookup tables. Every lookup answers: first function and kind, then the dearest other kind of that function, then a conservative
    guess."""

    functions: Mapping[str, tuple[float, float]]
    """``name|kind`` → ns a row, ns a byte or list element."""
    returns: Mapping[str, tuple[Kind, float, float]]
    """``name|kind`` → kind of the result, its fixed length, its length as a multiple of the argument's."""
    no_dictionary: frozenset[str]
    """Functions the engine evaluates for every row even where the argument is a dictionary."""
    aggregates: Mapping[str, Mapping[str, tuple[float, float]]]
    """``name|kind`` → ``ungrouped``, ``few_groups``, ``many_groups`` → ns a row, ns a byte. ``many_groups`` is measured with about one
    row a group."""
    dearest: Mapping[str, tuple[float, float]]
    """Function name → componentwise maximum over its measured kinds."""
    dearest_aggregates: Mapping[str, Mapping[str, tuple[float, float]]]

    @classmethod
    def of(
        cls,
        functions: Mapping[str, tuple[float, float]],
        returns: Mapping[str, tuple[Kind, float, float]],
        no_dictionary: frozenset[str],
        aggregates: Mapping[str, Mapping[str, tuple[float, float]]],
    ) -> Prices:
        """Build the tables that are derived from the measured ones."""
        dearest: dict[str, tuple[float, float]] = {}
        for key, (row, unit) in functions.items():
            name = key.rpartition("|")[0]
            old = dearest.get(name, (0.0, 0.0))
            dearest[name] = (max(old[0], row), max(old[1], unit))
        dearest_aggregates: dict[str, dict[str, tuple[float, float]]] = {}
        for key, modes in aggregates.items():
            name = key.rpartition("|")[0]
            for known in {name, name.partition("(")[0]}:
                table = dearest_aggregates.setdefault(known, {})
                for mode, (row, unit) in modes.items():
                    old = table.get(mode, (0.0, 0.0))
                    table[mode] = (max(old[0], row), max(old[1], unit))
        return cls(functions, returns, no_dictionary, aggregates, dearest, dearest_aggregates)

    def function(self, name: str, kind: Kind, length: float) -> float:
        """ns for one evaluation of a function on an argument of this kind and length."""
        price = self.functions.get(price_key(name, kind)) or self.dearest.get(name)
        if price is None:
            if name in _FREE:
                return 0.0
            if name.startswith("__internal"):
                price = (1.0, 0.0)
            else:
                price = UNKNOWN_FUNCTION
        return price[0] + price[1] * length

    def knows(self, name: str) -> bool:
        """Whether the function has a measured price for some kind of argument."""
        return name in self.dearest or name in _FREE or name.startswith("__internal")

    def result(self, name: str, argument: Value, kind: Kind | None, fresh: float) -> Value:
        """The value a function returns; ``kind`` is its type class when the plan tells it."""
        known = self.returns.get(price_key(name, argument.kind))
        if known is not None and (kind is None or kind == known[0]):
            return Value(known[0], known[1] + known[2] * argument.length, fresh)
        result_kind: Kind = kind or argument.kind
        if result_kind in ("string", "list"):
            return Value(result_kind, argument.length or 8.0, fresh)
        return Value(result_kind, 0.0, fresh)

    def aggregate(self, name: str, argument: Value) -> AggregatePrice:
        """ns of one aggregate on an argument of this kind and length. ``name`` carries the suffix ``!distinct`` or ``!ordered``."""
        modes = (
            self.aggregates.get(price_key(name, argument.kind))
            or self.dearest_aggregates.get(name)
            or self.dearest_aggregates.get(name.partition("(")[0])
        )
        if modes is None:
            row = UNKNOWN_AGGREGATE[0] + UNKNOWN_AGGREGATE[1] * argument.length
            return AggregatePrice(row, row, 2 * row, measured=False)
        length = argument.length if argument.kind == "string" else 0.0
        # No benchmark aggregates lists, which are compared and copied element by element.
        extra = UNKNOWN_AGGREGATE[1] * argument.length if argument.kind == "list" else 0.0
        cost = {mode: row + unit * length + extra for mode, (row, unit) in modes.items()}
        grouped = cost.get("few_groups", max(cost.values()))
        many = cost.get("many_groups", grouped)
        return AggregatePrice(cost.get("ungrouped", grouped), grouped, max(many - grouped, 0.0))
