from __future__ import annotations

import pytest

from grading.samples import every_word
from sql_optim_env.grading.summary import PHRASES, VERDICT_PHRASES, declares_optimal, named_types
from sql_optim_env.tasks.vocabulary import IssueType


@pytest.mark.parametrize("kind", list(IssueType))
def test_a_type_is_named_by_its_word_and_by_its_phrase(kind: IssueType) -> None:
    for text in (kind.value, kind.value.replace("_", " "), kind.value.replace("_", "-").upper()):
        assert named_types(f"There is {text}, sadly.") == {kind}


@pytest.mark.parametrize("kind", list(IssueType))
def test_every_other_phrase_names_its_own_type_alone(kind: IssueType) -> None:
    for phrase in PHRASES[kind]:
        assert named_types(f"I see {phrase} here.") == {kind}, phrase


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("correlated subqueries", IssueType.CORRELATED_SUBQUERY),
        ("a function on the column", IssueType.FUNCTION_ON_COLUMN),
        ("functions on columns", IssueType.FUNCTION_ON_COLUMN),
        ("the inner SELECT * reads all", IssueType.SELECT_STAR),
        ("Leading wildcards in LIKE", IssueType.LEADING_WILDCARD),
        ("a repeated\nscan", IssueType.REPEATED_SCAN),
    ],
)
def test_plurals_articles_and_line_breaks_do_not_matter(text: str, kind: IssueType) -> None:
    assert named_types(text) == {kind}


@pytest.mark.parametrize(
    "text", ["", "a" * 130, "crosswise joinery", "preselect starter", "myself joining", "uncorrelated subquery", "the query is slow"]
)
def test_other_text_names_nothing(text: str) -> None:
    assert named_types(text) == frozenset()


def test_a_text_of_all_words_names_all_types() -> None:
    assert named_types(every_word()) == frozenset(IssueType)


@pytest.mark.parametrize("phrase", VERDICT_PHRASES)
def test_a_verdict_phrase_says_that_the_query_is_fine(phrase: str) -> None:
    assert declares_optimal(f"I find {phrase} here.")


@pytest.mark.parametrize(
    "text", ["", "a" * 130, "This is not optimal.", "suboptimal", "sub-optimal", "inefficient", "less efficient", "It is slow."]
)
def test_other_text_does_not_say_that_the_query_is_fine(text: str) -> None:
    assert not declares_optimal(text)
