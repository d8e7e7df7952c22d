"""Which issues a summary names: the vocabulary's words and their plain-English phrases, found at word boundaries."""

from __future__ import annotations

import re

from sql_optim_env.tasks.vocabulary import IssueType

__all__ = ["PHRASES", "VERDICT_PHRASES", "declares_optimal", "named_types"]

PHRASES: dict[IssueType, tuple[str, ...]] = {
    IssueType.SELECT_STAR: ("select *", "select all columns"),
    IssueType.NON_SARGABLE_PREDICATE: ("non sargable", "not sargable", "unsargable"),
    IssueType.FUNCTION_ON_COLUMN: ("function over column", "function applied to column", "function call on column"),
    IssueType.IMPLICIT_CAST: ("implicit conversion", "implicit type conversion"),
    IssueType.CORRELATED_SUBQUERY: ("correlated scalar subquery", "correlated sub query"),
    IssueType.REPEATED_SUBQUERY: ("repeated scalar subquery", "duplicated subquery", "duplicate subquery"),
    IssueType.IMPLICIT_JOIN: ("comma join", "comma separated join"),
    IssueType.CROSS_JOIN: ("cartesian product", "cross product", "cartesian join"),
    IssueType.JOIN_FANOUT: ("join fan out", "fan out join", "fanout join"),
    IssueType.NON_EQUI_JOIN: ("nonequi join", "inequality join", "range join"),
    IssueType.REDUNDANT_JOIN: ("unnecessary join", "superfluous join"),
    IssueType.SELF_JOIN: ("joined to itself",),
    IssueType.UNNECESSARY_DISTINCT: ("redundant distinct", "superfluous distinct"),
    IssueType.COUNT_DISTINCT_MISUSE: ("misuse of count distinct", "misused count distinct", "unnecessary count distinct"),
    IssueType.UNION_INSTEAD_OF_UNION_ALL: ("union where union all", "union rather than union all"),
    IssueType.OR_IN_JOIN: ("or in join condition", "or condition in join"),
    IssueType.LEADING_WILDCARD: ("leading percent sign",),
    IssueType.REGEX_FOR_SIMPLE_MATCH: ("regular expression", "regex", "regexp"),
    IssueType.UNNECESSARY_SORT: ("redundant sort", "unnecessary order by", "unused order by"),
    IssueType.MISSING_LIMIT_PUSHDOWN: ("limit not pushed down", "limit is not pushed down", "missing limit push down"),
    IssueType.LATE_FILTER: ("late filtering", "filter applied too late", "filtered too late", "filtered late"),
    IssueType.WINDOW_INSTEAD_OF_AGGREGATE: ("window function instead of aggregate", "window where aggregate"),
    IssueType.REDUNDANT_WINDOW: ("redundant window function", "duplicate window", "duplicated window"),
    IssueType.LIST_MATERIALIZATION: ("list materialisation", "materialised list", "materialized list"),
    IssueType.RECURSION_INSTEAD_OF_SET: ("recursion instead of set operation", "recursive cte instead of set"),
    IssueType.OVERGRAINED_GROUPING: ("over grained grouping", "grouping too fine", "grouped too finely"),
    IssueType.REPEATED_SCAN: ("repeated table scan", "scanned several times", "scanned twice", "scanned repeatedly"),
}
"""Phrases that name an issue beside its own word (whose underscores may be written as spaces or hyphens)."""

VERDICT_PHRASES: tuple[str, ...] = (
    "optimal",
    "efficient",
    "as good as it gets",
    "no issue",
    "no anti pattern",
    "no problem",
    "no improvement",
    "nothing to improve",
    "nothing to optimise",
    "nothing to optimize",
    "nothing to fix",
)
"""Phrases by which a summary says that the query should stay as it is."""

_ARTICLE = r"(?:(?:a|an|the|its|each|every)[\s_-]+)?"


def named_types(text: str) -> frozenset[IssueType]:
    """The issue types that ``text`` names, by word or phrase, in any case, singular or plural."""
    return frozenset(kind for kind, pattern in _PATTERNS.items() if pattern.search(text))


def declares_optimal(text: str) -> bool:
    """Whether ``text`` says that the query should stay as it is (and does not say the opposite in the same breath)."""
    return _VERDICT.search(text) is not None


def _word(word: str) -> str:
    if not word.isalpha():
        return re.escape(word)
    return rf"{word[:-1]}(?:y|ies)" if word.endswith("y") else rf"{word}(?:s|es)?"


def _phrase(phrase: str) -> str:
    return (r"[\s_-]+" + _ARTICLE).join(_word(word) for word in re.split(r"[ _]", phrase))


def _any_of(phrases: tuple[str, ...], prefix: str = "") -> re.Pattern[str]:
    return re.compile(rf"{prefix}(?<![\w*])(?:{'|'.join(_phrase(p) for p in phrases)})(?![\w*])", re.IGNORECASE)


_PATTERNS = {kind: _any_of((kind.value, *PHRASES[kind])) for kind in IssueType}
_VERDICT = _any_of(VERDICT_PHRASES, prefix=r"(?<!\bnot )(?<!\bsub-)(?<!\bnon-)(?<!\bin-)(?<!\bless )")
