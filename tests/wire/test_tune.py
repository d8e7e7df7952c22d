"""Tune episodes on a real server: scratch copies of several sessions, a killed worker, and what is left afterwards."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("tune_seed_bank")
REFERENCE = {"optimized_query": TASK.tune.reference_sql, "ddl": list(TASK.tune.reference_ddl)}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


@pytest.fixture(scope="module")
def scratch_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


@pytest.fixture(scope="module")
def tune_server(start_server, scratch_root: Path):
    return start_server(scratch_dir=scratch_root)


def copies(root: Path) -> list[Path]:
    return sorted(root.glob("*/copy-*/*.sqlite"))


def wait_for_copies(root: Path, count: int) -> None:
    end = time.monotonic() + 20
    while len(copies(root)) != count:
        assert time.monotonic() < end, f"there are not {count} copies"
        time.sleep(0.05)


def look(session, sql: str, kind: str = "query") -> dict[str, Any]:
    return session.step(kind=kind, sql=sql)["data"]["observation"]


def test_an_episode_of_experiments_and_one_submission(tune_server, scratch_root: Path) -> None:
    with tune_server.session() as session:
        opening = session.reset(task_id=TASK.id)["data"]["observation"]
        assert (opening["family"], opening["dialect"], opening["sql_query"]) == ("tune", "sqlite", TASK.sql)
        assert "CREATE TABLE accession" in opening["schema_info"]
        assert "-- 11,000 rows" in opening["schema_info"]
        original = look(session, TASK.sql)
        assert (original["row_count"], original["error"]) == (48, None)
        for item in TASK.tune.reference_ddl:
            assert "Your copy was changed." in look(session, item)["feedback"]
        assert "COVERING INDEX accession_taxon" in look(session, TASK.tune.reference_sql, "explain")["plan"]
        tuned = look(session, TASK.tune.reference_sql)
        assert tuned["rows"] == original["rows"]
        assert tuned["logical_reads"] * 4 < original["logical_reads"]
        assert len(copies(scratch_root)) == 1
        answer = session.step(**REFERENCE)["data"]
        assert (answer["reward"], answer["done"]) == (1.0, True)
        seen = answer["observation"]
        assert (seen["logical_reads"], seen["score"], seen["reward_breakdown"]) == (tuned["logical_reads"], 1.0, {"logical_reads": 1.0})
        assert copies(scratch_root) == []
        assert session.step(**REFERENCE)["data"]["message"].startswith("the episode is over")


def test_each_session_has_a_copy_of_its_own_and_all_are_gone_afterwards(tune_server, scratch_root: Path) -> None:
    with tune_server.session() as one, tune_server.session() as two:
        for session in (one, two):
            session.reset(task_id=TASK.id)
        look(one, "DROP TABLE accession")
        assert look(one, TASK.sql)["error"]["code"] == "binding_error"
        assert look(two, "DELETE FROM accession WHERE id > 0")["error"] is None
        assert look(two, "SELECT COUNT(*) FROM accession")["rows"] == [[0]]
        assert len(copies(scratch_root)) == 2
        assert one.step(**REFERENCE)["data"]["reward"] == 1.0
        two.reset(task_id=TASK.id)
        assert copies(scratch_root) == []
        assert look(two, "SELECT COUNT(*) FROM accession")["rows"] == [[11_000]]
        look(two, "CREATE TABLE notes (n)")
        assert len(copies(scratch_root)) == 1
    wait_for_copies(scratch_root, 0)


def test_a_worker_killed_in_the_middle_of_a_change_leaves_the_copy_and_the_budget(tune_server) -> None:
    with tune_server.session() as session:
        session.reset(task_id=TASK.id)
        left = look(session, "CREATE TABLE notes AS SELECT 7 AS n")["explorations_left"]
        busy = f"UPDATE notes SET n = (SELECT count(*) FROM ({ENDLESS} LIMIT 100000000))"
        session.connection.send(json.dumps({"type": "step", "data": {"kind": "query", "sql": busy}}))
        tune_server.busy_worker().kill()
        answer = json.loads(session.connection.recv(30))
        assert answer["type"] == "error"
        assert answer["data"]["message"].startswith("infra_error: ")
        seen = look(session, "SELECT n FROM notes")
        assert (seen["rows"], seen["explorations_left"]) == ([[7]], left - 1)


def test_a_refused_or_an_empty_submission_ends_the_episode_with_nothing(tune_server) -> None:
    with tune_server.session() as session:
        for action, code in (
            ({"ddl": ["CREATE INDEX i ON accession(taxon, seeds)"]}, "refused_syntax"),
            ({"optimized_query": "DELETE FROM accession"}, "not_one_select"),
            ({}, None),
        ):
            session.reset(task_id=TASK.id)
            answer = session.step(**action)["data"]
            assert (answer["reward"], answer["done"], answer["observation"]["score"]) == (0.0, True, 0.0)
            error = answer["observation"]["error"]
            assert (error["code"] if error is not None else None) == code


def test_nothing_of_the_graders_data_is_on_the_wire(tune_server) -> None:
    secrets = [TASK.tune.reference_ddl[1], "edge_", "twin_1", *(variant.why for variant in (*TASK.tune.variants, *TASK.tune.wrong))]
    with tune_server.session() as session:
        said = [session.reset(task_id=TASK.id), session.say({"type": "state"})]
        said += [
            session.step(kind="query", sql="SELECT 1"),
            session.step(optimized_query=TASK.tune.wrong[0].sql),
            session.say({"type": "state"}),
        ]
    text = json.dumps([message for message in said])
    assert [secret for secret in secrets if secret in text] == []


def test_tune_tasks_are_drawn_by_their_family(tune_server) -> None:
    with tune_server.session() as session:
        drawn = {session.reset(family="tune", seed=seed)["data"]["observation"]["family"] for seed in range(5)}
        assert drawn == {"tune"}


def test_a_server_that_stops_leaves_no_copy(start_server, tmp_path: Path) -> None:
    server = start_server(scratch_dir=tmp_path)
    with server.session() as session:
        session.reset(task_id=TASK.id)
        look(session, "CREATE TABLE notes (n)")
        assert len(copies(tmp_path)) == 1
        assert server.stop() == 0
    assert list(tmp_path.glob("*")) == []
