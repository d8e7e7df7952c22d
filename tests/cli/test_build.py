from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sql_optim_env.cli import app
from sql_optim_env.datasets import DatasetStore, get_dataset


class Built:
    """A runtime that has nothing to do."""

    def __init__(self, settings: Any) -> None:
        self.start = self.close = lambda: None

    def wait_ready(self, within_s: float) -> None:
        """It is ready."""


@pytest.mark.parametrize("arguments", [(), ("--prune",)])
def test_other_versions_go_when_it_is_asked_for(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sql_optim_env.server.runtime.Runtime", Built)
    store = DatasetStore(tmp_path)
    current = store.ensure(next(instance for instance in get_dataset("shop").instances if instance.name == "single"))
    left = tmp_path / "shop" / ("0" * 24) / "single.duckdb"
    left.parent.mkdir()
    left.write_bytes(b"x" * 2_000_000)
    result = CliRunner().invoke(app, ["build", "--data-dir", str(tmp_path), *arguments])
    assert result.exit_code == 0, result.output
    assert f"built in {tmp_path}" in result.output.replace("\n", "")
    assert (current.exists(), left.exists()) == (True, not arguments)
    assert ("removed 2.0 MB of other versions" in result.output) == bool(arguments)
