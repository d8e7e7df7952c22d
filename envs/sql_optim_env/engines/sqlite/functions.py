"""Which functions of SQLite 3.54.1 a graded query may call.

The list is reviewed by hand; a test asks the engine for every function it has and proves that each stands on exactly one side. A name on
neither side is refused.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ALLOWED_FUNCTIONS", "DATE_FUNCTIONS", "REFUSED_FUNCTIONS", "refusal_reason"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


DATE_FUNCTIONS: Final = _names("current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch")
"""Functions that may read the clock. They are admitted; that the clock was read is noticed by the clock."""

ALLOWED_FUNCTIONS: Final = DATE_FUNCTIONS | _names("""
    abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians round sign
    sin sinh sqrt tan tanh trunc
    char concat concat_ws format glob hex instr length like lower ltrim octet_length printf quote replace rtrim substr substring trim
    unhex unicode unistr unistr_quote upper zeroblob
    coalesce if ifnull iif likelihood likely max min nullif typeof unlikely
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
    -> ->> json json_array json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object
    json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid
    jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
    jsonb_remove jsonb_replace jsonb_set
""")
"""Every function that a graded query may call, lower case. ``x LIKE y`` is ``like``, ``x -> y`` is ``->``."""

_VOLATILE = _names("changes last_insert_rowid random randomblob total_changes")
_ENGINE = _names("load_extension sqlite_compileoption_get sqlite_compileoption_used sqlite_log sqlite_source_id sqlite_version subtype")
_EXTENSIONS = _names("""
    bm25 fts3_tokenizer fts5 fts5_get_locale fts5_insttoken fts5_locale fts5_source_id highlight match matchinfo offsets optimize snippet
    geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_debug geopoly_group_bbox geopoly_json
    geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform rtreecheck rtreedepth rtreenode
""")

REFUSED_FUNCTIONS: Final = _VOLATILE | _ENGINE | _EXTENSIONS
"""Every other function of the engine."""


def refusal_reason(name: str) -> str:
    """Return why ``name``, which is not allowed, is refused: a clause that ends 'x is refused because …'."""
    if name in _VOLATILE:
        return "its result changes from run to run, and results are compared"
    if name in _ENGINE:
        return "it reads or changes the engine instead of the task's tables"
    if name in _EXTENSIONS:
        return "it belongs to virtual tables, which are not admitted"
    return "it is not on the list of admitted functions"
