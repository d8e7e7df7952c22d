"""What a review's text is worth: issue detection, severities, the verdict and the summary. Pure functions, each in [0, 1].

A list or a summary is paid above what naming the whole vocabulary would reach at best (its *floor*), so listing everything earns nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sql_optim_env.grading.matching import best_matching
from sql_optim_env.grading.score import clamp
from sql_optim_env.grading.summary import declares_optimal, named_types
from sql_optim_env.tasks.task import ExpectedIssue
from sql_optim_env.tasks.vocabulary import IssueType, Severity

__all__ = [
    "LINE_SLACK",
    "ClaimedIssue",
    "Match",
    "SubmittedReview",
    "above_floor",
    "clean_list_score",
    "clean_summary_score",
    "detection_floor",
    "detection_score",
    "f1",
    "match_issues",
    "severity_score",
    "summary_floor",
    "summary_score",
]

LINE_SLACK = 1
"""How many lines a claim may be off."""

_VOCABULARY = frozenset(IssueType)


@dataclass(frozen=True, slots=True)
class ClaimedIssue:
    """One issue as the agent wrote it; ``line`` is 1-based, None when the agent named none (such a claim never matches)."""

    issue_type: str
    line: int | None
    severity: str = ""

    @property
    def kind(self) -> IssueType | None:
        """The vocabulary's word for the claim, case and separators aside; None when it is no word of the vocabulary."""
        word = re.sub(r"[\s_-]+", "_", self.issue_type.strip().lower())
        return IssueType(word) if word in _VOCABULARY else None

    @property
    def level(self) -> Severity | None:
        """The claimed severity, None when it is no level."""
        word = self.severity.strip().lower()
        return Severity(word) if word in frozenset(Severity) else None


@dataclass(frozen=True, slots=True)
class SubmittedReview:
    """The text of a submission: claims, summary, and the verdict (None: no verdict given)."""

    claims: tuple[ClaimedIssue, ...] = ()
    summary: str = ""
    approved: bool | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A claim that names an expected issue: positions in the two lists."""

    expected: int
    claim: int


def f1(right: int, claimed: int, expected: int) -> float:
    """The harmonic mean of precision and recall, 0.0 when nothing is right."""
    return 2.0 * right / (claimed + expected) if right else 0.0


def above_floor(value: float, floor: float) -> float:
    """``value`` rescaled so that ``floor`` and below is 0.0 and 1.0 stays 1.0."""
    return clamp((value - floor) / (1.0 - floor)) if floor < 1.0 else float(value >= 1.0)


def match_issues(expected: Sequence[ExpectedIssue], claims: Sequence[ClaimedIssue]) -> tuple[Match, ...]:
    """Pair claims with expected issues one to one: as many as possible, then as many right severities, then as many exact lines."""
    weights: list[dict[int, int]] = []
    scale = len(expected) + 1
    for issue in expected:
        weights.append(
            {
                position: scale * scale + scale * (claim.level is issue.severity) + (claim.line == issue.line)
                for position, claim in enumerate(claims)
                if claim.kind is not None
                and claim.kind in (issue.issue_type, *issue.also)
                and claim.line is not None
                and abs(claim.line - issue.line) <= LINE_SLACK
            }
        )
    return tuple(Match(left, right) for left, right in sorted(best_matching(weights).items()))


def detection_floor(expected: int) -> float:
    """The F1 of the whole vocabulary listed where every issue stands: what knowing nothing reaches at best."""
    return f1(expected, len(IssueType), expected)


def detection_score(expected: Sequence[ExpectedIssue], claims: Sequence[ClaimedIssue], matches: Sequence[Match]) -> float:
    """F1 of the claims above :func:`detection_floor`. Duplicates, unknown types and claims without a line are false claims."""
    if not expected:
        return 0.0
    return above_floor(f1(len(matches), len(claims), len(expected)), detection_floor(len(expected)))


def severity_score(expected: Sequence[ExpectedIssue], claims: Sequence[ClaimedIssue], matches: Sequence[Match]) -> float:
    """The share of the expected issues that were found with the right severity."""
    if not expected:
        return 0.0
    right = sum(claims[match.claim].level is expected[match.expected].severity for match in matches)
    return right / len(expected)


def summary_floor(expected: Sequence[ExpectedIssue]) -> float:
    """What a summary that names the whole vocabulary reaches: precision is the share of its words that are right, recall is 1."""
    return _summary_f1(expected, _VOCABULARY)


def summary_score(expected: Sequence[ExpectedIssue], summary: str) -> float:
    """F1 over the issue types that the summary names, above :func:`summary_floor`; its length counts for nothing."""
    return above_floor(_summary_f1(expected, named_types(summary)), summary_floor(expected)) if expected else 0.0


def clean_list_score(claims: Sequence[ClaimedIssue]) -> float:
    """Detection where nothing is wrong: 1.0 for an empty list, falling with every claim."""
    return 1.0 / (1.0 + len(claims))


def clean_summary_score(summary: str) -> float:
    """The summary where nothing is wrong: it must say that the query is fine, and it loses with every issue it names all the same."""
    return 1.0 / (1.0 + len(named_types(summary))) if declares_optimal(summary) else 0.0


def _summary_f1(expected: Sequence[ExpectedIssue], named: frozenset[IssueType]) -> float:
    accepted = [frozenset((issue.issue_type, *issue.also)) for issue in expected]
    right_words = len(named & frozenset().union(*accepted))
    if not right_words:
        return 0.0
    precision = right_words / len(named)
    recall = sum(bool(words & named) for words in accepted) / len(accepted)
    return 2.0 * precision * recall / (precision + recall)
