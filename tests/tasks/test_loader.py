from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sql_optim_env.errors import InfraError
from sql_optim_env.tasks.loader import TaskFormatError, load_task, load_tasks
from sql_optim_env.tasks.task import ExpectedIssue
from sql_optim_env.tasks.vocabulary import IssueType, Severity

TOML = """\
name = "Orders of a year"
family = "rewrite"
split = "train"
difficulty = "easy"
dataset = "shop"
dialect = "duckdb"
tables = ["orders"]
max_steps = 3
max_explorations = 8
tags = ["dates"]
description = \"\"\"
How many orders
were placed in 2024?
\"\"\"

[grader]
optimal = false
summary = "A function on column."

[[grader.issues]]
type = "function_on_column"
line = 3
severity = "high"
also = ["non_sargable_predicate"]
"""
ORIGINAL = "SELECT count(*) AS n\nFROM orders\nWHERE strftime(created_at, '%Y') = '2024'\n"
REFERENCE = "SELECT count(*) AS n FROM orders WHERE created_at >= DATE '2024-01-01' AND created_at < DATE '2025-01-01'\n"
EQUIVALENT = "SELECT count(*) AS n FROM orders WHERE year(created_at) = 2024\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a sound task folder and then the given files over it; None leaves one out."""

    def write(**files: str | bytes | None) -> Path:
        folder = tmp_path / "task_8_orders_of_a_year"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "equivalents").mkdir(parents=True)
        sound = {"task.toml": TOML, "original.sql": ORIGINAL, "reference.sql": REFERENCE, "equivalents/year.sql": EQUIVALENT}
        for name, text in {**sound, **{key.replace("__", "/").replace("_dot_", "."): value for key, value in files.items()}}.items():
            path = folder / name
            if text is not None:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


def test_a_sound_folder_becomes_a_task(write: Write) -> None:
    task = load_task(write())
    assert (task.id, task.name, task.family, task.split, task.difficulty) == (
        "task_8_orders_of_a_year",
        "Orders of a year",
        "rewrite",
        "train",
        "easy",
    )
    assert task.description == "How many orders were placed in 2024?"
    assert task.sql == ORIGINAL.rstrip()
    assert (task.tables, task.max_steps, task.max_explorations, task.tags) == (("orders",), 3, 8, ("dates",))
    assert task.rewrite.reference_sql == REFERENCE.rstrip()
    assert task.rewrite.equivalents == (EQUIVALENT.rstrip(),)
    assert task.rewrite.issues == (ExpectedIssue(IssueType.FUNCTION_ON_COLUMN, 3, Severity.HIGH, (IssueType.NON_SARGABLE_PREDICATE,)),)


def test_the_reference_of_an_optimal_task_is_its_query(write: Write) -> None:
    text = TOML.split("[[grader.issues]]")[0].replace("optimal = false", "optimal = true")
    task = load_task(write(task_dot_toml=text, reference_dot_sql=None))
    assert task.rewrite.optimal
    assert task.rewrite.reference_sql == task.sql
    assert task.rewrite.issues == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "Orders of a year"\n', "", "task.toml: name is missing"),
        ('name = "Orders of a year"', 'name = " "', "task.toml: name is empty"),
        ('name = "Orders of a year"', "name = 7", "task.toml: name must be a text"),
        ('name = "Orders of a year"', 'nmae = "x"', "task.toml: nmae is not a field; there are dataset, description,"),
        ('family = "rewrite"', 'family = "translate"', "task.toml: family must be one of rewrite, tune, audit, not 'translate'"),
        ('split = "train"', 'split = "dev"', "task.toml: split must be one of train, test, not 'dev'"),
        ('difficulty = "easy"', 'difficulty = "soft"', "task.toml: difficulty must be one of easy, medium, hard, expert, not 'soft'"),
        ("max_steps = 3", "max_steps = 9", "task.toml: max_steps must be 3 to 5, not 9"),
        ("max_steps = 3", "max_steps = true", "task.toml: max_steps must be an integer"),
        ("max_steps = 3", 'max_steps = "3"', "task.toml: max_steps must be an integer"),
        ("max_explorations = 8", "max_explorations = -1", "task.toml: max_explorations must be 0 to 100, not -1"),
        ('tables = ["orders"]', "tables = []", "task.toml: tables must be a list of at least 1 text"),
        ('tables = ["orders"]', "tables = [1]", "task.toml: tables must be a list of at least 1 text"),
        ('tables = ["orders"]', 'tables = "orders"', "task.toml: tables must be a list"),
        ("optimal = false", "", "task.toml: grader.optimal is missing"),
        ("optimal = false", "optimal = 0", "task.toml: grader.optimal must be true or false"),
        ('summary = "A function on column."', 'summary = ""', "task.toml: grader.summary is empty"),
        (
            'summary = "A function on column."',
            'summary = "x"\nhint = "y"',
            "task.toml: grader.hint is not a field; there are issues, optimal, summary",
        ),
        ('type = "function_on_column"', 'type = "slow"', "task.toml: grader.issues[0].type must be one of select_star, "),
        ("line = 3", "line = 4", "task.toml: grader.issues[0].line 4 is outside the query, which has 3 lines"),
        ("line = 3", "line = 0", "task.toml: grader.issues[0].line 0 is outside the query, which has 3 lines"),
        ("line = 3", "lines = 3", "task.toml: grader.issues[0].lines is not a field; there are also, line, severity, type"),
        (
            'severity = "high"',
            'severity = "huge"',
            "task.toml: grader.issues[0].severity must be one of low, medium, high, critical, not 'huge'",
        ),
        ('also = ["non_sargable_predicate"]', 'also = ["function_on_column"]', "task.toml: grader.issues[0].also repeats a type"),
        ('also = ["non_sargable_predicate"]', 'also = ["odd"]', "task.toml: grader.issues[0].also must be one of select_star, "),
        ("[[grader.issues]]", "[grader.issues]", "task.toml: grader.issues must be a list"),
        ("[grader]", "[grader", "task.toml: is not TOML: "),
    ],
)
def test_a_fault_in_the_table_is_named_with_file_and_field(write: Write, old: str, new: str, message: str) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(TaskFormatError) as fault:
        load_task(write(task_dot_toml=TOML.replace(old, new)))
    assert f"task_8_orders_of_a_year/{message}" in str(fault.value)


WITHOUT_ISSUES = TOML.split("[[grader.issues]]")[0]
OPTIMAL = TOML.replace("optimal = false", "optimal = true")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"task_dot_toml": None}, "task.toml: is missing"),
        ({"original_dot_sql": None}, "original.sql: is missing"),
        ({"original_dot_sql": " \n"}, "original.sql: is empty"),
        ({"original_dot_sql": ORIGINAL.rstrip() + ";\n"}, "original.sql: must be one statement without a closing semicolon"),
        (
            {"original_dot_sql": ORIGINAL.replace("\n", "\r\n")},
            "original.sql: must begin with the statement and use spaces and line feeds only",
        ),
        ({"original_dot_sql": "\n" + ORIGINAL}, "original.sql: must begin with the statement and use spaces and line feeds only"),
        ({"original_dot_sql": b"SELECT '\xff'"}, "original.sql: is not UTF-8"),
        ({"reference_dot_sql": None}, "reference.sql: is missing"),
        ({"reference_dot_sql": ORIGINAL.lower()}, "reference.sql: is the original query"),
        ({"equivalents__year_dot_sql": REFERENCE.lower()}, "equivalents/year.sql: repeats another statement of this task"),
        ({"equivalents__again_dot_sql": EQUIVALENT}, "equivalents/year.sql: repeats another statement of this task"),
        ({"task_dot_toml": WITHOUT_ISSUES}, "task.toml: grader.issues at least one issue is needed unless grader.optimal is true"),
        ({"task_dot_toml": OPTIMAL}, "task.toml: grader.issues an optimal query has no issues"),
        (
            {"task_dot_toml": OPTIMAL.split("[[grader.issues]]")[0]},
            "reference.sql: the reference of an optimal query is the query itself; remove the file",
        ),
        (
            {"task_dot_toml": WITHOUT_ISSUES.replace("optimal = false", "optimal = false\nissues = [1]")},
            "task.toml: grader.issues[0] must be a table",
        ),
    ],
)
def test_a_fault_in_the_files_is_named_with_the_file(write: Write, files: dict[str, str | bytes | None], message: str) -> None:
    with pytest.raises(TaskFormatError) as fault:
        load_task(write(**files))
    assert str(fault.value) == f"infra_error: task_8_orders_of_a_year/{message}"


def test_a_broken_task_is_the_servers_fault() -> None:
    assert issubclass(TaskFormatError, InfraError)


def test_tasks_come_in_the_order_of_their_numbers(write: Write, tmp_path: Path) -> None:
    sound = write()
    root = tmp_path / "root"
    for name in ("task_10_b", "task_2_z", "task_2_a", "__pycache__", ".git"):
        shutil.copytree(sound, root / name)
    (root / "notes.txt").write_text("not a folder")
    assert [task.id for task in load_tasks(root)] == ["task_2_a", "task_2_z", "task_10_b"]
