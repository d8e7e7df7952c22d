from __future__ import annotations

from sql_optim_env.models import ObservationError, SQLOptimObservation
from sql_optim_env.server.size import MAX_OBSERVATION_BYTES, fit, wire_size


def test_an_observation_that_fits_is_left_as_it_is() -> None:
    observation = SQLOptimObservation(rows=[[1, "x"]], plan="p", feedback="f")
    assert fit(observation) is observation


def test_rows_go_first_and_their_loss_is_said() -> None:
    observation = SQLOptimObservation(rows=[[n, "x" * 1000] for n in range(1000)], row_count=1000, plan="the plan", feedback="told")
    small = fit(observation)
    assert wire_size(small) <= MAX_OBSERVATION_BYTES
    assert small.truncated is True
    assert small.rows == observation.rows[: len(small.rows)]
    assert 100 < len(small.rows) < 260
    assert (small.row_count, small.plan, small.feedback) == (1000, "the plan", "told")
    assert len(observation.rows) == 1000


def test_then_the_plan_then_the_feedback_with_its_copy_in_the_metadata() -> None:
    feedback = "é" * 200_000
    observation = SQLOptimObservation(plan="p" * 300_000, feedback=feedback, metadata={"feedback": feedback, "execution": None})
    small = fit(observation)
    assert wire_size(small) <= MAX_OBSERVATION_BYTES
    assert small.plan == ""
    assert small.feedback.endswith("… (shortened)")
    assert feedback.startswith(small.feedback.removesuffix("\n… (shortened)"))
    assert small.metadata == {"feedback": small.feedback, "execution": None}


def test_an_endless_error_text_is_cut_last() -> None:
    small = fit(SQLOptimObservation(error=ObservationError(code="syntax_error", message="m" * 400_000)))
    assert wire_size(small) <= MAX_OBSERVATION_BYTES
    assert small.error is not None
    assert small.error.message.startswith("m" * 1000)


def test_the_size_counts_bytes_not_characters_and_metadata_twice() -> None:
    plain = wire_size(SQLOptimObservation(feedback="e" * 1000))
    assert wire_size(SQLOptimObservation(feedback="é" * 1000)) == plain + 1000
    assert wire_size(SQLOptimObservation(metadata={"k": "v" * 1000})) - wire_size(SQLOptimObservation()) > 2000
