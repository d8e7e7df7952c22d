"""What can be earned without reading the query: the bounds that keep the reward from being for sale."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from grading.samples import make_task, ran, random_task
from grading.stuffing import KINDS, reviews
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.report import grade_rewrite
from sql_optim_env.tasks.task import Task
from sql_optim_env.tasks.vocabulary import IssueType, Severity

LIMIT = 0.2
ECHO = ran(1_000)
TASKS = [random_task(seed) for seed in range(12)]
PRIOR = tuple(
    kind for kind, _ in Counter(issue.issue_type for seed in range(200) for issue in random_task(seed).rewrite.issues).most_common()
)


def _crowded_task() -> Task:
    """Five issues within three lines, one of every type at hand: the best that listing everything can meet."""
    issues = tuple(issue for seed in range(3) for issue in random_task(seed).rewrite.issues)
    kinds = {issue.issue_type: issue for issue in issues}
    crowded = [type(issue)(kind, 5 + n % 3, Severity.HIGH, issue.also) for n, (kind, issue) in enumerate(sorted(kinds.items()))]
    return make_task(issues=tuple(crowded[:5]))


@pytest.mark.parametrize("task", [*TASKS, _crowded_task()], ids=[*map(str, range(len(TASKS))), "crowded"])
def test_stuffing_an_echo_stays_under_the_limit(task: Task) -> None:
    best = max(((grade_rewrite(task, review, ECHO).score, name) for name, review in reviews(task, PRIOR)), default=(0.0, ""))
    assert best[0] <= LIMIT, best


@pytest.mark.parametrize("task", [*TASKS, _crowded_task()], ids=[*map(str, range(len(TASKS))), "crowded"])
def test_listing_the_whole_vocabulary_earns_exactly_nothing(task: Task) -> None:
    everything = [review for name, review in reviews(task, PRIOR) if name.startswith("every") or name == "words alone"]
    assert {grade_rewrite(task, review, ECHO).score for review in everything} == {0.0}


@pytest.mark.parametrize("seed", range(12))
def test_asking_the_feedback_which_guesses_were_right_does_not_help(seed: int) -> None:
    """Submits a slice of the vocabulary, keeps what is confirmed, and goes on with the next slice, five times."""
    task, rng = random_task(seed), Random(seed)
    lines = range(2, task.sql.count("\n") + 2, 3)
    untried = [(kind, line) for kind in KINDS for line in lines]
    rng.shuffle(untried)
    known: set[tuple[str, int]] = set()
    best = 0.0
    for _ in range(5):
        guesses, untried = untried[:10], untried[10:]
        claims = [ClaimedIssue(word, line, "high") for word, line in [*sorted(known), *((kind.value, line) for kind, line in guesses)]]
        report = grade_rewrite(task, SubmittedReview(tuple(claims), " ".join(word for word, _ in known), False), ECHO)
        known |= {(match.issue_type, match.line) for match in report.matched}
        best = max(best, report.score)
    assert best <= LIMIT


@pytest.mark.parametrize("approved", [None, False, True])
def test_stuffing_an_optimal_query_earns_nothing_or_little(approved: bool | None) -> None:
    task = make_task(optimal=True)
    claims = tuple(ClaimedIssue(kind.value, 3, "high") for kind in IssueType)
    score = grade_rewrite(task, SubmittedReview(claims, " ".join(IssueType), approved), ECHO).score
    # Approving a copy is the right answer there; what the stuffing adds to it is next to nothing.
    assert score == (pytest.approx(0.63 + 0.25 / 28, abs=1e-6) if approved else 0.0)


def test_an_honest_half_of_the_issues_is_paid_well_above_any_stuffing() -> None:
    task = make_task()
    half = task.rewrite.issues[:2]
    claims = tuple(ClaimedIssue(issue.issue_type.value, issue.line, issue.severity.value) for issue in half)
    words = ", ".join(issue.issue_type.value.replace("_", " ") for issue in half)
    assert grade_rewrite(task, SubmittedReview(claims, words, False), ECHO).score > 0.25
