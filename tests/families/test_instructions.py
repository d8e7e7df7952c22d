from __future__ import annotations

import json
import re

import pytest

from grading.samples import make_task
from sql_optim_env.families.base import REWARD_MODES, RewardMode
from sql_optim_env.families.instructions import rewrite_instructions
from sql_optim_env.grading.report import PROFILES, WEIGHTS, RewardProfile
from sql_optim_env.models import SQLOptimAction
from sql_optim_env.tasks.vocabulary import ISSUE_TYPES, Severity


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode", REWARD_MODES)
def test_they_stay_small(profile: RewardProfile, mode: RewardMode) -> None:
    assert len(rewrite_instructions(make_task(), profile, mode).encode()) < 6 * 1024


def test_every_json_example_is_a_valid_action() -> None:
    text = rewrite_instructions(make_task(), "composite", "telescoping")
    examples = [SQLOptimAction.model_validate(json.loads(found)) for found in re.findall(r"^\{.*\}", text, re.MULTILINE)]
    assert [action.kind for action in examples] == ["submit", "query", "explain"]


def test_they_hold_the_vocabulary_the_levels_the_budgets_and_the_tables() -> None:
    text = rewrite_instructions(make_task(max_steps=4, max_explorations=7), "composite", "telescoping")
    assert all(f"- {kind.value}: {meaning}\n" in text for kind, meaning in ISSUE_TYPES.items())
    assert all(level.value in text for level in Severity)
    assert "4 submissions at most" in text
    assert "7 explorations at most" in text
    assert "tables other than users, orders" in text
    assert all(name in text for name in WEIGHTS)


def test_each_profile_and_reward_mode_is_told_as_it_is() -> None:
    assert "not scored" not in rewrite_instructions(make_task(), "composite", "telescoping")
    assert "The review's text is not scored." in rewrite_instructions(make_task(), "execution", "telescoping")
    assert "The score is 1 when" in rewrite_instructions(make_task(), "binary", "telescoping")
    assert "repeating an answer pays 0" in rewrite_instructions(make_task(), "composite", "telescoping")
    assert "A step's reward is its score." in rewrite_instructions(make_task(), "composite", "absolute")


def test_they_do_not_tell_an_optimal_task_from_another() -> None:
    assert rewrite_instructions(make_task(), "composite", "telescoping") == rewrite_instructions(
        make_task(optimal=True), "composite", "telescoping"
    )
