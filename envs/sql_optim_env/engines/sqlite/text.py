"""The few things that are read from a statement's text. What a text *means* is decided by the engine's own parser and authorizer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

__all__ = ["call_literals", "first_statement", "fold", "has_code", "leading_words", "names", "shown_name", "string_literals"]

_TOKEN: Final = re.compile(
    r"""
    (?P<blank> [ \t\n\f\r\ufeff]+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<string> '(?:[^']|'')*'? )
  | (?P<word> [A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]* )
  | (?P<other> "(?:[^"]|"")*"? | `(?:[^`]|``)*`? | \[[^\]]*\]? | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def fold(name: str) -> str:
    """Fold ``name`` as SQLite compares identifiers: ASCII letters only."""
    return name.translate(_ASCII_LOWER)


def shown_name(name: str) -> str:
    """Return ``name`` as a message may repeat it: at most 80 characters, on one line."""
    text = " ".join(name.split())
    return text if len(text) <= 80 else text[:79] + "…"


def _tokens(sql: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(sql):
        if match.lastgroup != "blank":
            yield match.lastgroup or "", match.group()


def has_code(sql: str) -> bool:
    """Whether anything but blanks, comments and semicolons stands in ``sql``."""
    return any(text != ";" for _, text in _tokens(sql))


def call_literals(sql: str, functions: Collection[str]) -> frozenset[str]:
    """Return the string literals that stand directly in a call of one of ``functions``, as ``string_literals`` returns them."""
    found: set[str] = set()
    calls: list[bool] = []
    previous = ""
    for kind, text in _tokens(sql):
        if text == "(":
            calls.append(previous in functions)
        elif text == ")":
            del calls[-1:]
        elif kind == "string" and calls and calls[-1]:
            found.add(fold(text.strip("'").strip()))
        previous = fold(text) if kind == "word" else ""
    return frozenset(found)


def first_statement(sql: str) -> str:
    """Return ``sql`` up to and with the semicolon that ends its first statement, all of it where there is none.

    Right for every statement but ``CREATE TRIGGER``, which alone has semicolons inside.
    """
    begun = False
    for match in _TOKEN.finditer(sql):
        if match.group() == ";":
            if begun:
                return sql[: match.end()]
        elif match.lastgroup != "blank":
            begun = True
    return sql


def leading_words(sql: str, count: int) -> tuple[str, ...]:
    """Return the first words of the statement in upper case, at most ``count``, up to the first token that is not a word."""
    words: list[str] = []
    for kind, text in _tokens(sql):
        if kind != "word":
            if not words and text == ";":
                continue
            break
        words.append(text.upper())
        if len(words) == count:
            break
    return tuple(words)


def string_literals(sql: str) -> frozenset[str]:
    """Return the contents of the string literals of ``sql``, folded and without surrounding blanks."""
    return frozenset(fold(text.strip("'").strip()) for kind, text in _tokens(sql) if kind == "string")


def names(sql: str) -> Iterator[str]:
    """Yield what could be a name in ``sql``, folded and without quotes: words, quoted names, and strings, which may stand for one."""
    for kind, text in _tokens(sql):
        if kind == "word":
            yield fold(text)
        elif len(text) > 1:
            quote = "]" if text[0] == "[" else text[0]
            yield fold(text[1:].removesuffix(quote).replace(quote * 2, quote))
