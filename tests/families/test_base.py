from __future__ import annotations

from dataclasses import replace

import pytest

from families.fake_runner import FakeRunner
from grading.samples import make_task
from sql_optim_env.errors import AgentError, ErrorCode, InvalidArgumentError
from sql_optim_env.families.base import Explain, FamilyRegistry, Query, Submit, parse
from sql_optim_env.families.registry import builtin_families
from sql_optim_env.families.rewrite import ALLOWED_KINDS, RewriteEpisode
from sql_optim_env.grading.analysis import ClaimedIssue, SubmittedReview
from sql_optim_env.models import SQLOptimAction, Suggestion


def test_a_submission_becomes_its_query_and_its_review() -> None:
    action = SQLOptimAction(
        optimized_query="SELECT 1 -- as written ",
        suggestions=[Suggestion(issue_type="self_join", line=2, severity="low", description="d", fix="f")],
        summary="a self join",
        approved=False,
        sql="SELECT ignored",
    )
    assert parse(action, ALLOWED_KINDS) == Submit(
        "SELECT 1 -- as written ", SubmittedReview((ClaimedIssue("self_join", 2, "low"),), "a self join", False)
    )


def test_the_action_without_fields_is_an_empty_submission() -> None:
    assert parse(SQLOptimAction(), ALLOWED_KINDS) == Submit("", SubmittedReview())
    assert parse(SQLOptimAction(optimized_query=" \n"), ALLOWED_KINDS) == Submit("", SubmittedReview())


def test_exploring_actions_become_their_statement() -> None:
    assert parse(SQLOptimAction(kind="query", sql="SELECT 1"), ALLOWED_KINDS) == Query("SELECT 1")
    assert parse(SQLOptimAction(kind="explain", sql="SELECT 1"), ALLOWED_KINDS) == Explain("SELECT 1")


@pytest.mark.parametrize("kind", ["profile", "fix"])
def test_a_kind_that_is_not_allowed_is_the_agents_error_and_lists_those_that_are(kind: str) -> None:
    with pytest.raises(AgentError, match="allowed kinds: submit, query, explain") as caught:
        parse(SQLOptimAction(kind=kind), ALLOWED_KINDS)
    assert caught.value.code is ErrorCode.KIND_NOT_ALLOWED


def test_the_registry_starts_an_episode_of_the_tasks_family() -> None:
    episode = builtin_families().build(make_task(), FakeRunner(), schema_info="")
    assert isinstance(episode, RewriteEpisode)
    assert episode.task.id == "task_sample"


def test_an_unknown_family_is_refused_with_the_list_of_what_exists() -> None:
    with pytest.raises(InvalidArgumentError, match="unknown family 'riddle'; there are: audit, rewrite, tune"):
        builtin_families().build(
            replace(make_task(), family="riddle"),
            FakeRunner(),
            schema_info="",
        )


def test_other_families_can_join() -> None:
    registry = FamilyRegistry({"tune": RewriteEpisode, "rewrite": RewriteEpisode})
    assert registry.names() == ("rewrite", "tune")
