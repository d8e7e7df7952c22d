"""Nothing that an agent can make a server say holds grader data, a hidden row or a server path.

Markers are planted in the grader data of a real server (see ``planted/sitecustomize.py``); beside them the texts of the references and the
values that only hidden instances hold are looked for in every byte that came back, and in the log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import duckdb
import pytest
from websockets.sync.client import ClientConnection, connect

from contract.sql_grammar import Grammar
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.datasets.store import DatasetStore
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

MARK = "mk7f3a"
TASKS = ("task_1_basic_antipatterns", "task_6_segment_revenue", "tune_seed_bank", "type_repair", "null_audit", "dedup_bug")
LEAST_LETTERS = 14
"""Shorter texts of a hidden instance are words that the public data may hold, too."""
MOST_VALUES = 3_000

HTTP = (
    "/", "/schema", "/metadata", "/tasks", "/ready", "/health", "/metrics", "/openapi.json", "/docs", "/state", "/list_environments",
    "/sql_optim_env/splits", "/web", "/web/", "/nothing/here",
)  # fmt: skip


class Witness:
    """Talks to the server and keeps every byte of what it says."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.heard: list[str] = []

    def http(self, path: str, body: object = None) -> None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.heard.append(answer.read().decode(errors="replace") + str(answer.headers))
        except urllib.error.HTTPError as error:
            with error:
                self.heard.append(error.read().decode(errors="replace") + str(error.headers))

    def say(self, connection: ClientConnection, message: str, /, **data: Any) -> dict[str, Any]:
        connection.send(json.dumps({"type": message, "data": data}))
        text = connection.recv(60)
        assert isinstance(text, str)
        self.heard.append(text)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def episode(self, task: Task, seed: int) -> None:
        """Everything an agent can do, wrong as often as right; begun anew whenever it ends."""
        grammar = Grammar(seed, tables_of(task, seed))
        with connect(self.url.replace("http", "ws") + "/ws", max_size=None, proxy=None) as connection:
            for actions in (explorations(task, grammar), *submissions(task)):
                self.say(connection, "reset", task_id=task.id, seed=seed)
                for action in actions:
                    answer = self.say(connection, "step", **action)
                    self.say(connection, "state")
                    if answer["type"] == "error" or answer["data"]["done"]:
                        break


def tables_of(task: Task, seed: int) -> dict[str, tuple[str, ...]]:
    if task.family == "audit":
        defect = scenario_of(task, seed).defect
        return {defect.table: defect.columns}
    return {table: ("id", "rowid", "status", "taxon") for table in task.tables}


def explorations(task: Task, grammar: Grammar) -> Iterator[dict[str, Any]]:
    """Looks and repairs, until the budgets and the patience with missteps are used up."""
    for sql in (
        "SELECT * FROM",
        "SELECT nothing FROM nowhere",
        "SELECT * FROM zz_hidden",
        "SELECT CAST('x' AS INTEGER) AS a",
        "SELECT 1/0",
    ):
        yield {"kind": "query", "sql": sql}
    yield {"kind": "explain", "sql": grammar.statement()}
    yield {"kind": "profile", "table": "nowhere", "column": "nothing"}
    for table, columns in tables_of(task, 3).items():
        yield {"kind": "profile", "table": table, "column": columns[0]}
        yield {"kind": "fix", "sql": f'DELETE FROM "{table}" WHERE nothing = 1'}
        yield {"kind": "fix", "sql": f'UPDATE "{table}" SET "{columns[0]}" = NULL'}
    for _ in range(40):
        yield {"kind": "query", "sql": grammar.statement()}


def submissions(task: Task) -> tuple[list[dict[str, Any]], ...]:
    """What is handed in, one list an episode."""
    repairs = [{"kind": "fix", "sql": f'UPDATE "{table}" SET "{columns[0]}" = NULL'} for table, columns in tables_of(task, 3).items()]
    return (
        [{"optimized_query": "SELECT 1 AS one", "summary": "x"}],
        [{"optimized_query": task.sql, "approved": True, "answer": "nothing"}],
        [{"optimized_query": f"SELECT * FROM ({task.sql}) AS t LIMIT 1", "ddl": ["CREATE INDEX i ON nowhere(nothing)"]}],
        [*repairs, {"answer": "nothing", "root_cause_table": "nowhere"}],
    )


@pytest.fixture(scope="module")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Witness, str]]:
    log = tmp_path_factory.mktemp("planted") / "log"
    paths = [str(Path(__file__).parent / "planted"), os.environ.get("PYTHONPATH", "")]
    # A short deadline: what the grammar joins would take long.
    settings = {
        "SQL_OPTIM_WORKERS": "1",
        "SQL_OPTIM_DEADLINE_S": "2",
        "SQL_OPTIM_LOG_LEVEL": "info",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    said: list[str] = []
    with LocalServer(settings, progress=said.append, log=log) as server:
        witness = Witness(server.url)
        for path in HTTP:
            witness.http(path)
        witness.http("/reset", {"task_id": "nothing"})
        witness.http("/step", {"action": {"optimized_query": "SELECT"}, "task_id": TASKS[0]})
        for split in ("train", "test"):
            witness.http("/sql_optim_env/tasks", {"split": split})
        for name in TASKS:
            witness.episode(catalogue().get(name), seed=3)
    yield witness, log.read_text(encoding="utf-8") + "\n".join(said)


def everything(witness: tuple[Witness, str]) -> str:
    return "\n".join(witness[0].heard) + witness[1]


def test_the_session_got_real_answers_of_every_kind(witness: tuple[Witness, str]) -> None:
    heard = "\n".join(witness[0].heard)
    assert len(witness[0].heard) > 150
    for code in ("syntax_error", "binding_error", "refused_table", "kind_not_allowed"):
        assert f'"{code}"' in heard
    assert '"reward_breakdown":{"' in heard.replace(" ", "")


def test_the_markers_were_planted() -> None:
    code = "import sitecustomize as s, sql_optim_env.tasks.catalogue as c; print(c.catalogue().get('tune_seed_bank').tune.reference_sql)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "planted")}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    assert f"{MARK}_reference" in shown


def test_no_marker_comes_out(witness: tuple[Witness, str]) -> None:
    text = everything(witness)
    place = text.find(MARK)
    assert place < 0, text[max(0, place - 300) : place + 100]


def secrets(task: Task) -> set[str]:
    """Lines of the grader's own texts that the agent is not shown."""
    texts: list[str] = []
    if task.family == "rewrite":
        texts = [task.rewrite.reference_sql, task.rewrite.summary, *task.rewrite.equivalents]
    elif task.family == "tune":
        tune = task.tune
        texts = [tune.reference_sql, *tune.reference_ddl, *(text for v in (*tune.variants, *tune.wrong) for text in (v.why, v.sql, *v.ddl))]
    else:
        found = scenario_of(task, 3)
        texts = [found.reference_fix, found.check, found.column_look]
    shown = {line.strip() for line in task.sql.splitlines()}
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return {line for line in lines - shown if len(line) >= 30}


@pytest.mark.parametrize("name", TASKS)
def test_no_line_of_a_reference_comes_out(witness: tuple[Witness, str], name: str) -> None:
    text = everything(witness)
    lines = secrets(catalogue().get(name))
    assert [line for line in sorted(lines) if json.dumps(line)[1:-1] in text or line in text] == []


def texts_in(path: Path) -> set[str]:
    """Every text value of a database file."""
    if path.suffix == ".sqlite":
        con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        tables = [row[0] for row in con.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        return {value for table in tables for row in con.execute(f'SELECT * FROM "{table}"') for value in row if isinstance(value, str)}
    with duckdb.connect(str(path), read_only=True) as db:
        found = db.execute("SELECT table_name, column_name FROM information_schema.columns WHERE data_type = 'VARCHAR'").fetchall()
        return {row[0] for table, column in found for row in db.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall() if row[0]}


@pytest.mark.parametrize("dataset", ["shop", "tune_seed_bank"])
def test_no_value_that_only_hidden_instances_hold_comes_out(witness: tuple[Witness, str], dataset: str) -> None:
    store = DatasetStore(Path(os.environ["SQL_OPTIM_DATA_DIR"]))
    public, *hidden = get_dataset(dataset).instances
    known = texts_in(store.ensure(public))
    values = sorted({value for each in hidden for value in texts_in(store.ensure(each)) if len(value) >= LEAST_LETTERS} - known)
    assert values, "there is nothing to look for"
    text = everything(witness)
    assert [value for value in values[:: max(1, len(values) // MOST_VALUES)] if value in text or json.dumps(value)[1:-1] in text] == []


def test_no_path_of_the_server_comes_out_on_the_wire(witness: tuple[Witness, str]) -> None:
    heard = "\n".join(witness[0].heard)
    root = Path(__file__).parents[2]
    places = {os.environ["SQL_OPTIM_DATA_DIR"], str(root), str(Path.home()), sys.prefix, "site-packages", "/tmp/", "/dev/shm/"}
    # The home page's README and the scripts of the web pages are text for people; what they hold is the same on every machine.
    assert sorted(place for place in places if len(place) > 1 and place in heard) == []
