"""``python inference.py`` as a process: with built-in players and with a model behind a local endpoint, against real servers."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.fake_model_server import MODEL, TOKEN, FakeModelServer, acts, fails, says
from sql_optim_env.tasks.catalogue import catalogue

ROOT = Path(__file__).parents[2]
TUNE = catalogue().get("tune_country_vet")
REWRITE = catalogue().get("task_1_basic_antipatterns")
SUBMISSION = {"kind": "submit", "optimized_query": TUNE.tune.reference_sql, "ddl": list(TUNE.tune.reference_ddl)}
PLAIN = [part for name in ("tune", "rewrite") for part in ("--task", {"tune": TUNE.id, "rewrite": REWRITE.id}[name])]
LINE = re.compile(
    r"\[START\] task=(\S+) env=sql_optim_env model=\S+"
    r"|\[STEP\] step=\d+ action=(submit|query|explain|profile|fix):.* reward=-?\d\.\d\d done=(true|false) error=(null|\w+: .+)"
    r"|\[END\] success=(true|false) steps=\d+ score=\d\.\d{3} rewards=(-?\d\.\d\d(,-?\d\.\d\d)*)?"
)


class Played:
    """What a run wrote and how it ended; every line of its output is of one of the three kinds, and every start has its end."""

    def __init__(self, stdout: str, stderr: str, status: int) -> None:
        self.lines = stdout.splitlines()
        self.stderr = stderr
        self.status = status
        assert [line for line in self.lines if LINE.fullmatch(line) is None] == [], stderr
        kinds = "".join({"[START]": "a", "[STEP]": "s", "[END]": "e"}[line.split()[0]] for line in self.lines)
        assert re.fullmatch("(as*e)*", kinds), kinds
        assert TOKEN not in stdout + stderr

    @property
    def steps(self) -> list[str]:
        return [line for line in self.lines if line.startswith("[STEP]")]

    @property
    def ends(self) -> list[str]:
        return [line for line in self.lines if line.startswith("[END]")]

    @property
    def tasks(self) -> list[str]:
        return [found[1] for line in self.lines if (found := re.match(r"\[START\] task=(\S+)", line))]


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "inference.py"), *arguments]


def variables(model: FakeModelServer | None = None, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("API_BASE_URL", "MODEL_NAME", "HF_TOKEN", "LOCAL_IMAGE_NAME")}
    asked = {"API_BASE_URL": model.url, "MODEL_NAME": MODEL, "HF_TOKEN": TOKEN} if model is not None else {}
    return {**kept, **asked, **more}


def run(*arguments: str, env: dict[str, str]) -> Played:
    done = subprocess.run(command(*arguments), env=env, capture_output=True, text=True, timeout=150)
    return Played(done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_plays_episodes_and_every_step_is_told(server, stream: bool) -> None:
    look = "SELECT species,\n  count(*) AS n\nFROM herd GROUP BY species"
    answers = [
        says(f'<think>Let me {{look}}.</think>I look first.\n```json\n{{"kind": "query", "sql": "{look}"}}\n```'),
        acts(kind="explain", sql="SELECT nobody FROM herd"),
        acts(**SUBMISSION),
        acts(kind="submit", summary="I give up."),
    ]
    with FakeModelServer(*answers) as model:
        played = run(*PLAIN, "--url", server.url, *(["--stream"] if stream else []), env=variables(model))
    assert played.status == 0, played.stderr
    assert played.tasks == [TUNE.id, REWRITE.id]
    assert played.lines[0] == f"[START] task={TUNE.id} env=sql_optim_env model={MODEL}"
    assert played.lines[1] == (
        "[STEP] step=1 action=query:SELECT species, count(*) AS n FROM herd GROUP BY species reward=0.00 done=false error=null"
    )
    assert played.lines[2] == (
        "[STEP] step=2 action=explain:SELECT nobody FROM herd reward=0.00 done=false error=binding_error: no such column: nobody"
    )
    assert played.lines[3].startswith("[STEP] step=3 action=submit:CREATE INDEX visit_at ON visit(at); SELECT ")
    assert played.lines[3].endswith("... reward=1.00 done=true error=null")
    assert played.lines[4] == "[END] success=true steps=3 score=1.000 rewards=0.00,0.00,1.00"
    gave_up = [
        f"[STEP] step={number} action=submit:I give up. reward=0.00 done={done} error=null"
        for number, done in ((1, "false"), (2, "false"), (3, "true"))
    ]
    assert played.lines[6:] == [*gave_up, "[END] success=false steps=3 score=0.000 rewards=0.00,0.00,0.00"]
    assert "6 replies, 600 prompt tokens" in played.stderr
    assert [request["stream"] for request in model.requests] == [stream] * 6
    assert "species" in model.requests[1]["messages"][-1]["content"]


def test_a_built_in_player_needs_no_model(server) -> None:
    played = run(*PLAIN, "--player", "oracle", "--seed", "3", "--url", server.url, env=variables())
    assert played.status == 0, played.stderr
    assert played.ends == ["[END] success=true steps=1 score=1.000 rewards=1.00"] * 2
    assert played.lines[0].endswith("model=oracle")


def test_without_a_task_those_of_the_family_and_split_are_played(server) -> None:
    played = run("--family", "rewrite", "--player", "null", "--url", server.url, env=variables())
    assert played.status == 0, played.stderr
    assert played.tasks == [task.id for task in catalogue().hand_made() if task.family == "rewrite"]
    assert set(played.ends) == {"[END] success=false steps=1 score=0.000 rewards=0.00"}


def test_the_oracle_plays_the_audit_tasks_of_a_split_with_the_seed_that_the_server_has(server) -> None:
    played = run("--family", "audit", "--split", "test", "--player", "oracle", "--seed", "5", "--url", server.url, env=variables())
    assert played.status == 0, played.stderr
    assert played.tasks == [task.id for task in catalogue().hand_made() if (task.family, task.split) == ("audit", "test")]
    assert played.tasks
    assert [re.findall("success=true .* score=0.999", end) != [] for end in played.ends] == [True] * len(played.tasks), played.ends


def test_a_model_plays_an_audit_with_every_kind_of_action(server) -> None:
    actions = [
        {"kind": "query", "sql": "SELECT count(*) AS n FROM sqlite_schema"},
        {"kind": "profile", "table": "no such", "column": "c"},
        {"kind": "fix", "sql": "CREATE TABLE notes (n);\nINSERT INTO notes VALUES (1)"},
        {"kind": "query", "sql": "SELECT n FROM notes"},
        {"kind": "submit", "root_cause_table": "notes", "offending_key": "n"},
    ]
    with FakeModelServer(*[acts(**action) for action in actions]) as model:
        played = run("--task", "dedup_bug", "--seed", "2", "--url", server.url, env=variables(model))
    assert played.status == 0, played.stderr
    assert [re.sub(r" reward=.*", "", step) for step in played.steps] == [
        "[STEP] step=1 action=query:SELECT count(*) AS n FROM sqlite_schema",
        "[STEP] step=2 action=profile:no such.c",
        "[STEP] step=3 action=fix:CREATE TABLE notes (n); INSERT INTO notes VALUES (1)",
        "[STEP] step=4 action=query:SELECT n FROM notes",
        "[STEP] step=5 action=submit:root_cause_table notes, offending_key n",
    ]
    assert " error=binding_error: " in played.steps[1]
    assert played.steps[4].endswith(" done=true error=null")
    assert played.ends[0].startswith("[END] success=false steps=5 score=0.0")
    said = [request["messages"][-1]["content"] for request in model.requests]
    assert ("# First rows" in said[0], "fixes left: 5" in said[0], "fixes left: 4" in said[3]) == (True, True, True)
    assert "notes" in said[3]
    assert "[1]" in said[4]


def test_no_more_than_so_many_steps_are_played(server) -> None:
    with FakeModelServer(acts(kind="query", sql="SELECT 1")) as model:
        played = run("--task", TUNE.id, "--max-steps", "2", "--url", server.url, env=variables(model))
    assert (played.status, len(played.steps)) == (0, 2)


def test_a_model_that_talks_nonsense_ends_its_episode_with_nothing(server) -> None:
    answers = [says(None), says('{"kind": "submit"', "length"), says("{'a': 1}"), says('{"b": 2}')]
    with FakeModelServer(*answers) as model:
        played = run("--task", TUNE.id, "--url", server.url, env=variables(model))
    assert played.lines[1:] == [
        "[STEP] step=1 action=submit: reward=0.00 done=true error=null",
        "[END] success=false steps=1 score=0.000 rewards=0.00",
    ]
    assert (played.status, len(model.requests)) == (0, 4)


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_passing_trouble_of_the_model_is_waited_out(server, stream: str) -> None:
    trouble = [fails(429, retry_after="0"), says("half", drop=True), fails(503), acts(**SUBMISSION)]
    with FakeModelServer(*trouble) as model:
        played = run("--task", TUNE.id, "--url", server.url, stream, "--retry-wait", "0", env=variables(model))
    assert (played.status, played.ends) == (0, ["[END] success=true steps=1 score=1.000 rewards=1.00"])
    assert played.stderr.count("trying again") == 3


def test_a_model_that_refuses_ends_the_run_and_the_token_is_not_shown(server) -> None:
    with FakeModelServer(acts(**SUBMISSION), token="hf_another") as model:
        played = run(*PLAIN, "--url", server.url, env=variables(model))
    assert played.status == 1
    assert (played.tasks, played.ends) == ([TUNE.id], ["[END] success=false steps=0 score=0.000 rewards="])
    assert "401; is HF_TOKEN right?): Incorrect API key provided: Bearer ***" in played.stderr
    assert "1 more tasks were not begun" in played.stderr


def test_a_model_that_goes_away_in_the_middle_leaves_the_score_so_far(server) -> None:
    with FakeModelServer(acts(kind="query", sql="SELECT 1"), fails(500, "out of order")) as model:
        played = run(*PLAIN, "--url", server.url, "--retries", "1", "--retry-wait", "0", env=variables(model))
    assert played.status == 1
    assert played.ends == ["[END] success=false steps=1 score=0.000 rewards=0.00", "[END] success=false steps=0 score=0.000 rewards="]
    assert "did not answer in 2 attempts; the last: 500: out of order" in played.stderr


def test_a_server_that_goes_away_in_the_middle_ends_every_episode(start_server) -> None:
    own = start_server(workers=1)

    def script(request: dict[str, object]):
        if len(request["messages"]) > 1:
            own.process.kill()
        return acts(kind="query", sql="SELECT 1")

    with FakeModelServer(script=script) as model:
        played = run(*PLAIN, "--url", own.url, env=variables(model))
    own.process.wait()
    assert played.status == 1
    assert (played.tasks, len(played.ends), len(played.steps)) == ([TUNE.id, REWRITE.id], 2, 1)
    assert played.stderr.count("could not be played") == 2


def test_a_task_that_does_not_exist_does_not_stop_the_others(server) -> None:
    played = run("--task", "no_such", "--task", TUNE.id, "--player", "oracle", "--url", server.url, env=variables())
    assert played.status == 1
    assert [end.split()[1] for end in played.ends] == ["success=false", "success=true"]
    assert "there is no task 'no_such'" in played.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_episode_that_is_played_and_no_other_begins(server, number: signal.Signals, status: int) -> None:
    with FakeModelServer(acts(kind="query", sql="SELECT 1"), says("late", hang_s=120)) as model:
        arguments = command(*PLAIN, "--url", server.url)
        process = subprocess.Popen(arguments, env=variables(model), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(model.requests) == 2)
        process.send_signal(number)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    played = Played(stdout, stderr, process.returncode)
    assert played.status == status, stderr
    assert (played.tasks, played.ends) == ([TUNE.id], ["[END] success=false steps=1 score=0.000 rewards=0.00"])
    assert "Traceback" not in stderr


def test_a_reader_that_leaves_ends_the_run_without_a_traceback(server) -> None:
    with FakeModelServer(acts(kind="query", sql="SELECT 1")) as model:
        arguments = command("--task", TUNE.id, "--url", server.url)
        process = subprocess.Popen(arguments, env=variables(model), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("[START]")
        process.stdout.close()
        stderr = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 1
    assert "standard output was closed" in stderr
    assert "Traceback" not in stderr


def test_without_a_url_a_server_is_started_and_stopped(data_dir: Path) -> None:
    played = run("--task", TUNE.id, "--player", "oracle", env=variables(SQL_OPTIM_DATA_DIR=str(data_dir), SQL_OPTIM_WORKERS="1"))
    assert (played.status, played.ends) == (0, ["[END] success=true steps=1 score=1.000 rewards=1.00"])
    assert "starting a server of our own" in played.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "set MODEL_NAME"),
        (["--player", "nobody"], "invalid choice"),
        (["--player", "null", "--max-steps", "0"], "at least 1"),
        (["--player", "null", "--timeout", "-1"], "must not be negative"),
        (["--player", "null", "--split", "validation"], "invalid choice"),
    ],
)
def test_the_wrong_usage_is_told_on_standard_error(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODEL_NAME", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "inference.py"))["parse"](arguments)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert (said.out, reason in said.err) == ("", True)


def test_a_model_that_cannot_be_asked_is_the_wrong_usage_too() -> None:
    played = run(env=variables(MODEL_NAME="m", API_BASE_URL="http://localhost/v1", HF_TOKEN="hf_ü"))
    assert (played.status, played.lines) == (2, [])
    assert "holds characters" in played.stderr
    assert "hf_" not in played.stderr


DOCKER = """#!{python}
import os, subprocess, sys
open({log!r}, "a").write(" ".join(sys.argv[1:]) + " token=" + os.environ.get("HF_TOKEN", "none") + "\\n")
if sys.argv[1] == "run":
    port = sys.argv[sys.argv.index("-p") + 1].split(":")[0]
    server = [sys.executable, "-m", "sql_optim_env.server.app", "--port", port]
    print(subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True).pid)
if sys.argv[1] == "stop":
    os.kill(int(sys.argv[2]), 15)
"""


def with_docker(folder: Path, text: str) -> str:
    """A PATH on which ``docker`` is this script."""
    script = folder / "docker"
    script.write_text(text)
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_an_image_is_started_through_openenvs_docker_client_and_stopped(tmp_path: Path, data_dir: Path) -> None:
    path = with_docker(tmp_path, DOCKER.format(python=sys.executable, log=str(tmp_path / "log")))
    with FakeModelServer(acts(**SUBMISSION)) as model:
        env = variables(model, PATH=path, LOCAL_IMAGE_NAME="sql-optim-env:latest", SQL_OPTIM_DATA_DIR=str(data_dir), SQL_OPTIM_WORKERS="1")
        played = run("--task", TUNE.id, env=env)
    assert (played.status, played.ends) == (0, ["[END] success=true steps=1 score=1.000 rewards=1.00"]), played.stderr
    calls = (tmp_path / "log").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["version", "run", "stop", "rm"]
    assert "sql-optim-env:latest" in calls[1]
    assert all(call.endswith("token=none") for call in calls)
    pid = int(calls[2].split()[1])
    wait_until(lambda: not alive(pid))


def test_without_docker_it_is_said_and_every_task_that_was_asked_for_has_its_end(tmp_path: Path) -> None:
    path = with_docker(tmp_path, "#!/bin/sh\nexit 1\n")
    env = variables(PATH=path, LOCAL_IMAGE_NAME="sql-optim-env:latest")
    played = run(*PLAIN, "--player", "oracle", env=env)
    assert played.status == 1
    assert "there is no environment to play in: Docker is not available" in played.stderr
    assert (played.tasks, played.ends) == ([TUNE.id, REWRITE.id], ["[END] success=false steps=0 score=0.000 rewards="] * 2)
    played = run("--family", "rewrite", "--player", "oracle", env=env)
    assert (played.status, played.tasks) == (1, [task.id for task in catalogue().hand_made() if task.family == "rewrite"])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that nobody waits for stays as a zombie where no init takes it.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)
