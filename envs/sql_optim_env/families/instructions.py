"""The text that tells a model everything it needs to produce a valid action of the rewrite family."""

from __future__ import annotations

import json

from sql_optim_env.families.base import RewardMode
from sql_optim_env.grading.analysis import LINE_SLACK
from sql_optim_env.grading.feedback import HAZARDS
from sql_optim_env.grading.report import IMPROVEMENT_THRESHOLD, WEIGHTS, RewardProfile
from sql_optim_env.models import MAX_SQL_LENGTH
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import ISSUE_TYPES

__all__ = ["rewrite_instructions"]

_EXAMPLE = {
    "kind": "submit",
    "optimized_query": "SELECT ...",
    "suggestions": [
        {"issue_type": "<word of the vocabulary>", "line": 1, "severity": "low", "description": "what is wrong", "fix": "how to mend it"}
    ],
    "summary": "...",
    "approved": False,
}

_PAID: dict[RewardProfile, str] = {
    "composite": (
        "The score is a sum of {weights}. execution_speedup is log(original cost / your cost) on a scale where the best known rewrite is 1."
        " result_correctness is paid for an equal result with at least {threshold:.0%} of that improvement: a copy earns nothing."
        " issue_detection is an F1 (false and duplicate claims cost), the summary is paid for naming the issues that are there, not for"
        " length, and a severity must be right. approved=false is paid only with a reason: mostly right suggestions or a better query."
        " Some queries are already optimal. Then hand in the query unchanged with approved=true, no suggestions, and a summary saying that"
        " it is optimal; nothing else is paid there."
    ),
    "execution": (
        "The score is log(original cost / your cost) on a scale where the best known rewrite is 1, and 0 unless the result is equal."
        " Some queries are already optimal; there an equal query that is not costlier scores 1. The review's text is not scored."
    ),
    "binary": (
        "The score is 1 when the result is equal and at least half of the best known improvement (on the log scale of cost) is reached,"
        " else 0. Some queries are already optimal; there an equal query that is not costlier scores 1. The review's text is not scored."
    ),
}

_REWARD: dict[RewardMode, str] = {
    "telescoping": "A step's reward is how far its score exceeds your best score so far, so repeating an answer pays 0.",
    "absolute": "A step's reward is its score.",
}


def rewrite_instructions(task: Task, profile: RewardProfile, reward_mode: RewardMode) -> str:
    """The instructions of one task, under 6 KiB of text; it names nothing of the grader's data."""
    weights = ", ".join(f"{name} {weight:.2f}" for name, weight in WEIGHTS.items())
    vocabulary = "\n".join(f"- {kind.value}: {meaning}" for kind, meaning in ISSUE_TYPES.items())
    return f"""\
Review sql_query and rewrite it so that a {task.dialect} database does less work for exactly the same result. Answer with one JSON \
object and nothing else.

To hand in an answer ({task.max_steps} submissions at most):
{json.dumps(_EXAMPLE)}
- optimized_query: your rewrite, exactly one SELECT (WITH is fine), at most {MAX_SQL_LENGTH} characters.
- suggestions: the issues in sql_query as it was given. line is its 1-based line there (right within {LINE_SLACK}). issue_type is a \
word of the vocabulary below. severity is low (costs less than 2x), medium (less than 10x), high (more) or critical (alone dominates).
- summary: the issues that are there, by their vocabulary words or plain phrases such as "select *".
- approved: true if the query should stay as it is, false if it should be replaced.

To look first ({task.max_explorations} explorations at most, reward 0):
{{"kind": "query", "sql": "SELECT ..."}} shows up to 50 rows of the public data, and the cost.
{{"kind": "explain", "sql": "SELECT ..."}} shows the plan with row counts.

Equality: same number, names and types of columns in the same order, and the same rows with duplicates counted; the order of rows does not \
matter. It is checked on the public data and on hidden data of the same schema ({HAZARDS}).
Refused: more than one statement; anything but SELECT; tables other than {", ".join(task.tables)}; files, settings and catalogue \
functions; random or time-dependent functions; recursion and row generators unless sql_query uses them. A refused or failing submission \
is used up and earns nothing for execution; error.code and error.message say why.

Score: {_PAID[profile].format(weights=weights, threshold=IMPROVEMENT_THRESHOLD)}
{_REWARD[reward_mode]} The episode ends after the last submission or at a score of 0.95.

Vocabulary of issue_type:
{vocabulary}
"""
