from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from sql_optim_env.engines.duckdb.cost.weights import SCHEMA, SETTINGS, load_weights, packaged_weights, render


def test_the_packaged_weights_are_for_the_installed_engine_and_its_deterministic_setting() -> None:
    document = packaged_weights().to_document()
    assert document["schema"] == SCHEMA
    assert document["engine"] == {"name": "duckdb", "version": duckdb.__version__, "threads": 1, "settings": SETTINGS}
    assert document["unit"] == "ns"


def test_no_weight_is_negative_and_expressions_are_never_free() -> None:
    weights = packaged_weights().weights
    assert all(weight >= 0 for weight in weights.values())
    priced = [name for name in weights if name.endswith(("expressions", ".aggregates", ".states"))]
    assert len(priced) >= 10
    assert all(weights[name] >= 0.5 for name in priced)


def test_weights_survive_being_written_and_read(tmp_path: Path) -> None:
    weights = packaged_weights()
    weights.write(tmp_path / "weights.json")
    assert load_weights((tmp_path / "weights.json").read_text()) == weights


def test_another_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="schema"):
        load_weights(json.dumps({"schema": "duckdb-cost-weights/2"}))


def test_tables_are_written_one_entry_a_line() -> None:
    text = render({"a": {str(n): [n, 0.5] for n in range(6)}, "b": 1})
    assert json.loads(text)["a"]["3"] == [3, 0.5]
    assert '\n  "3": [3, 0.5],\n' in text
