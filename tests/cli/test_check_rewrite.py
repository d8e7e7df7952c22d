from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sql_optim_env.cli import app as command_line
from sql_optim_env.cli import check as command
from sql_optim_env.cli import check_rewrite as module
from sql_optim_env.cli.check_gap import Gap
from sql_optim_env.cli.check_rewrite import Careless, TaskBench, TaskCheck, check_task, load_careless
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.errors import InfraError
from sql_optim_env.sandbox.workbench import task_instances
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import ExpectedIssue, RewriteGrader, Task
from sql_optim_env.tasks.vocabulary import IssueType, Severity

WRONG = Path(__file__).parent.parent / "tasks" / "wrong"
CANARIES = Path(__file__).parent.parent / "contract" / "canaries"
TASKS = [task.id for task in catalogue().select(family="rewrite")]


def failed(result: TaskCheck) -> dict[str, str]:
    """The claims that do not hold and that no clock decided."""
    return {claim.name: claim.seen for claim in result.claims if not claim.holds and not claim.clock}


def task(sql: str, reference: str | None = None, *equivalents: str) -> Task:
    """A small task; without a reference its query is claimed to be optimal."""
    optimal = reference is None
    grader = RewriteGrader(
        reference_sql=reference or sql,
        issues=() if optimal else (ExpectedIssue(IssueType.NON_SARGABLE_PREDICATE, 1, Severity.HIGH),),
        summary="It is already optimal." if optimal else "A non-sargable predicate.",
        optimal=optimal,
        equivalents=equivalents,
    )
    return replace(catalogue().get(TASKS[0]), id="task_of_a_test", sql=sql, grader=grader)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the twin and the adversarial instances, which show a verdict as well and are soon run."""

    def fewer(task: Task) -> tuple[Instance, ...]:
        return tuple(instance for instance in task_instances(task) if instance.name in ("twin", "ties", "mixed"))

    monkeypatch.setattr(module, "task_instances", fewer)


COUNT_SLOWLY = "SELECT count(*) AS n FROM events WHERE strftime(occurred_at, '%Y') = '2024'"
COUNT = "SELECT count(*) AS n FROM events WHERE occurred_at >= TIMESTAMP '2024-01-01' AND occurred_at < TIMESTAMP '2025-01-01'"


@pytest.mark.parametrize("task_id", TASKS)
def test_every_builtin_task_is_what_it_claims_to_be(task_id: str, data_dir: Path) -> None:
    careless = load_careless(WRONG, task_id)
    assert len(careless) >= 8
    assert failed(check_task(catalogue().get(task_id), data_dir, careless, repeats=1)) == {}


@pytest.mark.usefixtures("small")
def test_a_sound_task_passes_and_shows_its_headroom(data_dir: Path) -> None:
    result = check_task(task(COUNT_SLOWLY, COUNT), data_dir, repeats=1)
    assert failed(result) == {}
    assert [ratio.instance for ratio in result.headroom] == ["twin"]
    assert result.headroom[0].cost > 5


@pytest.mark.usefixtures("small")
def test_a_reference_that_is_not_cheaper_fails(data_dir: Path) -> None:
    same = COUNT_SLOWLY.replace("AS n", "AS N")
    assert failed(check_task(task(COUNT_SLOWLY, same), data_dir, repeats=1)) == {"the reference costs 2 times less": "1.0x"}


@pytest.mark.usefixtures("small")
def test_an_equivalent_that_differs_or_does_not_run_fails(data_dir: Path) -> None:
    inclusive = COUNT.replace("< TIMESTAMP", "<= TIMESTAMP")
    result = failed(check_task(task(COUNT_SLOWLY, COUNT, inclusive, "SELECT count(*) AS n FROM visits"), data_dir, repeats=1))
    assert list(result) == ["the reference and 2 equivalents are accepted"]
    first, second = result["the reference and 2 equivalents are accepted"].split("; ", 1)
    assert first.startswith("equivalent 1: on mixed: ")
    assert second.startswith("equivalent 2: refused_table: ")


@pytest.mark.usefixtures("small")
def test_a_careless_rewrite_must_be_told_apart_by_its_result(data_dir: Path) -> None:
    careless = [
        Careless("the end is included", COUNT.replace("< TIMESTAMP", "<= TIMESTAMP")),
        Careless("it is right after all", COUNT),
        Careless("it does not run", "SELECT n FROM events"),
    ]
    result = failed(check_task(task(COUNT_SLOWLY, COUNT), data_dir, careless, repeats=1))
    assert list(result) == ["refused: it is right after all", "refused: it does not run"]
    assert result["refused: it is right after all"] == "equal on every instance"
    assert result["refused: it does not run"].startswith("binding_error")


@pytest.mark.usefixtures("small")
def test_an_optimal_query_that_an_alternative_beats_fails(data_dir: Path) -> None:
    result = failed(check_task(task(COUNT_SLOWLY, None, COUNT), data_dir, repeats=1))
    assert list(result) == ["no known alternative costs less"]
    assert result["no known alternative costs less"].startswith("equivalent 1 (")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, total FROM orders ORDER BY total DESC LIMIT 5",
        "SELECT customer_id, arg_max(status, created_at) AS status FROM orders GROUP BY customer_id",
        "SELECT id FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY created_at DESC) = 1",
    ],
    ids=["limit_among_ties", "arg_max_among_ties", "row_number_among_ties"],
)
def test_a_query_whose_result_depends_on_the_order_of_rows_fails(sql: str, data_dir: Path) -> None:
    assert "the result depends neither on the order of rows nor on threads" in failed(check_task(task(sql), data_dir, repeats=1))


@pytest.mark.usefixtures("small")
def test_a_query_without_rows_fails(data_dir: Path) -> None:
    assert failed(check_task(task("SELECT id FROM orders WHERE total > 90000000"), data_dir, repeats=1)) == {
        "the result has rows on public and twin and on an edge instance": "none on twin"
    }


@pytest.mark.usefixtures("small")
def test_a_summary_that_names_too_little_and_a_line_outside_fail(data_dir: Path) -> None:
    sound = task(COUNT_SLOWLY, COUNT)
    issues = (ExpectedIssue(IssueType.SELECT_STAR, 2, Severity.LOW),)
    result = failed(check_task(replace(sound, grader=replace(sound.rewrite, issues=issues)), data_dir, repeats=1))
    assert result == {
        "every issue stands on a line of the query": "select_star",
        "the summary names what is there and nothing else": "0.000 of 1",
    }


def test_every_literal_of_a_query_has_edge_instances(data_dir: Path) -> None:
    bench = TaskBench(catalogue().get(TASKS[0]), data_dir)
    roles = [instance.role for instance in bench.instances]
    assert roles.count("edge") >= 1
    assert [instance.role for instance in bench.scored] == ["public", "twin"]


def run_check(monkeypatch: pytest.MonkeyPatch, *arguments: str, holds: bool = True, best: float = 0.1) -> Result:
    """What the command prints and exits with when a claim and the gap are as given; no task is run and no server started."""

    def judged(task: Task, data_dir: Path, careless: object, *, repeats: int) -> TaskCheck:
        return TaskCheck(task.id, (module.Claim("a [claim]", holds, "seen"),), (module.Ratio("public", 8.0, 7.0),), 90.0)

    def played(session: object, tasks: Sequence[Task], canaries: Sequence[object], progress: object) -> list[Gap]:
        return [Gap(task.id, task.family, 1.0, 0.0, "null", best, "a canary", len(canaries)) for task in tasks]

    monkeypatch.setattr(command, "check_task", judged)
    monkeypatch.setattr(command, "local_session", nullcontext)
    monkeypatch.setattr(command, "gaps", played)
    return CliRunner().invoke(command_line, ["check", TASKS[0], *arguments], env={"COLUMNS": "200"})


def test_the_command_prints_tables_and_exits_0_when_every_claim_and_the_gap_hold(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_check(monkeypatch, "--data-dir", str(data_dir), "--verbose", "--canaries", str(CANARIES))
    assert result.exit_code == 0
    assert f"ok {TASKS[0]}: a [claim] seen" in result.output
    assert "public 8.0x, 7.0x" in result.output
    assert "gameability: gap at least 0.8" in result.output
    assert "0.900" in result.output


def test_the_command_exits_1_when_a_claim_fails(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_check(monkeypatch, "--data-dir", str(data_dir), "--canaries", str(CANARIES), holds=False)
    assert result.exit_code == 1
    assert f"no {TASKS[0]}: a [claim] seen" in result.output


def test_the_command_exits_1_when_the_gap_is_too_small(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_check(monkeypatch, "--data-dir", str(data_dir), "--canaries", str(CANARIES), best=0.3).exit_code == 1


def test_without_canaries_the_command_says_that_the_gap_was_not_measured(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_check(monkeypatch, "--data-dir", str(data_dir), "--canaries", "nowhere")
    assert result.exit_code == 0
    assert "gameability was not measured: there is no directory nowhere" in result.output


def test_an_audit_task_that_cannot_be_played_fails_and_the_next_is_checked(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(session: object, task: Task, lookup: object) -> None:
        raise InfraError(f"no {task.id} today")

    monkeypatch.setattr(command, "local_session", nullcontext)
    monkeypatch.setattr(command, "check_audit_task", broken)
    arguments = ["check", "dedup_bug", "fk_integrity", "--data-dir", str(data_dir), "--canaries", "nowhere"]
    result = CliRunner().invoke(command_line, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 1
    for task_id in ("dedup_bug", "fk_integrity"):
        assert f"no {task_id}: the task runs infra_error: no {task_id} today" in result.output


def test_the_command_lists_the_tasks_when_it_is_asked_for_another() -> None:
    result = CliRunner().invoke(command_line, ["check", "task_99"], env={"COLUMNS": "300"})
    assert result.exit_code == 2
    assert TASKS[0] in result.output
