from __future__ import annotations

import json
import re

import pytest

from grading.tune_samples import DDL, make_tune_task
from sql_optim_env.engines.sqlite import describe_rules
from sql_optim_env.families.base import REWARD_MODES, RewardMode
from sql_optim_env.families.tune_instructions import tune_instructions
from sql_optim_env.grading.feedback import HAZARDS
from sql_optim_env.grading.report import PROFILES, RewardProfile
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.catalogue import catalogue


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode", REWARD_MODES)
def test_they_stay_small(profile: RewardProfile, mode: RewardMode) -> None:
    for task in catalogue().select(family="tune"):
        assert len(tune_instructions(task, profile, mode).encode()) < 6 * 1024


def test_every_json_example_is_a_valid_action() -> None:
    text = tune_instructions(make_tune_task(), "composite", "telescoping")
    examples = [SQLOptimAction.model_validate(json.loads(found)) for found in re.findall(r"^\{.*?\}", text, re.MULTILINE)]
    assert [action.kind for action in examples] == ["submit", "query", "explain"]
    assert examples[0].ddl


def test_they_hold_the_budget_the_caps_the_tables_and_every_rule_of_the_ddl() -> None:
    text = tune_instructions(make_tune_task(), "composite", "telescoping")
    assert "6 actions at most" in text
    assert "1,000,000 steps" in text
    assert "2,000,000 bytes" in text
    assert "reads only hub, parcel;" in text
    assert describe_rules(2) in text
    assert HAZARDS in text


def test_they_say_what_counts_how_results_are_compared_and_that_there_is_one_submission() -> None:
    text = tune_instructions(make_tune_task(), "composite", "telescoping")
    for words in (
        "every page of 4096 bytes that the engine asks for while it runs the query, in the cache or not",
        "integer 1, real 1.0 and text '1' are three values",
        "once; it ends the episode, also when it is refused",
        "Empty: sql_query stays as it is.",
        "Score: log(original pages / your pages)",
    ):
        assert words in text


def test_the_binary_profile_is_told_as_it_is() -> None:
    assert "Score: 1 if log(" in tune_instructions(make_tune_task(), "binary", "telescoping")
    assert "is at least 0.5, else 0" in tune_instructions(make_tune_task(), "binary", "telescoping")


def test_nothing_of_the_graders_data_is_in_them() -> None:
    text = tune_instructions(make_tune_task(), "composite", "telescoping")
    assert not any(secret in text for secret in ("REFERENCE", "SECRET", "HALF", *DDL))
