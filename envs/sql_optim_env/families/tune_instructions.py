"""The text that tells a model everything it needs to produce a valid action of the tune family."""

from __future__ import annotations

import json

from sql_optim_env.engines.sqlite import describe_rules
from sql_optim_env.families.base import RewardMode
from sql_optim_env.grading.feedback import HAZARDS
from sql_optim_env.grading.report import BINARY_THRESHOLD, RewardProfile
from sql_optim_env.models import MAX_SQL_LENGTH
from sql_optim_env.sandbox.tune_jobs import MAX_GROWTH
from sql_optim_env.tasks.task import Task

__all__ = ["tune_instructions"]

_EXAMPLE = {"kind": "submit", "optimized_query": "SELECT ...", "ddl": ["CREATE INDEX some_name ON some_table(some_column)", "ANALYZE"]}

_SCORE = "log(original pages / your pages) / log(original pages / pages of the best known submission), held between 0 and 1"


def tune_instructions(task: Task, profile: RewardProfile, reward_mode: RewardMode) -> str:
    """The instructions of one task, under 6 KiB of text; it names nothing of the grader's data.

    ``reward_mode`` makes no difference: an episode has one submission.
    """
    limits = task.tune
    score = f"1 if {_SCORE}, is at least {BINARY_THRESHOLD:g}, else 0" if profile == "binary" else _SCORE
    return f"""\
Make sql_query ask its SQLite database for fewer pages: rewrite it, add supporting indexes, or both. First experiment on your own copy, \
then submit once. Answer with one JSON object and nothing else.

To submit (once; it ends the episode, also when it is refused):
{json.dumps(_EXAMPLE)}
- optimized_query: exactly one SELECT (WITH is fine), at most {MAX_SQL_LENGTH} characters. Empty: sql_query stays as it is.
- ddl: the supporting DDL, run in order before the query; may be empty. Both empty: nothing is submitted, and the score is 0.

To experiment ({task.max_explorations} actions at most, reward 0):
{{"kind": "query", "sql": "..."}} runs one statement on your own copy of the public data and shows up to 50 rows and its logical_reads. \
Any statement that stays inside the copy: SELECT, CREATE, DROP, INSERT, UPDATE, DELETE, ANALYZE, PRAGMA, VACUUM, EXPLAIN. What it changes \
stays for your next experiments and counts for nothing else: break the copy, and only your experiments suffer. Each statement has a \
connection and a transaction of its own, so settings and temporary tables do not stay. The copy may grow by {MAX_GROWTH >> 20} MiB.
{{"kind": "explain", "sql": "SELECT ..."}} shows the plan that SQLite would choose on your copy, as it is now.

What counts: logical reads, every page of 4096 bytes that the engine asks for while it runs the query, in the cache or not. Nothing else: \
not time, not the plan's looks, not full scans. Building the indexes is free. Work on sorters, temporary tables and automatic indexes \
costs no page, but a query that takes more than {limits.max_vm_steps:,} steps of SQLite's virtual machine, or spills more than \
{limits.max_spill_bytes:,} bytes, is stopped and earns 0. An index can make a query ask for more pages: measure before you submit.

Grading: your DDL and query run on fresh databases with the schema of schema_info: the public data, other data of the same size, and small \
data full of hazards ({HAZARDS}). Your copy and what you did to it play no part.
Equality: same number and names of columns in the same order, and the same rows with duplicates counted; the order of rows does not \
matter. Values must be of the same storage class: integer 1, real 1.0 and text '1' are three values. It is checked on all the data; one \
difference makes the score 0.
Score: {score}; the smallest over the public data and the other data of the same size.

Rules of the DDL (one item that breaks a rule makes the score 0):
{describe_rules(task.max_indexes)}
Rules of the query: one SELECT that reads only {", ".join(task.tables)}; no other tables, no table-valued functions, no PRAGMA; no random \
or time-dependent functions; no writes. INDEXED BY, NOT INDEXED, CROSS JOIN, unary + and AS MATERIALIZED are fine.
error.code and error.message say what was refused and why.
"""
