"""What an agent is told about a tune submission, in words.

It holds only what the agent may know: its pages and example rows on the public data, which DDL item was refused and by which rule, and
general hazards. Never a row, a page count or an error text of a hidden instance, and no clock's figure.
"""

from __future__ import annotations

from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.grading.feedback import HAZARDS, example_lines
from sql_optim_env.grading.report import BINARY_THRESHOLD, RewardProfile
from sql_optim_env.grading.tune_evidence import TuneEvidence, TuneMeasurement
from sql_optim_env.tasks.task import Task

__all__ = ["failure", "write"]


def write(task: Task, evidence: TuneEvidence | None, gain: float, profile: RewardProfile) -> str:
    """The feedback text; ``gain`` is the score on the log scale, before a profile makes something else of it."""
    if evidence is None:
        return "Nothing was submitted: neither optimized_query nor ddl. An empty submission earns 0."
    error = failure(evidence)
    if error is not None:
        lines = [f"Refused or failed: {error.code.value}: {error.message}"]
        if evidence.ddl_error_index is not None:
            lines.append("A submission counts as a whole: with one DDL item refused, neither the others nor the query earn anything.")
        return "\n".join([*lines, "The score is 0."])
    if not evidence.measurements:
        return "Nothing was measured, so nothing is earned."
    lines = _page_lines(task, evidence.measurements[0])
    wrong = next((m for m in evidence.measurements if not m.difference.equal), None)
    return "\n".join(lines + (_difference_lines(wrong) if wrong is not None else _gain_lines(gain, profile)))


def failure(evidence: TuneEvidence) -> AgentError | None:
    """Why the submission was refused or failed, None when it was not.

    A failure after the public instance was measured happened on hidden data, and an engine's message may quote a value: it is replaced.
    """
    if evidence.error_code is None:
        return None
    if evidence.measurements:
        message = f"it ran on the public data and failed on other data of the same schema. Think of what that may hold: {HAZARDS}."
        if evidence.error_code is ErrorCode.TIMEOUT:
            message = "it stayed within the limits on the public data and went beyond them on other data of the same schema."
        return AgentError(evidence.error_code, message)
    return AgentError(evidence.error_code, evidence.error_message)


def _page_lines(task: Task, public: TuneMeasurement) -> list[str]:
    ratio = public.original_pages / max(public.submitted_pages, 1)
    limits = task.tune
    return [
        f"Logical reads on the public data: original {public.original_pages:,} pages, submitted {public.submitted_pages:,} ({ratio:.2f}x).",
        f"Beside the score: {public.vm_steps:,} of {limits.max_vm_steps:,} steps of the virtual machine,"
        f" {public.spill_bytes:,} of {limits.max_spill_bytes:,} bytes spilled.",
    ]


def _difference_lines(measurement: TuneMeasurement) -> list[str]:
    if measurement.role != "public":
        return [
            "Result: right on the public data, but different on other data of the same schema, so the score is 0."
            f" Think of what other data may hold: {HAZARDS}."
        ]
    difference = measurement.difference
    return [f"Result: not equal to the original's. {difference.message}".rstrip(), *example_lines(difference), "The score is 0."]


def _gain_lines(gain: float, profile: RewardProfile) -> list[str]:
    lines = ["Result: equal on the public data and on every hidden instance."]
    if gain <= 0.0:
        lines.append("It asks for as many pages as the original or more, on the public data or on a twin, so the score is 0.")
    elif gain < 1.0:
        lines.append("Paid is the smallest gain over the public data and its twins, on a log scale where the best known submission is 1.")
    if profile == "binary" and 0.0 < gain < BINARY_THRESHOLD:
        lines.append("This profile pays from half of the best known gain (on the log scale).")
    return lines
