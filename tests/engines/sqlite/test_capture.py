from __future__ import annotations

from pathlib import Path

from sql_optim_env.engines.base import Column
from sql_optim_env.engines.sqlite import Capture


def test_a_capture_survives_being_saved(tmp_path: Path) -> None:
    capture = Capture(
        ("a", "é"),
        ((None, 1), (-(2**63), 0.1), (float("inf"), "x\u0000\u2028\ufeff"), (b"\x00\xff", ""), (1, 1.0), (b"", -0.0)),
    )
    capture.save(tmp_path / "c.json")
    loaded = Capture.load(tmp_path / "c.json")
    assert loaded == capture
    assert [[type(value) for value in row] for row in loaded.rows] == [[type(value) for value in row] for row in capture.rows]
    assert str(loaded.rows[5][1]) == "-0.0"


def test_columns_name_the_classes_that_occur() -> None:
    assert Capture(("a", "b"), ((1, None), ("x", None), (None, None))).columns == (Column("a", "INTEGER/TEXT"), Column("b", "NULL"))
    assert Capture(("a",), ()).columns == (Column("a", "NULL"),)
