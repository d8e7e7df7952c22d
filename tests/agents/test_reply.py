from __future__ import annotations

import json

import pytest

from sql_optim_env.agents.reply import NotAnActionError, action_of
from sql_optim_env.models import SQLOptimAction

QUERY = '{"kind": "query", "sql": "SELECT 1"}'
WANTED = SQLOptimAction(kind="query", sql="SELECT 1")


@pytest.mark.parametrize(
    "text",
    [
        QUERY,
        f"  \n{QUERY}\n",
        f"```json\n{QUERY}\n```",
        f"```JSON \n{QUERY}```",
        f"```\n{QUERY}\n```",
        f"Let me look first.\n\n```json\n{QUERY}\n```\nThis shows one row.",
        f"I will look at {{the data}} first: {QUERY} and then decide.",
        f"```sql\nSELECT 2\n```\n{QUERY}",
        f"```json\n{QUERY}",
        f'<think>Maybe {{"kind": "submit", "answer": "x"}}?</think>{QUERY}',
        f"<think>a</think><think>b</think>\n{QUERY}",
        f'so {{"kind": "explain", "sql": "x"}} it is</think>{QUERY}',
        f"<Reasoning>{{</Reasoning>```json\n{QUERY}\n```",
        f"{QUERY}\n<think>was that right?",
        f'{QUERY}\n{{"kind": "submit", "optimized_query": "SELECT 2"}}',
        f"{QUERY}\n{QUERY}",
        f"Not this: ```json\n{QUERY}\n``` {{broken",
    ],
)
def test_the_action_is_found_wherever_it_stands(text: str) -> None:
    assert action_of(text) == WANTED


def test_a_fenced_block_goes_before_an_object_in_the_prose() -> None:
    assert action_of(f'Instead of {{"kind": "submit"}} I do:\n```json\n{QUERY}\n```') == WANTED


def test_line_breaks_inside_a_string_are_taken_as_they_are() -> None:
    assert action_of('{"kind": "fix", "sql": "UPDATE t\nSET a = 1\t;"}').sql == "UPDATE t\nSET a = 1\t;"


def test_braces_and_quotes_inside_strings_do_not_end_the_object() -> None:
    sql = "SELECT '}{', \"a\" FROM t -- ```json"
    assert action_of(f"{json.dumps({'kind': 'query', 'sql': sql})} done").sql == sql


def test_a_submission_needs_no_kind_and_anything_else_does() -> None:
    assert action_of('{"optimized_query": "SELECT 2"}') == SQLOptimAction(optimized_query="SELECT 2")
    assert action_of('{"kind": "submit"}') == SQLOptimAction()
    for text in ('{"sql": "SELECT 1"}', "{}", '{"table": "t", "column": "c"}'):
        with pytest.raises(NotAnActionError, match='"kind" is missing'):
            action_of(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Your reply was empty."),
        (" \n", "Your reply was empty."),
        ("<think>only thoughts</think>", "Your reply was empty."),
        ("<think>a thought without an end", "Your reply was empty."),
        ("SELECT 1", "There is no JSON object"),
        ("[1, 2]", "There is no JSON object"),
        ("{the answer}", "There is no JSON object"),
        ('{"kind": "query", "sql": "SELECT "a""}', "is broken: Expecting ',' delimiter at line 1, column 35"),
        ('{"kind": "query",}', "is broken: "),
        ('{"kind": "query", "sql": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"kind": ' + '{"a":' * 100_000, "nested too deeply"),
        ("{'kind': 'query'}", "There is no JSON object"),
        ('{"kind": "submit", "suggestions": [{"kind": "query"}], "summary": broken}', "is broken: Expecting value"),
        ('{"kind": "delete"}', "not a valid action: kind: Input should be 'submit', 'query', 'explain', 'profile' or 'fix'"),
        ('{"kind": "query", "query": "SELECT 1"}', "not a valid action: query: Extra inputs are not permitted"),
        ('{"kind": "query", "sql": null}', "not a valid action: sql: "),
        ('{"kind": "submit", "suggestions": [{"issue_type": "x", "line": 0}]}', "suggestions.0.line: "),
    ],
)
def test_what_is_no_action_is_told_why(text: str, reason: str) -> None:
    with pytest.raises(NotAnActionError) as error:
        action_of(text)
    assert reason in str(error.value)


@pytest.mark.parametrize("text", ["", "<think>on and on", '{"kind": "submit", "optimized_query": "SELECT', "I would say"])
def test_a_reply_that_was_cut_off_is_told_so(text: str) -> None:
    with pytest.raises(NotAnActionError, match="cut off at the limit of its length"):
        action_of(text, cut_off=True)


def test_a_reply_that_was_cut_off_after_its_action_counts() -> None:
    assert action_of(f"{QUERY} and now I expl", cut_off=True) == WANTED


def test_a_reply_of_many_opening_braces_is_no_trouble() -> None:
    for text in ('{"a":' * 100_000, "{" * 400_000, "<think>" * 50_000, "```json\n" * 50_000, "[" * 100_000):
        with pytest.raises(NotAnActionError):
            action_of(text)


def test_metadata_is_not_the_models_to_set() -> None:
    assert action_of('{"kind": "query", "sql": "SELECT 1", "metadata": {"a": 1}}') == WANTED
