from __future__ import annotations

import pytest

from sql_optim_env.engines.sqlite.text import fold, has_code, leading_words, string_literals


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
