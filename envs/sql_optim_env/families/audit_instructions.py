"""The text that tells a model everything it needs to produce valid actions of the audit family."""

from __future__ import annotations

import json
from typing import Final

from sql_optim_env.families.episode import MAX_MISSTEPS
from sql_optim_env.grading.audit import ANSWER_WEIGHTS, CATASTROPHE_CAP, FIX_WEIGHTS, LEAST_SCORE, MOST_SCORE
from sql_optim_env.grading.report import BINARY_THRESHOLD, RewardProfile
from sql_optim_env.models import MAX_SQL_LENGTH
from sql_optim_env.tasks.audit.scenario import AnswerField, Scenario
from sql_optim_env.tasks.task import Task

__all__ = ["audit_instructions"]

_FIELDS: Final[dict[AnswerField, str]] = {
    "answer": "the answer that task_description asks for",
    "root_cause_table": "the table that the defect comes from",
    "offending_key": "the column that the defect can be told by, as task_description asks for it",
}

_FINDING: Final = (
    "Found means: a query or profile read the defective column, and its statement went through all the rows of the table (LIMIT 5 shows"
    " what sample_rows shows). What the engine read counts, not the words of your statement: a column in a comment is not read."
)


def audit_instructions(task: Task, scenario: Scenario, profile: RewardProfile) -> str:
    """The instructions of one episode, under 6 KiB of text; of ``scenario`` they name what it asks for and nothing else."""
    parts = [_opening(scenario), _looking(task, scenario)]
    if scenario.fixable:
        parts.append(_fixing(task))
    parts += [_submitting(scenario), _grading(scenario, profile)]
    return "\n\n".join(parts) + "\n"


def _opening(scenario: Scenario) -> str:
    task = "find the defect, repair it by a script, check the repair, then submit" if scenario.fixable else "find the defect, then submit"
    return (
        f"A SQLite database has one planted defect, and task_description says how it shows: {task}. Every action is one JSON object and"
        " nothing else. history holds what you did so far."
    )


def _looking(task: Task, scenario: Scenario) -> str:
    text = f"""\
To look ({task.max_explorations} query and profile actions together, reward 0; one that fails is used up too):
{{"kind": "query", "sql": "SELECT ..."}} runs exactly one reading statement on the broken database and shows up to 50 rows: SELECT, WITH, \
VALUES, EXPLAIN QUERY PLAN, or a PRAGMA that only reads, such as PRAGMA table_info(some_table), index_list, foreign_key_list, \
foreign_key_check. sqlite_schema can be read too. No random or clock functions. It changes nothing.
{{"kind": "profile", "table": "some_table", "column": "some_column"}} shows a column's rate of NULLs, distinct values, smallest and \
largest value, and rows of each storage class."""
    if scenario.fixable:
        text += """
Once a fix stands, query and profile run on the broken database as before (rows) and also on a copy with the fix applied (repaired)."""
    return text


def _fixing(task: Task) -> str:
    return f"""\
To repair ({task.max_fixes} fix actions, reward 0; one that fails is used up too):
{{"kind": "fix", "sql": "UPDATE ...; DELETE ...;"}} runs a script of one or more statements, at most {MAX_SQL_LENGTH:,} characters, \
on a fresh copy of the broken database: INSERT, UPDATE, DELETE, CREATE TABLE, CREATE INDEX, CREATE VIEW, ALTER TABLE, DROP, \
SELECT. All or nothing: with one statement failing, nothing of it stands. It shows what it did to every \
table, and the rows of its last SELECT.
- Each script starts from the broken database, never from what an earlier one left: put the whole repair into one script.
- The last script that ran without error stands, and it alone is graded. A failed one leaves the earlier one standing.
- Refused: ATTACH, VACUUM, triggers, virtual tables, PRAGMAs that set something, loading extensions, random and clock functions, \
SAVEPOINT, ROLLBACK, and work without end. BEGIN and COMMIT are not needed.
- Mend or remove only what is defective. Good rows, other tables and the column types stay as they are unless task_description asks \
otherwise."""


def _submitting(scenario: Scenario) -> str:
    example = {"kind": "submit"} | {name: "..." for name in scenario.asks}
    lines = [f"To submit (once; it grades what stands and ends the episode):\n{json.dumps(example)}"]
    lines += [f"- {name}: {_FIELDS[name]}; the bare name or value, one only." for name in scenario.asks]
    return "\n".join(lines)


def _grading(scenario: Scenario, profile: RewardProfile) -> str:
    lines = _fix_grading(scenario) if scenario.fixable else _answer_grading()
    lines.append(f"The score is the sum, held between {LEAST_SCORE} and {MOST_SCORE}; a submission without a look earns {LEAST_SCORE}.")
    if profile == "binary":
        lines[-1] = f"The score is {MOST_SCORE} if the sum is at least {BINARY_THRESHOLD:g}, else {LEAST_SCORE}."
    lines.append(
        f"An action of another kind, and one beyond its budget, does nothing; {MAX_MISSTEPS} of them end the episode without a score."
        " error.code and error.message say what was wrong: kind_not_allowed, no_explorations_left, no_fixes_left, empty_sql, sql_too_long,"
        " syntax_error, not_one_select, refused_function, refused_table, refused_syntax, binding_error (a name that does not exist),"
        " execution_error, timeout, out_of_memory, result_too_large, engine_crash."
    )
    return "\n".join(lines)


def _fix_grading(scenario: Scenario) -> list[str]:
    weights = FIX_WEIGHTS
    named = " Multiplied by how right the fields of submit are." if scenario.asks else ""
    ruin = "empties or drops a table that is there, or loses most of the rows,"
    if scenario.good_decides:
        ruin = "drops or empties the table to be repaired, or loses more than half of its good rows,"
    return [
        "Grading:",
        f"- {weights['fix_correctness']:.2f} the fix, on the broken database: perfect 1 (all defects mended, all else unchanged),"
        " acceptable 0.6 (95 % mended, 99 % of the good rows kept), dangerous 0.2 (half mended; a share of"
        " good rows lost counts three times against it), else 0.",
        f"- {weights['generalisation']:.2f} the same script on four databases with the same names: this one, one whose defective table"
        " has one more column, one with other shares and sizes, one with other values.",
        f"- {weights['diagnostic_efficiency']:.2f} finding the defect before the fix with 2 looks (1), 4 (0.7) or 6 (0.4). {_FINDING}",
        f"- {weights['hypothesis_quality']:.2f} looking at the structure of the defective table (PRAGMA or sqlite_schema) before its"
        f" columns: 1; columns without it: 0.6.{named}",
        f"- {weights['self_verification']:.2f} a look after the standing fix at what was defective, whose result would be"
        " another one had the fix done nothing.",
        "The last three are paid in full for a perfect or acceptable fix, at a fifth for a dangerous one, else not at all.",
        f"A fix that {ruin} caps the score at {CATASTROPHE_CAP:g}.",
    ]


def _answer_grading() -> list[str]:
    weights = ANSWER_WEIGHTS
    return [
        "Grading:",
        f"- {weights['answer_correctness']:.2f} the answer: right 1; a slip in the spelling of the right name 0.5; else 0. It counts only"
        " when you have found the defect by a look.",
        f"- {weights['diagnostic_efficiency']:.2f} finding the defect with 2 looks (1), 4 (0.7) or 6 (0.4). {_FINDING}",
        f"- {weights['hypothesis_quality']:.2f} looking at the structure of the defective table (PRAGMA or sqlite_schema) before"
        " its columns: 1; columns without it: 0.6.",
        "The last two are paid as far as the answer is right.",
    ]
