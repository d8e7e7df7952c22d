"""Adversaries that know the vocabulary and the length of the query, and nothing of its issues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from grading.samples import every_word
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType, Severity

MAX_CLAIMS = 64
KINDS = tuple(sorted(IssueType))


def reviews(task: Task, prior: Sequence[IssueType]) -> Iterator[tuple[str, SubmittedReview]]:
    """Every stuffed review of a task with the name of its kind; ``prior`` orders the types by how often they occur elsewhere."""
    lines = range(1, task.sql.count("\n") + 2)
    for line in lines:
        for severity in Severity:
            yield "every type on one line", _review(((kind, line) for kind in KINDS), every_word(), severity)
        for kind in KINDS:
            yield "one guess", _review([(kind, line)], kind.value)
        for size in range(2, len(KINDS), 3):
            yield "the likeliest types on one line", _review(((kind, line) for kind in prior[:size]), " ".join(prior[:size]))
            drawn = Random(f"{line} {size}").sample(KINDS, size)
            yield "a random subset on one line", _review(((kind, line) for kind in drawn), " ".join(drawn))
    for stride in (1, 2, 3):
        for start in range(1, stride + 1):
            places = range(start, len(lines) + 1, stride)
            yield "every type on every line", _review(((kind, line) for line in places for kind in KINDS), every_word())
            yield "every line for every type", _review(((kind, line) for kind in KINDS for line in places), every_word())
            for kind in KINDS:
                yield "one type on every line", _review(((kind, line) for line in places), kind.value)
    yield "words alone", SubmittedReview((), every_word(), False)


def _review(
    places: Iterator[tuple[IssueType, int]] | Sequence[tuple[IssueType, int]], summary: str, severity: Severity = Severity.HIGH
) -> SubmittedReview:
    claims = tuple(ClaimedIssue(kind.value, line, severity.value) for kind, line in places)
    return SubmittedReview(claims[:MAX_CLAIMS], summary, False)
