from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sql_optim_env.engines.base import Column
from sql_optim_env.engines.duckdb import Capture


def two_rows() -> Capture:
    return Capture.of((Column("a", "INTEGER"), Column("A", "VARCHAR")), pa.table({"x": pa.array([1, None], pa.int32()), "y": ["p", "q"]}))


def test_columns_are_renamed_by_position_so_that_duplicate_names_survive() -> None:
    capture = two_rows()
    assert capture.table.column_names == ["c0", "c1"]
    assert [column.name for column in capture.columns] == ["a", "A"]
    assert capture.row_count == 2


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    capture = two_rows()
    capture.save(tmp_path / "rows.arrow")
    loaded = Capture.load(tmp_path / "rows.arrow")
    assert (loaded.columns, loaded.distinct) == (capture.columns, None)
    assert loaded.table.equals(capture.table, check_metadata=True)


def test_whether_rows_repeat_is_counted_once_and_kept(tmp_path: Path) -> None:
    two_rows().save(tmp_path / "rows.arrow", distinct=lambda capture: capture.row_count == 2)
    assert Capture.load(tmp_path / "rows.arrow").distinct is True


def test_the_same_rows_make_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        two_rows().save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_an_empty_capture_survives_saving(tmp_path: Path) -> None:
    Capture.of((Column("a", "INTEGER[]"),), pa.table({"x": pa.array([], pa.list_(pa.int32()))})).save(tmp_path / "empty.arrow")
    loaded = Capture.load(tmp_path / "empty.arrow")
    assert (loaded.row_count, loaded.columns, loaded.table.schema.field(0).type) == (0, (Column("a", "INTEGER[]"),), pa.list_(pa.int32()))


def test_a_file_that_is_no_capture_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "other.arrow"
    table = pa.table({"a": [1]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=r"other\.arrow"):
        Capture.load(path)


def test_a_capture_needs_as_many_columns_as_are_described() -> None:
    with pytest.raises(ValueError, match="2 columns described, 1 captured"):
        Capture.of((Column("a", "INTEGER"), Column("b", "INTEGER")), pa.table({"a": [1]}))
