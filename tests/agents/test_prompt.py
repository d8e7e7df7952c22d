from __future__ import annotations

from sql_optim_env.agents.prompt import MAX_TURN_CHARS, correction_text, opening_text, turn_text
from sql_optim_env.models import (
    ColumnInfo,
    ColumnProfile,
    ExecutionInfo,
    ObservationError,
    RepairedResult,
    SQLOptimObservation,
    TableChangeInfo,
    TableSampleInfo,
)

OPENING = SQLOptimObservation(
    task_name="The slow one",
    task_description="It is slow.",
    sql_query="SELECT 1",
    schema_info="CREATE TABLE t (a INTEGER);",
    dialect="sqlite",
    instructions="Do this.",
    allowed_kinds=["submit", "query"],
    submissions_left=2,
    explorations_left=5,
)


def test_the_opening_holds_all_that_is_needed() -> None:
    assert opening_text(OPENING) == (
        "Do this.\n\n# Task: The slow one\nIt is slow.\n\n# sql_query (sqlite)\nSELECT 1\n\n# schema_info\nCREATE TABLE t (a INTEGER);\n\n"
        "Submissions left: 2; explorations left: 5. Your first action, as one JSON object:"
    )


def test_the_opening_of_an_audit_shows_first_rows_and_fixes_and_no_query() -> None:
    sample = TableSampleInfo(table="t", columns=["a", "b"], rows=[[1, "x"], [None, "é"]], row_count=900)
    text = opening_text(
        OPENING.model_copy(update={"sql_query": "", "sample_rows": [sample], "allowed_kinds": ["query", "fix"], "fixes_left": 3})
    )
    assert '# First rows\nt (a, b):\n[1, "x"]\n[null, "é"]\n' in text
    assert "fixes left: 3." in text
    assert "sql_query" not in text


def test_a_turn_tells_what_came_of_the_action_and_not_the_task_again() -> None:
    text = turn_text(
        OPENING.model_copy(
            update={
                "reward": 0.25,
                "score": 0.25,
                "feedback": "Half way.",
                "columns": [ColumnInfo(name="a", type="INTEGER"), ColumnInfo(name="b", type="TEXT")],
                "rows": [[1, "x"], [2, "y" * 500]],
                "row_count": 2,
                "plan": "SCAN t\nSORT",
                "last_execution": ExecutionInfo(submitted_cost=7),
            }
        )
    )
    assert text.splitlines() == [
        "reward: 0.25",
        "columns: a INTEGER, b TEXT",
        "rows:",
        '[1, "x"]',
        f'[2, "{"y" * 200}..."]',
        "row_count: 2",
        "plan:",
        "SCAN t",
        "SORT",
        "score: 0.25",
        "feedback: Half way.",
        'last_execution: {"submitted_cost": 7}',
        "",
        "Submissions left: 2; explorations left: 5. Your next action, as one JSON object:",
    ]


def test_a_turn_tells_of_errors_profiles_and_fixes() -> None:
    profile = ColumnProfile(table="t", column="a", declared_type="TEXT", row_count=4, null_count=1, null_rate=0.25, distinct_count=3)
    text = turn_text(
        SQLOptimObservation(
            error=ObservationError(code="binding_error", message="no such column: b"),
            profile=profile,
            repaired=RepairedResult(rows=[[1]]),
            changes=[TableChangeInfo(table="t", rows_before=4, rows_after=3, rows_added=0, rows_removed=1)],
        )
    )
    assert "error: binding_error: no such column: b\n" in text
    assert '"null_rate": 0.25' in text
    assert 'repaired: {"rows": [[1]]}' in text
    assert '"rows_removed": 1' in text


def test_long_results_are_cut_at_a_row_and_long_turns_at_a_line() -> None:
    rows = [[number, "z" * 190] for number in range(200)]
    text = turn_text(OPENING.model_copy(update={"rows": rows, "plan": "SCAN\n" * 2_000, "feedback": "f" * 3_900}))
    shown = [line for line in text.splitlines() if line.startswith("[") and "zzz" in line]
    assert shown
    assert all(line.endswith('z"]') for line in shown)
    assert "more characters left out]" in text
    assert len(text) < MAX_TURN_CHARS + 200


def test_a_correction_says_that_nothing_was_done_and_why() -> None:
    assert correction_text("It was empty.").startswith("That was no valid action, so nothing was done. It was empty. Answer again")
