"""A real server for each module of checks, typed sessions with it, and the manifest it is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from openenv.validation.manifest import NormalizedManifestV2
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser

from contract.openenv_checks.host import DEADLINE_S, ROOT, WORD
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv


@pytest.fixture(scope="session")
def manifest() -> NormalizedManifestV2:
    parsed = OpenEnvYamlParser().parse(ROOT)
    assert isinstance(parsed, NormalizedManifestV2)
    return parsed


@pytest.fixture(scope="module")
def scratch_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def server_settings(scratch_root: Path) -> dict[str, str]:
    return {
        "SQL_OPTIM_WORKERS": "2",
        "SQL_OPTIM_DEADLINE_S": str(DEADLINE_S),
        "SQL_OPTIM_SCRATCH_DIR": str(scratch_root),
        "SQL_OPTIM_LOG_LEVEL": "warning",
        "PLANTED_WORD": WORD,
    }


@pytest.fixture(scope="module")
def server(server_settings: dict[str, str]) -> Iterator[LocalServer]:
    with LocalServer(server_settings) as server:
        yield server


@pytest.fixture
def connect(server: LocalServer) -> Iterator[Callable[[], Any]]:
    """Opens a further session; all are closed in the end."""
    with ExitStack() as sessions:
        yield lambda: sessions.enter_context(SQLOptimEnv(base_url=server.url).sync())


@pytest.fixture
def client(connect: Callable[[], Any]) -> Any:
    return connect()
