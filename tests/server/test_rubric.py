from __future__ import annotations

from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.server.rubric import TERMS, GradeRubric

ACTION = SQLOptimAction()


def test_the_terms_are_named_children() -> None:
    names = [name for name, _ in GradeRubric().named_rubrics()]
    assert names == [
        "execution_speedup",
        "result_correctness",
        "issue_detection",
        "approval_correctness",
        "summary_quality",
        "severity_labels",
        "logical_reads",
        "diagnostic_efficiency",
        "hypothesis_quality",
        "fix_correctness",
        "self_verification",
        "generalisation",
        "answer_correctness",
        "bounds",
        "solved",
    ]
    assert names == list(TERMS)


def test_its_value_is_the_reward_and_its_childrens_are_the_breakdown() -> None:
    rubric = GradeRubric()
    observation = SQLOptimObservation(reward=0.25, score=0.55, reward_breakdown={"execution_speedup": 0.35, "result_correctness": 0.2})
    assert rubric(ACTION, observation) == 0.25
    assert rubric.last_score == 0.25
    scores = {name: child.last_score for name, child in rubric.named_rubrics()}
    assert scores == dict.fromkeys(TERMS, 0.0) | {"execution_speedup": 0.35, "result_correctness": 0.2}


def test_a_step_that_was_not_graded_is_zero_everywhere() -> None:
    rubric = GradeRubric()
    rubric(ACTION, SQLOptimObservation(reward=1.0, reward_breakdown={"solved": 1.0}))
    assert rubric(ACTION, SQLOptimObservation(reward=0.0)) == 0.0
    assert {child.last_score for child in rubric.children()} == {0.0}


def test_reset_forgets() -> None:
    rubric = GradeRubric()
    rubric(ACTION, SQLOptimObservation(reward=1.0, reward_breakdown={"solved": 1.0}))
    rubric.reset()
    assert rubric.last_score is None
    assert {child.last_score for child in rubric.children()} == {None}
