from __future__ import annotations

import pytest

from sql_optim_env.engines.sqlite.text import call_literals, first_statement, fold, has_code, leading_words, names, string_literals


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("create Unique INDEX i", ("CREATE", "UNIQUE", "INDEX")),
        ("  -- SELECT\n/* DROP */ ; ANALYZE", ("ANALYZE",)),
        ("\ufeffSELECT 1", ("SELECT",)),
        ("CREATE/**/INDEX--\ni", ("CREATE", "INDEX", "I")),
        ("'CREATE' INDEX", ()),
        ('"CREATE" INDEX', ()),
        ("(SELECT 1)", ()),
        ("", ()),
        ("/* open", ()),
    ],
)
def test_leading_words_are_found_behind_comments(sql: str, words: tuple[str, ...]) -> None:
    assert leading_words(sql, 3) == words


@pytest.mark.parametrize(
    ("sql", "code"), [("", False), (" ;\n; -- x\n/* y */", False), ("-- x\n1", True), ("';'", True), ("/* x */ a", True)]
)
def test_code_is_what_is_not_blank(sql: str, code: bool) -> None:
    assert has_code(sql) is code


def test_string_literals_are_read_without_comments_and_identifiers() -> None:
    assert string_literals("SELECT 'A', 'it''s', \"no\", [no], `no` -- 'no'\n, ' UTC ' /* 'no' */") == {"a", "it''s", "utc"}


def test_only_ascii_letters_are_folded() -> None:
    assert fold("ÄbC_É") == "ÄbC_É".replace("C", "c")


@pytest.mark.parametrize(
    ("sql", "first"),
    [
        ("SELECT 1; SELECT 2", "SELECT 1;"),
        (
            " ;; -- a;b\n; SELECT ';' /* ; */ , \"a;b\", [a;b], `a;b` -- ;\n ; DELETE",
            " ;; -- a;b\n; SELECT ';' /* ; */ , \"a;b\", [a;b], `a;b` -- ;\n ;",
        ),
        ("SELECT 1", "SELECT 1"),
        ("SELECT 'open ; SELECT 2", "SELECT 'open ; SELECT 2"),
        ("SELECT /* open ; SELECT 2", "SELECT /* open ; SELECT 2"),
        ("", ""),
    ],
)
def test_the_first_statement_ends_with_its_semicolon(sql: str, first: str) -> None:
    assert first_statement(sql) == first


def test_whatever_may_be_a_name_is_a_name() -> None:
    assert list(names('SELECT a.B, "c""D", [e F], `g``h`, \'i\' FROM j -- k')) == [
        "select",
        "a",
        "b",
        'c"d',
        "e f",
        "g`h",
        "i",
        "from",
        "j",
    ]


@pytest.mark.parametrize(
    ("sql", "literals"),
    [
        ("SELECT date(x, ' UTC ', '+1 day')", {"utc", "+1 day"}),
        ("SELECT DATE ( 'now' ) FROM t WHERE z IN ('utc', 'cet')", {"now"}),
        ("SELECT date(upper('utc'), ('b'), lower(date('d')))", {"d"}),
        ("SELECT date, ('a'), datum('b') -- date('c')\n) date('e')", {"e"}),
    ],
)
def test_literals_are_found_directly_in_a_call(sql: str, literals: set[str]) -> None:
    assert call_literals(sql, {"date"}) == literals
