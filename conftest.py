"""The root is an importable folder because OpenEnv wants it so; for pytest it is a plain directory, whose import would cost seconds."""

from pathlib import Path

import pytest


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir:
    """Collect the root as a plain directory."""
    return pytest.Dir.from_parent(parent, path=path)
