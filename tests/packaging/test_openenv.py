"""What OpenEnv's tools find at the root and in the package."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from openenv.cli._cli_utils import validate_env_structure
from openenv.discovery import build_catalog
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runner import source_digest
from openenv.validation.runtime.contracts import load_runtime_plan
from openenv.validation.types import CheckStatus

import sql_optim_env
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.server.runtime import Runtime
from sql_optim_env.server.settings import Settings
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.splits import SPLITS

ROOT = Path(__file__).parents[2]
PACKAGE = Path(str(resources.files(sql_optim_env)))
MANIFEST = yaml.safe_load((ROOT / "openenv.yaml").read_text())
OPENENV = Path(sys.executable).with_name("openenv")


def test_the_manifest_is_the_same_at_the_root_and_in_the_package() -> None:
    assert (ROOT / "openenv.yaml").read_bytes() == (PACKAGE / "openenv.yaml").read_bytes()


def test_openenv_validate_passes_at_the_static_level() -> None:
    run = subprocess.run([OPENENV, "validate", ROOT, "--level", "static", "--json"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads(run.stdout)
    assert report["verdict"] == "pass"
    assert {result["check_id"]: result["status"] for result in report["results"]} == {"static.manifest": CheckStatus.PASS.value}


def test_the_tree_has_no_link_that_validation_would_refuse() -> None:
    assert len(source_digest(ROOT)) == 64


def test_openenv_push_finds_the_structure_it_wants() -> None:
    assert validate_env_structure(ROOT) == ["Recommended directory missing: outputs/"] or (ROOT / "outputs").is_dir()


def test_the_shims_at_the_root_give_the_packages_names() -> None:
    script = "import runpy, sys; names = runpy.run_path(sys.argv[1]); print(sorted(n for n in names if n.lower().startswith('sqloptim')))"
    for shim, names in (
        ("__init__.py", ["SQLOptimAction", "SQLOptimEnv", "SQLOptimObservation"]),
        ("client.py", ["SQLOptimEnv", "SqlOptimAction", "SqlOptimEnv", "SqlOptimObservation"]),
    ):
        run = subprocess.run([sys.executable, "-c", script, ROOT / shim], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == str(names)
        assert len(ast.parse((ROOT / shim).read_text()).body) == 3


def test_versions_agree_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = sql_optim_env.__version__
    assert project["version"] == own
    assert version("openenv-sql-optim-env") == own
    assert MANIFEST["version"] == own
    assert MANIFEST["validation"]["task_distribution"]["dataset_version"] == own
    assert f'org.opencontainers.image.version="{own}"' in (ROOT / "Dockerfile").read_text()
    assert f"\n## {own}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_manifest_names_an_application_that_is_there() -> None:
    module, _, attribute = MANIFEST["app"].partition(":")
    script = f"import {module} as m; a = m.{attribute}; print(type(a).__name__, a.state.runtime.readiness.status)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "FastAPI starting", run.stderr
    assert (MANIFEST["port"], MANIFEST["runtime"]) == (Settings.model_fields["port"].default, "fastapi")


def test_every_capability_that_is_declared_is_there_and_no_other(tmp_path: Path) -> None:
    from sql_optim_env.server.environment import SQLOptimEnvironment

    declared = MANIFEST["validation"]["capabilities"]
    runtime = Runtime(Settings(data_dir=tmp_path, workers=1))
    environment = SQLOptimEnvironment(runtime)
    assert declared["rubric_tree"] is (environment.rubric is not None)
    task_api = ("list_splits", "list_tasks", "num_tasks", "get_task", "get_task_range")
    assert declared["task_api"] is all(callable(getattr(environment, name)) for name in task_api)
    assert declared["declared_task_count"] == {split: len(catalogue().select(split=split)) for split in SPLITS}
    assert declared["llm_judged"] is False
    assert declared["declared_tools"] == []
    assert declared["verifier"] == {"kind": "reward_channel"}
    with pytest.raises(Exception, match="reset takes no injected_state"):
        environment.reset(injected_state={})
    assert declared["set_state"] is False
    assert (ROOT / declared["oracle"]["location"]).is_file()


def test_the_declared_classes_and_reward_range_are_true() -> None:
    from sql_optim_env import client

    assert MANIFEST["action"] == "SQLOptimAction"
    assert MANIFEST["observation"] == "SQLOptimObservation"
    assert client.SqlOptimEnv is client.SQLOptimEnv
    assert client.SqlOptimAction is client.SQLOptimAction
    assert client.SqlOptimObservation is client.SQLOptimObservation
    assert MANIFEST["validation"]["reward"]["range"] == [0.0, 1.0]


def test_auto_env_finds_the_package_by_its_name() -> None:
    from openenv.auto._discovery import _create_env_info_from_package

    found = _create_env_info_from_package("openenv-sql-optim-env", "sql_optim_env", sql_optim_env.__version__)
    assert found is not None
    assert (found.name, found.manifest) == ("sql_optim_env", MANIFEST)
    assert found.get_client_class() is sql_optim_env.SQLOptimEnv
    assert found.get_action_class() is sql_optim_env.SQLOptimAction
    assert found.get_observation_class() is sql_optim_env.SQLOptimObservation


def test_the_probe_plan_is_within_openenvs_bounds_and_made_of_valid_actions() -> None:
    manifest = OpenEnvYamlParser().parse(ROOT)
    plan = load_runtime_plan(ROOT, manifest.execution)
    task = catalogue().get(plan.reset.options["task_id"])
    assert task.split == "train"
    kinds = [SQLOptimAction.model_validate(action).kind for action in plan.actions]
    assert {"submit", "query", "explain"} == set(kinds)
    assert kinds.count("submit") <= task.max_steps
    assert (ROOT / manifest.execution.dockerfile).is_file()


def test_the_catalog_reads_our_metadata(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "envs/sql_optim_env").mkdir(parents=True)
    for name in ("LICENSE", "pyproject.toml", "envs/sql_optim_env/openenv.yaml", "envs/sql_optim_env/discovery.json"):
        shutil.copy(ROOT / name, repository / name)
    git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    snapshot = build_catalog(
        repository,
        repository_uri="https://github.com/example/sql_optim_env.git",
        publisher="example.org",
        namespace="openenv",
        revision="HEAD",
        root="envs",
    )
    assert snapshot.complete
    assert snapshot.issues == []
    (entry,) = snapshot.entries
    assert (entry.display_name, entry.data.license) == ("sql_optim_env", "BSD-3-Clause")
    assert 2 <= len(entry.representative_queries) <= 5
    assert "sql" in entry.tags


def test_the_readme_has_the_front_matter_of_a_space_and_links_that_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    _, front, body = text.split("---\n", 2)
    facts = yaml.safe_load(front)
    assert (facts["sdk"], facts["app_port"], facts["base_path"], facts["license"]) == ("docker", MANIFEST["port"], "/web", "bsd-3-clause")
    assert "openenv" in facts["tags"]
    assert len(facts["short_description"]) <= 60
    targets = [part.split(")")[0] for part in body.split("](")[1:]]
    assert targets
    assert [target for target in targets if "://" not in target and not (ROOT / target).is_file()] == []


def test_the_readme_says_which_families_there_are() -> None:
    from sql_optim_env.families.registry import builtin_families

    rows = [line.split("|") for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `")]
    available = {row[1].strip(" `") for row in rows if row[3].strip() == "available"}
    assert available == set(builtin_families().names())


def test_the_readme_names_targets_that_the_makefile_has() -> None:
    targets = {line.split(":")[0] for line in (ROOT / "Makefile").read_text().splitlines() if line[:1].isalpha() and ":" in line}
    for document in ("README.md", "CONTRIBUTING.md"):
        for part in (ROOT / document).read_text().split("make ")[1:]:
            word = part.split()[0].strip("`,.;:()")
            if word.isalpha() and part[:1] != " " and word in {"setup", "demo", "test", "serve", "lint", "types", "check", "bench"}:
                assert word in targets


def test_importing_the_package_does_not_import_openenv() -> None:
    script = (
        "import sys, sql_optim_env.sandbox.jobs; print([m for m in sys.modules if m.split('.')[0] in ('openenv', 'gradio', 'fastapi')])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
