"""The packaged weights file: what it holds, how it is read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from sql_optim_env.engines.duckdb.cost.kinds import Kind
from sql_optim_env.engines.duckdb.cost.prices import Prices

__all__ = ["SCHEMA", "SETTINGS", "Weights", "load_weights", "packaged_weights"]

SCHEMA: Final = "duckdb-cost-weights/1"
SETTINGS: Final[dict[str, str]] = {"disabled_optimizers": "join_filter_pushdown"}
"""Settings the weights were fitted with. Without this one, pushed-down join filters make row counts differ between connections."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One fitted version. All prices are nanoseconds on the machine of the fit; only ratios of costs have a meaning."""

    version: str
    engine_version: str
    constant_ns: float
    weights: Mapping[str, float]
    prices: Prices
    fit: Mapping[str, Any]

    def to_document(self) -> dict[str, Any]:
        """The JSON document, with keys in sorted order."""
        return {
            "schema": SCHEMA,
            "version": self.version,
            "engine": {"name": "duckdb", "version": self.engine_version, "threads": 1, "settings": dict(SETTINGS)},
            "unit": "ns",
            "constant_ns": self.constant_ns,
            "weights": {key: self.weights[key] for key in sorted(self.weights)},
            "functions": {key: list(self.prices.functions[key]) for key in sorted(self.prices.functions)},
            "returns": {key: list(self.prices.returns[key]) for key in sorted(self.prices.returns)},
            "no_dictionary": sorted(self.prices.no_dictionary),
            "aggregates": {
                key: {mode: list(modes[mode]) for mode in sorted(modes)} for key, modes in sorted(self.prices.aggregates.items())
            },
            "fit": dict(self.fit),
        }

    def write(self, path: Path) -> None:
        """Write the document, one table entry a line, so that two versions can be compared with diff."""
        path.write_text(render(self.to_document()), encoding="utf-8")


def render(document: Mapping[str, Any]) -> str:
    """JSON with the tables one entry a line and everything below that on the same line."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict) and len(value) > 4:
            inner = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _pair(values: list[float]) -> tuple[float, float]:
    return (float(values[0]), float(values[1]))


def load_weights(text: str) -> Weights:
    """Read a document. Raises ``ValueError`` for another schema and ``KeyError`` for a missing part."""
    document: dict[str, Any] = json.loads(text)
    if document.get("schema") != SCHEMA:
        raise ValueError(f"weights file has schema {document.get('schema')!r}, expected {SCHEMA!r}")
    returns: dict[str, tuple[Kind, float, float]] = {
        key: (kind, float(base), float(factor)) for key, (kind, base, factor) in document["returns"].items()
    }
    prices = Prices.of(
        {key: _pair(value) for key, value in document["functions"].items()},
        returns,
        frozenset(document["no_dictionary"]),
        {key: {mode: _pair(value) for mode, value in modes.items()} for key, modes in document["aggregates"].items()},
    )
    return Weights(
        version=str(document["version"]),
        engine_version=str(document["engine"]["version"]),
        constant_ns=float(document["constant_ns"]),
        weights={key: float(value) for key, value in document["weights"].items()},
        prices=prices,
        fit=document.get("fit", {}),
    )


def packaged_weights() -> Weights:
    """The weights that ship with the package."""
    resource = files("sql_optim_env.engines.duckdb.cost").joinpath("weights.json")
    return load_weights(resource.read_text(encoding="utf-8"))
