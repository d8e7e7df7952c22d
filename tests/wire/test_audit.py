"""Audit episodes on a real server: whole ones, several at once on different seeds, and hostile fixes of which nothing is left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.scenario import Scenario
from sql_optim_env.tasks.catalogue import catalogue

TASK = catalogue().get("dedup_bug")
SCENARIO = scenario_of(TASK, None)
TABLE = SCENARIO.defect.table
HAND_MADE = [task for task in catalogue().hand_made() if task.family == "audit"]
PROMPTLY_S = 20.0
"""A statement's deadline is 10 s, and the machine that runs the tests may be busy."""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def look(session: Any, sql: str) -> dict[str, Any]:
    return dict(session.step(kind="query", sql=sql)["data"]["observation"])


def answers(scenario: Scenario) -> dict[str, str]:
    return dict(scenario.expected.asked())


def played(session: Any, task_id: str, seed: int | None) -> list[dict[str, Any]]:
    """The oracle's episode, message by message."""
    scenario = scenario_of(catalogue().get(task_id), seed)
    said = [session.reset(task_id=task_id, **({} if seed is None else {"seed": seed}))["data"]]
    actions: list[dict[str, Any]] = [{"kind": "query", "sql": sql} for sql in (scenario.structure_look, scenario.column_look)]
    if scenario.fixable:
        actions += [{"kind": "fix", "sql": scenario.reference_fix}, {"kind": "query", "sql": scenario.check}]
    actions.append({"kind": "submit", **answers(scenario)})
    said += [session.step(**action)["data"] for action in actions]
    return said


@pytest.mark.parametrize("task", HAND_MADE, ids=lambda task: str(task.id))
def test_a_perfect_run_of_every_task_earns_all_there_is(server, task: Any) -> None:
    with server.session() as session:
        for seed in (None, 5):
            said = played(session, task.id, seed)
            assert [message["observation"]["error"] for message in said] == [None] * len(said)
            assert [message["done"] for message in said] == [False] * (len(said) - 1) + [True]
            assert sum(message["reward"] or 0.0 for message in said) == pytest.approx(0.999)
            last = said[-1]["observation"]
            assert last["score"] == 0.999
            assert sum(last["reward_breakdown"].values()) == pytest.approx(0.999)
            assert len(last["history"]) == len(said) - 1


def test_an_episode_opens_with_all_that_is_needed(server) -> None:
    with server.session() as session:
        opening = session.reset(task_id=TASK.id)["data"]["observation"]
        assert (opening["family"], opening["dialect"], opening["sql_query"]) == ("audit", "sqlite", "")
        assert opening["task_description"] == SCENARIO.description
        assert "-- 320 rows" in opening["schema_info"]
        assert all(len(sample["rows"]) == min(5, sample["row_count"]) for sample in opening["sample_rows"])
        assert (opening["fixes_left"], opening["submissions_left"], opening["history"]) == (5, 1, [])
        assert set(opening["allowed_kinds"]) == {"submit", "query", "profile", "fix"}


def test_a_fix_changes_no_later_query_and_the_copy_shows_what_it_did(server) -> None:
    with server.session() as session:
        session.reset(task_id=TASK.id)
        count = f'SELECT count(*) FROM "{TABLE}"'
        assert look(session, count)["rows"] == [[320]]
        fixed = session.step(kind="fix", sql=f'DELETE FROM "{TABLE}" WHERE rowid <= 20')["data"]
        assert (fixed["reward"], fixed["done"], fixed["observation"]["score"]) == (0.0, False, None)
        changed = {change["table"]: change for change in fixed["observation"]["changes"]}
        assert changed[TABLE] == {"table": TABLE, "rows_before": 320, "rows_after": 300, "rows_added": 0, "rows_removed": 20}
        seen = look(session, count)
        assert (seen["rows"], seen["repaired"]["rows"]) == ([[320]], [[300]])
        profiled = session.step(kind="profile", table=TABLE, column=SCENARIO.defect.columns[0])["data"]["observation"]
        assert profiled["profile"]["row_count"] == 320


def test_the_same_seed_is_the_same_problem_and_another_seed_is_another(server) -> None:
    def opened(seed: int | None) -> str:
        with server.session() as session:
            data = session.reset(task_id=TASK.id, **({} if seed is None else {"seed": seed}))["data"]["observation"]
            return json.dumps([data["schema_info"], data["sample_rows"], data["task_description"]])

    found = [opened(seed) for seed in (None, 1, 2, None, 1, 2)]
    assert found[:3] == found[3:]
    assert len(set(found)) == 3


def test_a_seed_draws_the_task_and_its_problem(server) -> None:
    with server.session() as one, server.session() as two:
        for seed in range(4):
            first, second = (session.reset(family="audit", seed=seed)["data"]["observation"] for session in (one, two))
            assert first == second
            assert first["family"] == "audit"
            assert first["task_description"] == scenario_of(catalogue().get(first["task_id"]), seed).description


def test_sessions_on_different_seeds_do_not_mix(server) -> None:
    def play(seed: int) -> list[dict[str, Any]]:
        with server.session() as session:
            return played(session, TASK.id, seed)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(play, [0, 1, 2, 3] * 3))
    alone = [play(seed) for seed in range(4)]
    assert together == alone * 3


def test_a_stateless_step_may_name_a_task_and_a_seed(server) -> None:
    scenario = scenario_of(TASK, 4)
    action = {"kind": "query", "sql": f'SELECT count(*) AS n FROM "{scenario.defect.table}"'}
    status, body = server.request("/step", {"action": action, "task_id": TASK.id, "seed": 4})
    assert (status, body["observation"]["error"], body["observation"]["columns"][0]["name"]) == (200, None, "n")


def test_nothing_of_the_graders_data_is_on_the_wire(server) -> None:
    scenario = scenario_of(TASK, 6)
    secrets = [scenario.reference_fix, scenario.check, "hidden_seed", "extra_column", "shifted", scenario.seed, "reference"]
    with server.session() as session:
        said = [session.reset(task_id=TASK.id, seed=6), session.state(), session.step(kind="query", sql="SELECT 1")]
        said += [session.step(kind="fix", sql=f'DELETE FROM "{scenario.defect.table}"'), session.state()]
        said += [session.step(kind="submit", answer="x"), session.state()]
    text = json.dumps(said)
    assert [secret for secret in secrets if json.dumps(secret)[1:-1] in text] == []
    state = said[1]
    assert state["current_task"] == {
        "id": TASK.id,
        "split": "train",
        "index": catalogue().index_of(TASK),
        "family": "audit",
        "difficulty": "hard",
        "name": TASK.name,
        "dataset": "",
        "max_steps": 1,
    }


HOSTILE: dict[str, str] = {
    "endless recursion": f'{ENDLESS} UPDATE "{TABLE}" SET rowid = rowid WHERE (SELECT max(i) FROM n) > 0',
    "endless recursion that stores": f"CREATE TABLE t (i); {ENDLESS} INSERT INTO t SELECT i FROM n",
    "a huge blob": "CREATE TABLE t AS SELECT zeroblob(1000000000) AS b",
    "many large blobs": f"CREATE TABLE t AS {ENDLESS[:-1]} LIMIT 100000) SELECT zeroblob(1000000) AS b FROM n",
    "a text that doubles": "CREATE TABLE t (s); INSERT INTO t VALUES ('x'); " + "UPDATE t SET s = s || s; " * 60,
    "attach": "ATTACH 'stolen.db' AS other; CREATE TABLE other.t AS SELECT 1",
    "vacuum into": "VACUUM INTO 'stolen.db'",
    "a dump by pragma": "PRAGMA temp_store_directory = '.'",
    "writable schema": f"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x' WHERE name = '{TABLE}'",
    "the schema table": "DELETE FROM sqlite_schema",
    "a trigger that fires later": f'CREATE TRIGGER late AFTER UPDATE ON "{TABLE}" BEGIN DELETE FROM "{TABLE}"; END',
    "a temporary trigger": f'CREATE TEMP TRIGGER late AFTER UPDATE ON "{TABLE}" BEGIN DELETE FROM "{TABLE}"; END',
    "load_extension": "SELECT load_extension('./stolen.so')",
    "readfile and writefile": "SELECT writefile('stolen.db', 'x')",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "the clock": f"CREATE TABLE t AS SELECT datetime('now') AS d FROM \"{TABLE}\"",
    "chance": f'DELETE FROM "{TABLE}" WHERE random() % 2',
    "100,000 statements": "SELECT 1;" * 100_000,
    "as many statements as fit": "SELECT 1;" * 2_200,
    "a transaction that never ends": "ROLLBACK; BEGIN",
    "a cross join of itself": "CREATE TABLE t AS SELECT count(*) AS n FROM " + ", ".join(f'"{TABLE}" AS t{n}' for n in range(8)),
    "an endless view": f"CREATE VIEW v AS {ENDLESS} SELECT i FROM n; CREATE TABLE t AS SELECT max(i) AS i FROM v",
    "nesting": "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "many terms": f'DELETE FROM "{TABLE}" WHERE ' + " OR ".join(f"rowid = {n}" for n in range(1_200)) + " OR nope",
    "nothing": " -- nothing\n;;",
}


@pytest.fixture(scope="module")
def scratch_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit-scratch")


@pytest.fixture(scope="module")
def guarded_server(start_server: Callable[..., Any], scratch_root: Path) -> Any:
    return start_server(scratch_dir=scratch_root)


def kept(scratch: Path) -> set[tuple[str, int]]:
    """Files below a server's scratch directory, with their sizes; a worker's log and mark are the sandbox's own."""
    found = (path for path in scratch.rglob("*") if path.is_file() and path.suffix != ".log" and path.name != "mark")
    return {(str(path), path.stat().st_size) for path in found}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_fix_is_an_error_in_time_and_leaves_nothing(guarded_server, scratch_root: Path, data_dir: Path, name: str) -> None:
    before = kept(scratch_root)
    with guarded_server.session() as session, guarded_server.session() as neighbour:
        neighbour.reset(task_id=TASK.id, seed=1)
        opening = session.reset(task_id=TASK.id)["data"]["observation"]
        began = time.monotonic()
        answer = session.step(kind="fix", sql=HOSTILE[name])["data"]
        assert time.monotonic() - began < PROMPTLY_S
        seen = answer["observation"]
        assert seen["error"] is not None, seen["feedback"]
        assert len(seen["error"]["message"]) > 20
        assert (answer["reward"], answer["done"], seen["fixes_left"]) == (0.0, False, opening["fixes_left"] - 1)
        again = look(session, f'SELECT count(*) FROM "{TABLE}"')
        assert (again["rows"], again["repaired"], again["error"]) == ([[320]], None, None)
        assert look(neighbour, "SELECT 1 AS n")["rows"] == [[1]]
        assert session.step(kind="fix", sql=SCENARIO.reference_fix)["data"]["observation"]["error"] is None
    assert kept(scratch_root) == before
    # Of the directories that others write to as well, only that nothing is there which the fixes name.
    assert [path for root in (scratch_root, data_dir) for path in root.rglob("stolen*")] + list(Path.cwd().glob("stolen*")) == []


def test_a_neighbour_is_served_while_a_hostile_fix_runs(guarded_server) -> None:
    with guarded_server.session() as session, guarded_server.session() as neighbour:
        session.reset(task_id=TASK.id)
        neighbour.reset(task_id=TASK.id, seed=2)
        session.connection.send(json.dumps({"type": "step", "data": {"kind": "fix", "sql": HOSTILE["endless recursion"]}}))
        began = time.monotonic()
        assert look(neighbour, "SELECT 1 AS n")["rows"] == [[1]]
        assert time.monotonic() - began < 5.0
        assert json.loads(session.connection.recv(30))["data"]["observation"]["error"]["code"] == "timeout"


def test_a_hostile_query_is_an_error_in_time_and_the_episode_goes_on(guarded_server) -> None:
    with guarded_server.session() as session:
        session.reset(task_id=TASK.id)
        for sql in (
            f"{ENDLESS} SELECT max(i) FROM n",
            "SELECT zeroblob(1000000000)",
            f'DELETE FROM "{TABLE}"',
            "ATTACH 'stolen.db' AS other",
            "PRAGMA writable_schema = ON",
            "SELECT load_extension('./stolen.so')",
            "SELECT random()",
            "SELECT 1; SELECT 2",
        ):
            began = time.monotonic()
            assert look(session, sql)["error"] is not None
            assert time.monotonic() - began < PROMPTLY_S
        assert look(session, f'SELECT count(*) FROM "{TABLE}"')["rows"] == [[320]]


def test_a_fix_that_destroys_the_data_is_graded_as_what_it_is(guarded_server) -> None:
    with guarded_server.session() as session:
        for script in (f'DROP TABLE "{TABLE}"', f'DELETE FROM "{TABLE}"'):
            session.reset(task_id=TASK.id)
            assert session.step(kind="fix", sql=script)["data"]["observation"]["error"] is None
            answer = session.step(kind="submit", **answers(SCENARIO))["data"]
            assert answer["done"] is True
            assert answer["observation"]["score"] <= 0.05


def test_the_slowest_fix_and_the_slowest_checks_are_graded_in_time_and_fully(guarded_server) -> None:
    with guarded_server.session() as session:
        session.reset(task_id=TASK.id)
        for sql in (SCENARIO.structure_look, SCENARIO.column_look):
            assert look(session, sql)["error"] is None
        slow = f"SELECT max(i) FROM ({ENDLESS[:-1]} LIMIT {{}}) SELECT i FROM n)"
        fixed = session.step(kind="fix", sql=f"{SCENARIO.reference_fix}; {slow.format(2_500_000)}")["data"]["observation"]
        assert fixed["error"] is None
        assert look(session, SCENARIO.check)["error"] is None
        for number in range(1, 6):
            seen = look(session, f'SELECT count(*) FROM "{TABLE}" WHERE ({slow.format(1_200_000)}) > {number}')
            assert seen["error"] is None
        began = time.monotonic()
        answer = session.step(kind="submit", timeout=60.0, **answers(SCENARIO))["data"]
        assert time.monotonic() - began < 30.0
        assert (answer["observation"]["error"], answer["observation"]["score"]) == (None, 0.999)
