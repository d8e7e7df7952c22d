"""The Dockerfile, read as text: nothing here needs a container engine."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from openenv.cli.commands.push import DEFAULT_PUSH_IGNORE_PATTERNS, _rewrite_dockerfile_for_space, _should_exclude_path

from sql_optim_env.server.settings import Settings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()


def instructions() -> list[tuple[str, str]]:
    """(instruction, the rest of it) with continuation lines joined and comments left out."""
    joined = re.sub(r"\\\n\s*", " ", "\n".join(line for line in TEXT.splitlines() if not line.lstrip().startswith("#")))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines() if line.strip()]


STEPS = instructions()


def of(kind: str) -> list[str]:
    return [rest for name, rest in STEPS if name == kind]


def env() -> dict[str, str]:
    return dict(word.split("=", 1) for rest in of("ENV") for word in shlex.split(rest))


def copies() -> list[list[str]]:
    """Sources of every COPY from the build context."""
    return [shlex.split(rest)[:-1] for rest in of("COPY") if not rest.startswith("--from")]


def makefile_steps() -> str:
    """The Makefile's recipes with its variables put in."""
    text = (ROOT / "Makefile").read_text()
    variables = dict(re.findall(r"^(?:export )?(\w+)\s*[:?]?=\s*(\S+)", text, re.M))
    for _ in range(3):
        text = re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)
    return text


def test_every_copied_source_exists_and_is_no_dotfile() -> None:
    assert copies()
    for sources in copies():
        for source in sources:
            assert (ROOT / source).exists(), source
            # openenv push drops dotfiles and a few others before it uploads.
            assert not _should_exclude_path(Path(source), DEFAULT_PUSH_IGNORE_PATTERNS), source


def test_the_context_holds_every_copied_source() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    kept = [line[1:] for line in lines if line.startswith("!")]
    for sources in copies():
        for source in sources:
            assert any(source == name or source.startswith(f"{name}/") for name in kept), source
    dropped = [line for line in lines[1:] if not line.startswith("!")]
    assert any(fnmatch("a/__pycache__", pattern) for pattern in dropped)


def test_its_run_steps_are_those_of_make_setup_then_the_datasets() -> None:
    make = makefile_steps()
    runs = of("RUN")
    version = re.search(r"UV_VERSION := (\S+)", make)
    assert version is not None
    assert dict(rest.split("=") for rest in of("ARG"))["UV_VERSION"] == version[1]
    assert [re.sub(r"/opt/uv/bin/|/app/", "", run) for run in runs] == [
        "python3 -m venv /opt/uv",
        'pip install --quiet "uv==${UV_VERSION}"',
        "python3 -m venv .venv",
        "uv sync --frozen --quiet --no-dev --no-install-project",
        "uv sync --frozen --quiet --no-dev --no-editable",
        ".venv/bin/sql-optim build --data-dir /data",
    ]
    for step in ("python3 -m venv .venv", f'bin/pip install --quiet "uv=={version[1]}"', "uv sync --frozen"):
        assert step in make, step


def test_the_base_is_pinned_and_can_be_replaced() -> None:
    base = next(rest for rest in of("ARG") if rest.startswith("BASE_IMAGE="))
    assert re.fullmatch(r"BASE_IMAGE=python:3\.\d+\.\d+-slim-\w+", base)
    assert [rest.split()[0] for rest in of("FROM")] == ["${BASE_IMAGE}", "${BASE_IMAGE}"]


def test_it_runs_as_nobody_and_writes_to_tmp_only() -> None:
    assert of("USER") == ["65532:65532"]
    assert env()["HOME"] == "/tmp"
    assert env()["SQL_OPTIM_SCRATCH_DIR"].startswith("/tmp/")
    assert env()["PYTHONDONTWRITEBYTECODE"] == "1"
    assert of("VOLUME") == []


def test_the_datasets_are_built_where_the_server_looks_for_them() -> None:
    assert of("RUN")[-1].endswith(f"--data-dir {env()['SQL_OPTIM_DATA_DIR']}")
    assert "--from=build /data /data" in of("COPY")


def test_its_settings_are_settings_and_its_port_is_the_one_that_is_declared() -> None:
    for name in env():
        if name.startswith("SQL_OPTIM_"):
            assert name.removeprefix("SQL_OPTIM_").lower() in Settings.model_fields
    port = str(yaml.safe_load((ROOT / "openenv.yaml").read_text())["port"])
    assert of("EXPOSE") == [port]
    assert env()["SQL_OPTIM_PORT"] == port
    assert env()["SQL_OPTIM_HOST"] == "0.0.0.0"
    assert f":{port}/health" in of("HEALTHCHECK")[0]
    assert json.loads(of("CMD")[-1]) == ["server"]


def test_openenv_push_leaves_it_as_it_is() -> None:
    assert env()["ENABLE_WEB_INTERFACE"] == "true"
    assert _rewrite_dockerfile_for_space(TEXT, base_image=None, enable_interface=True) == (TEXT, [])


@pytest.mark.parametrize("name", ["ci.yml"])
def test_ci_runs_the_same_script_and_then_the_image(name: str) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert ".ci/run" in runs
    assert any("docker build" in run for run in runs)
    assert any("openenv validate --level semantic" in run for run in runs)
    assert workflow["permissions"] == {"contents": "read"}


def test_the_commit_hooks_are_what_make_lint_and_types_run() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    make = makefile_steps()
    for hook in hooks:
        program = hook["entry"].split()[0]
        assert program in make, program
