from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sql_optim_env.agents.canary import Canary
from sql_optim_env.cli import app
from sql_optim_env.cli.check_audit import check_audit_task
from sql_optim_env.cli.check_gap import Gap, gaps
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalServer({"SQL_OPTIM_WORKERS": "1", "SQL_OPTIM_LOG_LEVEL": "warning"}) as server:
        yield server.url


def test_an_episode_is_recorded_and_comes_back_the_same(url: str, tmp_path: Path) -> None:
    file = tmp_path / "episode.json"
    recorded = CliRunner().invoke(app, ["record", "type_repair", str(file), "--seed", "5", "--url", url])
    assert recorded.exit_code == 0, recorded.output
    replayed = CliRunner().invoke(app, ["replay", str(file), "--url", url])
    assert (replayed.exit_code, replayed.output) == (0, "5 steps came back the same\n")


def test_what_comes_back_different_is_named(url: str, tmp_path: Path) -> None:
    file = tmp_path / "episode.json"
    CliRunner().invoke(app, ["record", "null_audit", str(file), "--player", "null", "--url", url])
    recording = json.loads(file.read_text(encoding="utf-8"))
    recording["answers"][1]["reward"] = 0.75
    file.write_text(json.dumps(recording), encoding="utf-8")
    replayed = CliRunner().invoke(app, ["replay", str(file), "--url", url])
    assert replayed.exit_code == 1
    assert "step 1: reward was 0.75 and is 0.001" in replayed.output


@pytest.mark.parametrize("arguments", [["record", "no_task", "x.json"], ["record", "null_audit", "x.json", "--player", "no_player"]])
def test_a_name_that_does_not_exist_is_refused(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, arguments).exit_code == 2
    assert not (tmp_path / "x.json").exists()


def test_the_gap_of_a_task_is_what_the_oracle_earns_beyond_the_best_canary(url: str) -> None:
    task = catalogue().get("null_audit")
    fair = {"kind": "x", "family": "audit", "task_id": task.id}
    bought = Canary(name="nothing", most=0.05, actions=({},), **fair)
    honest_part = Canary(name="an honest part", most=0.5, actions=({},), **fair)
    elsewhere = Canary("x", "elsewhere", "audit", "type_repair", 0.05, ({},))
    with SQLOptimEnv(base_url=url).sync() as client:
        (found,) = gaps(client, [task], [bought, honest_part, elsewhere], lambda name: None)
    assert found == Gap(task.id, "audit", 0.999, 0.001, "null", 0.001, "x: nothing", 2)
    assert found.ok
    assert found.gap == 0.998


def test_an_audit_task_is_what_it_claims_to_be_under_several_seeds(url: str) -> None:
    with SQLOptimEnv(base_url=url).sync() as client:
        check = check_audit_task(client, catalogue().get("fk_integrity"), catalogue().get, seeds=(None, 4, 9))
    assert check.ok, [claim for claim in check.claims if not claim.holds]
    assert (check.oracle, check.floor, check.looks_only) == (0.999, 0.001, 0.001)
