from __future__ import annotations

import json
import re

import pytest

from grading.audit_samples import IDENTIFICATION, SECRETS, make_audit_task, make_identification, make_scenario
from sql_optim_env.errors import ErrorCode
from sql_optim_env.families.audit_instructions import audit_instructions
from sql_optim_env.grading.report import PROFILES
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.audit.draw import scenario_of
from sql_optim_env.tasks.audit.scenario import ANSWER_FIELDS, ExpectedAnswer
from sql_optim_env.tasks.catalogue import catalogue

FIX = audit_instructions(make_audit_task(), make_scenario(), "composite")
ANSWER = audit_instructions(IDENTIFICATION, make_identification(), "composite")


def examples(text: str) -> list[SQLOptimAction]:
    return [SQLOptimAction.model_validate(json.loads(found)) for found in re.findall(r"^\{.*?\}", text, re.MULTILINE)]


def test_they_stay_small() -> None:
    widest = make_scenario(expected=ExpectedAnswer("a", "b", "c"), good_decides=False)
    for profile in PROFILES:
        assert len(audit_instructions(make_audit_task(), widest, profile).encode()) < 6 * 1024
        for task in catalogue().select(family="audit")[:11]:
            assert len(audit_instructions(task, scenario_of(task, None), profile).encode()) < 6 * 1024


def test_every_json_example_is_a_valid_action() -> None:
    assert [action.kind for action in examples(FIX)] == ["query", "profile", "fix", "submit"]
    assert [action.kind for action in examples(ANSWER)] == ["query", "profile", "submit"]


@pytest.mark.parametrize("asked", [(), ("answer",), ("root_cause_table", "offending_key")])
def test_the_submission_has_the_fields_that_are_asked_for(asked: tuple[str, ...]) -> None:
    scenario = make_scenario(expected=ExpectedAnswer(**dict.fromkeys(asked, "x")))
    action = examples(audit_instructions(make_audit_task(), scenario, "composite"))[-1]
    assert action.model_fields_set - {"kind"} == set(asked)
    assert [name for name in ANSWER_FIELDS if f"\n- {name}: " in audit_instructions(make_audit_task(), scenario, "composite")] == list(
        asked
    )


def test_they_hold_the_budgets_and_what_stands() -> None:
    assert "(6 query and profile actions together, reward 0; one that fails is used up too)" in FIX
    assert "(2 fix actions, reward 0; one that fails is used up too)" in FIX
    assert "The last script that ran without error stands, and it alone is graded. A failed one leaves the earlier one standing." in FIX
    assert "run on the broken database as before (rows) and also on a copy with the fix applied (repaired)" in FIX
    assert not any(words in ANSWER for words in ("fix action", "To repair", "repaired", '"kind": "fix"'))


def test_they_tell_the_weights_of_the_task() -> None:
    assert re.findall(r"^- (0\.\d\d) ", FIX, re.MULTILINE) == ["0.35", "0.15", "0.20", "0.20", "0.10"]
    assert re.findall(r"^- (0\.\d\d) ", ANSWER, re.MULTILINE) == ["0.60", "0.20", "0.20"]


def test_the_catastrophe_is_told_as_it_is_for_the_task() -> None:
    assert "A fix that drops or empties the table to be repaired, or loses more than half of its good rows, caps the score at 0.05." in FIX
    made = audit_instructions(make_audit_task(), make_scenario(good_decides=False), "composite")
    assert "A fix that empties or drops a table that is there, or loses most of the rows, caps the score at 0.05." in made
    assert "caps" not in ANSWER


def test_the_binary_profile_is_told_as_it_is() -> None:
    text = audit_instructions(make_audit_task(), make_scenario(), "binary")
    assert "The score is 0.999 if the sum is at least 0.5, else 0.001." in text
    assert "held between" not in text


def test_every_code_that_an_episode_can_meet_is_listed() -> None:
    assert [code for code in ErrorCode if code.value not in FIX] == []


def test_nothing_of_the_graders_data_is_in_them() -> None:
    assert not any(secret in FIX + ANSWER for secret in (*SECRETS, "payment", "amount"))
