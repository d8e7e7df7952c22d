"""What an agent is told about its submission, in words.

It holds only what the agent may know: figures and example rows of the public instance, the claims that were confirmed, and general
hazards. Never a row of a hidden instance, never an issue it has not named, never how many there are, and no clock's figure, so that
the same answer always gets the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sql_optim_env.engines.base import Difference
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.grading.evidence import InstanceMeasurement, RewriteEvidence

__all__ = ["HAZARDS", "Gain", "example_lines", "failure_message", "write"]

HAZARDS = "NULLs, duplicates, ties, empty or one-row groups, rows without a partner, boundary dates, other values"
"""What differs between instances of a schema, in general; said instead of showing hidden rows."""

Gain = Literal["none", "small", "paid", "kept"]
"""What the execution of a correct answer earned: nothing, not all that being right pays, its improvement, or the pay for keeping an
optimal query as it is. Unless it was paid, an optimal query gets the words of any other."""

_MAX_EXAMPLES = 5
_MAX_VALUE = 120


def write(
    evidence: RewriteEvidence | None,
    review: SubmittedReview | None,
    confirmed: Sequence[int],
    gain: Gain,
) -> str:
    """The feedback text: first what the execution showed, then what of the review was confirmed.

    ``review`` is None where the profile leaves the text out; ``confirmed`` are positions of right claims in a list that is credited.
    """
    lines = _execution_lines(evidence, gain, judges_text=review is not None)
    if review is not None:
        lines += _review_lines(review, confirmed)
    return "\n".join(lines)


def failure_message(evidence: RewriteEvidence) -> str:
    """Why the submission was refused or failed, in the engine's words; empty when it was not.

    A failure after the public instance was measured happened on hidden data, and an engine's message may quote a value: it is replaced.
    """
    if evidence.error_code is None:
        return ""
    if any(m.role == "public" for m in evidence.measurements):
        return f"the statement ran on the public data and failed on other data of the same schema. Think of what it may hold: {HAZARDS}."
    return evidence.error_message


def _execution_lines(evidence: RewriteEvidence | None, gain: Gain, *, judges_text: bool) -> list[str]:
    if evidence is None:
        return ["Execution: no optimized_query was submitted, so nothing was run and execution earns nothing."]
    if evidence.error_code is not None:
        return [
            f"Execution: {evidence.error_code.value}: {failure_message(evidence)}",
            "Execution earns nothing for a statement that fails.",
        ]
    if not evidence.measurements:
        return ["Execution: nothing was measured, so execution earns nothing."]
    wrong = next((m for m in evidence.measurements if not m.difference.equal), None)
    if wrong is not None:
        return [*_cost_lines(evidence), *_difference_lines(wrong)]
    lines = [*_cost_lines(evidence), "Result: equal on the public data and on every hidden instance."]
    if any(m.hidden_work for m in evidence.measurements if m.scored):
        lines.append(
            "Not paid: the CPU time of the query is far above what its cost explains, so work is hidden where the cost cannot see it"
            " (inside one value, one function call or an expression). Let joins, filters and aggregates do the work."
        )
    elif gain == "none":
        lines.append("Execution earns nothing for this answer: it does about the same work as the original, or more.")
        if judges_text:
            lines.append("Should the query be as good as it gets, then handing it in unchanged is paid together with approved=true.")
    elif gain == "small":
        lines.append("The improvement is too small to be paid in full: see the score rules in the instructions.")
    elif gain == "paid" and len({m.role for m in evidence.measurements if m.scored}) > 1:
        lines.append("Paid is the smallest improvement over the public data and another instance of similar size.")
    return lines


def _cost_lines(evidence: RewriteEvidence) -> list[str]:
    public = next((m for m in evidence.measurements if m.role == "public"), None)
    if public is None:
        return []
    ratio = public.original_cost / max(public.submitted_cost, 1)
    lines = [f"Cost on the public data: original {public.original_cost:,}, submitted {public.submitted_cost:,} work units ({ratio:.2f}x)."]
    if evidence.measure == "time":
        lines.append("This server pays for measured CPU time instead of cost; times stand in last_execution and vary from run to run.")
    return lines


def _difference_lines(measurement: InstanceMeasurement) -> list[str]:
    if measurement.role != "public":
        return [
            "Result: right on the public data, but different on other data of the same schema, so execution earns nothing."
            f" Think of what other data may hold: {HAZARDS}."
        ]
    difference = measurement.difference
    lines = [f"Result: not equal to the original's. {difference.message}".rstrip(), *example_lines(difference)]
    return [*lines, "Execution earns nothing for a result that differs."]


def example_lines(difference: Difference) -> list[str]:
    """How many rows are missing and extra, each with a few of them."""
    lines: list[str] = []
    for label, count, rows in (
        ("missing (expected, not returned)", difference.missing_count, difference.missing),
        ("extra (returned, not expected)", difference.extra_count, difference.extra),
    ):
        if count:
            lines.append(f"  {count:,} {'row' if count == 1 else 'rows'} {label}, for example:")
            lines += ["    (" + ", ".join(_clip(value) for value in row) + ")" for row in rows[:_MAX_EXAMPLES]]
    return lines


def _review_lines(review: SubmittedReview, confirmed: Sequence[int]) -> list[str]:
    lines: list[str] = []
    if confirmed:
        right = set(confirmed)
        lines.append("Issues confirmed: " + ", ".join(_claim(review.claims[i]) for i in sorted(right)) + ".")
        others = [claim for i, claim in enumerate(review.claims) if i not in right]
        if others:
            lines.append("Not confirmed (wrong type, wrong line, or a duplicate): " + ", ".join(_claim(claim) for claim in others) + ".")
    elif review.claims:
        lines.append("Issues: the list as a whole is not credited, so none of it is confirmed. List only what you can point to.")
    unknown = sorted({_clip(claim.issue_type) for claim in review.claims if claim.kind is None})
    if unknown:
        lines.append("Not words of the vocabulary: " + ", ".join(unknown) + ".")
    if any(claim.line is None for claim in review.claims):
        lines.append("A suggestion without a line cannot be confirmed.")
    if review.approved is None:
        lines.append("No verdict was given: set approved to true or false.")
    elif review.approved and review.claims:
        lines.append("The review approves the query and lists issues in it: it contradicts itself.")
    return lines


def _claim(claim: ClaimedIssue) -> str:
    return _clip(claim.issue_type) + ("" if claim.line is None else f" (line {claim.line})")


def _clip(value: str) -> str:
    return value if len(value) <= _MAX_VALUE else value[: _MAX_VALUE - 1] + "…"
