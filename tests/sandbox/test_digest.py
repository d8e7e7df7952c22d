from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from sql_optim_env.sandbox import digest
from sql_optim_env.sandbox.digest import engine_digest


@pytest.fixture
def engine_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    copy = tmp_path / "duckdb"
    shutil.copytree(next(iter(digest.engine.__path__)), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digest, "engine", SimpleNamespace(__path__=[str(copy)]))
    engine_digest.cache_clear()
    yield copy
    engine_digest.cache_clear()


def test_the_digest_depends_on_content_and_not_on_the_place(engine_copy: Path) -> None:
    copied = engine_digest()
    engine_digest.cache_clear()
    (engine_copy / "__pycache__").mkdir()
    (engine_copy / "__pycache__" / "database.cpython-311.pyc").write_bytes(b"compiled")
    assert engine_digest() == copied


@pytest.mark.parametrize("name", ["settings.py", "cost/weights.json", "cost/new_module.py"])
def test_a_change_of_code_or_weights_changes_the_digest(engine_copy: Path, name: str) -> None:
    before = engine_digest()
    engine_digest.cache_clear()
    with (engine_copy / name).open("a") as file:
        file.write("\n")
    assert engine_digest() != before


def test_another_engine_version_changes_the_digest(engine_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = engine_digest()
    engine_digest.cache_clear()
    monkeypatch.setattr(duckdb, "__version__", "99.0")
    assert engine_digest() != before
