from __future__ import annotations

import pytest

from grading.tune_samples import WRONG_ROWS, make_tune_task, refused, tune_evidence, tune_measurement, tuned
from sql_optim_env.engines.base import Difference
from sql_optim_env.errors import ErrorCode
from sql_optim_env.grading.feedback import HAZARDS
from sql_optim_env.grading.tune import grade_tune
from sql_optim_env.grading.tune_evidence import TuneEvidence
from sql_optim_env.grading.tune_feedback import failure

TASK = make_tune_task()


def feedback(evidence: TuneEvidence | None, profile: str = "composite") -> str:
    return grade_tune(TASK, evidence, profile).feedback


def test_a_right_answer_is_told_its_pages_its_steps_and_how_it_is_paid() -> None:
    assert feedback(tuned(250)).splitlines() == [
        "Logical reads on the public data: original 1,000 pages, submitted 250 (4.00x).",
        "Beside the score: 5,000 of 1,000,000 steps of the virtual machine, 0 of 2,000,000 bytes spilled.",
        "Result: equal on the public data and on every hidden instance.",
        "Paid is the smallest gain over the public data and its twins, on a log scale where the best known submission is 1.",
    ]
    assert "Paid is the smallest" not in feedback(tuned(100))


def test_an_answer_without_a_gain_is_told_so() -> None:
    assert "as many pages as the original or more" in feedback(tuned(1_000))
    assert "as many pages as the original or more" in feedback(tuned(10, twin_1=2_000))


def test_the_binary_profile_says_from_where_it_pays() -> None:
    assert "pays from half" in feedback(tuned(500), "binary")
    assert "pays from half" not in feedback(tuned(200), "binary")


def test_a_difference_on_the_public_data_is_shown_with_examples() -> None:
    text = feedback(tune_evidence(tune_measurement(difference=WRONG_ROWS)))
    assert "1 row is missing and 1 row is extra." in text
    assert "    (7, NULL)" in text
    assert "    (7, 0)" in text


def test_a_difference_on_hidden_data_shows_nothing_of_it() -> None:
    hidden = tune_measurement("edge", 77_777, name="edge_secret", difference=Difference("rows", "secret", 3, 0, missing=(("secret",),)))
    text = feedback(tune_evidence(tune_measurement(), hidden))
    assert "right on the public data" in text
    assert HAZARDS in text
    assert "secret" not in text
    assert "77,777" not in text


def test_a_refused_ddl_item_is_named_and_said_to_spoil_the_rest() -> None:
    text = feedback(refused())
    assert text.startswith("Refused or failed: refused_syntax: ddl item 2: has 2 columns")
    assert "counts as a whole" in text
    assert "counts as a whole" not in feedback(refused(ErrorCode.BINDING_ERROR, "no such column: x", None))


@pytest.mark.parametrize(
    ("code", "words"),
    [(ErrorCode.EXECUTION_ERROR, "failed on other data"), (ErrorCode.TIMEOUT, "stayed within the limits on the public data")],
)
def test_an_error_on_hidden_data_is_replaced(code: ErrorCode, words: str) -> None:
    error = failure(tune_evidence(tune_measurement(), error_code=code, error_message="secret"))
    assert error is not None
    assert error.code is code
    assert words in error.message
    assert "secret" not in error.message


def test_nothing_submitted_is_told_so() -> None:
    assert feedback(None) == "Nothing was submitted: neither optimized_query nor ddl. An empty submission earns 0."
    assert failure(tuned()) is None


def test_the_same_answer_gets_the_same_words() -> None:
    fast, slow = tuned(250), TuneEvidence(**{**{f: getattr(tuned(250), f) for f in TuneEvidence.__dataclass_fields__}, "wall_ms": 999.0})
    assert feedback(fast) == feedback(slow)
