"""Which functions of DuckDB 2.0.1 a statement may call, and why the others are refused.

The engine's own ``stability`` column is no guide (``current_setting`` calls itself consistent, ``+`` does not), so the list is reviewed by
hand. A test asks the engine for every function it has and proves that each stands on exactly one side. A name on neither side is refused.

Names are those of the engine's parse tree: operators appear as functions (``a || b`` is ``||``), and so do array, struct and map literals.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = [
    "ALLOWED_AGGREGATES",
    "ALLOWED_FUNCTIONS",
    "REFUSED_FUNCTIONS",
    "SESSION_VALUES",
    "RefusalReason",
    "refusal_reason",
]


class RefusalReason(StrEnum):
    """Why a function is refused, as a clause that ends the sentence 'x is refused because …'."""

    VOLATILE = "its result changes from run to run, and results are compared"
    SESSION = "it reads or changes the session, its settings or its privileges"
    CATALOGUE = "it reads the catalogue or the storage instead of the task's tables"
    FILES = "it reaches files, other databases or the host program"
    CONTROL = "it controls the server (waiting, logging, raising errors, running other statements)"
    SEMI_STRUCTURED = "JSON, VARIANT, UNION and GEOMETRY values are not admitted; use plain columns, structs and lists"
    INTERNAL = "it is a building block of the engine, not meant for queries"
    UNKNOWN = "the engine has no such function, or it is not on the list of admitted functions"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPERATORS = _names("""
    + - * / // % ** ^ & | << >> ~ !__postfix @ || = != < <= > >= && @> <@ <-> <=> ^@ ~~ !~~ ~~* !~~* ~~~
""")

_LOGIC = _names("""
    if nullif greatest least constant_or_null isnan isinf isfinite typeof hash xor
    like_escape not_like_escape ilike_escape not_ilike_escape switch
""")

_NUMERIC = _names("""
    abs acos acosh add asin asinh atan atan2 atanh binom bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp factorial fdiv
    floor fmod gamma gcd greatest_common_divisor lcm least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power
    radians round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc
""")

_TEXT = _names("""
    array_to_string array_to_string_comma_default ascii bar base64 bin bit_length bit_position bitstring char_length character_length chr
    concat concat_ws contains damerau_levenshtein decode editdist3 encode ends_with format format_bytes formatReadableDecimalSize
    formatReadableSize from_base64 from_binary from_hex get_bit hamming hex instr jaccard jaro_similarity
    jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein lower lpad ltrim md5 md5_number
    md5_number_lower md5_number_upper mismatches nfc_normalize octet_length ord overlay parse_formatted_bytes position prefix printf
    regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim set_bit sha1 sha256 split split_part
    starts_with str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
    substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex unicode upper url_decode url_encode
    uuid_extract_timestamp uuid_extract_version
""")

_TIME = _names("""
    age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek
    dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date make_time
    make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month monthname
    nanosecond normalized_interval quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days
    to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp
    to_weeks to_years try_strptime week weekday weekofyear year yearweek
""")

_NESTED = _names("""
    aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
    array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product
    array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
    array_intersect array_length array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front array_position
    array_prepend array_push_back array_push_front array_reduce array_resize array_reverse array_reverse_sort array_select array_slice
    array_sort array_transform array_unique array_value array_where array_zip cardinality element_at enum_code enum_first enum_last
    enum_range enum_range_boundary equi_width_bins filter flatten generate_series generate_subscripts grade_up invoke is_histogram_other_bin
    list_aggr list_aggregate list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
    list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_count
    list_distance list_distinct list_dot_product list_element list_entropy list_extract list_filter list_first
    list_grade_up list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
    list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_negative_dot_product
    list_negative_inner_product list_pack list_position list_prepend list_product list_reduce list_resize list_reverse
    list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg
    list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip map map_concat map_contains
    map_contains_entry map_contains_value map_entries map_extract map_extract_value map_from_entries map_keys map_values
    range reduce row struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert
    struct_keys struct_pack struct_position struct_update struct_values unnest
""")

ALLOWED_AGGREGATES = _names("""
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
    arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr count
    count_if count_star countif covar_pop covar_samp entropy favg first fsum geomean geometric_mean group_concat histogram
    histogram_exact kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile
    quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy sem
    skewness stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg weighted_avg
""")
"""Aggregates, which ``list_aggregate`` may also be given by name."""

_WINDOW = _names("cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number")

ALLOWED_FUNCTIONS = _OPERATORS | _LOGIC | _NUMERIC | _TEXT | _TIME | _NESTED | ALLOWED_AGGREGATES | _WINDOW
"""Every function that may be called, lower case except where the engine spells a capital (lookups fold case)."""

SESSION_VALUES = _names("""
    current_catalog current_database current_date current_localtime current_localtimestamp current_path current_query current_role
    current_schema current_time current_timestamp current_user localtime localtimestamp session_user system_user user
""")
"""Names that the engine resolves to a clock or to the session when they are written like a column, without parentheses."""

_REFUSED: dict[RefusalReason, frozenset[str]] = {
    RefusalReason.VOLATILE: _names("""
        ago current_date current_localtime current_localtimestamp gen_random_uuid get_current_time get_current_timestamp now random
        reservoir_quantile setseed today transaction_timestamp txid_current uuid uuidv4 uuidv7 nextval currval setval
        current_transaction_id current_query_id current_connection_id pg_postmaster_start_time pg_conf_load_time
    """),
    RefusalReason.SESSION: _names("""
        alias current_catalog current_database current_query current_role current_schema current_schemas current_setting current_user
        format_pg_type format_type getvariable in_search_path inet_client_addr inet_client_port inet_server_addr inet_server_port
        session_user user version extension_versions user_agent platform show show_databases show_tables show_tables_expanded
        add_grammar_extension remove_grammar_extension disable_checkpoint_on_shutdown enable_checkpoint_on_shutdown
        disable_object_cache enable_object_cache disable_optimizer enable_optimizer disable_print_progress_bar
        enable_print_progress_bar disable_progress_bar enable_progress_bar disable_profile enable_profile disable_profiling
        enable_profiling disable_verification enable_verification disable_verify_parallelism verify_parallelism
    """),
    RefusalReason.CATALOGUE: _names("""
        can_cast_implicitly col_description collations database_list database_size functions get_block_size icu_calendar_names
        map_to_pg_oid map_type_id_to_pg_oid metadata_info obj_description seq_scan shobj_description stats storage_info summary
        table_info vector_type histogram_values
    """),
    RefusalReason.FILES: _names("""
        add_parquet_key arrow_scan arrow_scan_dumb copy_database create_external_resource deregister_external_resource
        destroy_external_resource glob hive_partition_component import_database pandas_scan parse_dirname parse_dirpath parse_filename
        parse_path path_join python_arrow_scan python_map_function register_external_resource register_external_resource_type
        sniff_csv which_secret
    """),
    RefusalReason.CONTROL: _names("""
        assert_true checkpoint disable_logging enable_logging error force_checkpoint parse_duckdb_log_message query query_table
        sleep_ms truncate_duckdb_logs write_log json_execute_serialized_sql
    """),
    RefusalReason.SEMI_STRUCTURED: _names("""
        ->> array_to_json json row_to_json to_json from_json from_json_strict union_extract union_tag union_value
    """),
    RefusalReason.INTERNAL: _names("""
        bitstring_byte_comparable cast_to_type combine combine_aggr create_sort_key decimal_average decimal_division finalize get_type
        icu_sort_key index_key lttb make_type remap_struct repeat_row replace_type sum_no_overflow test_all_types test_vector_types
        timetz_byte_comparable to_aggregate_state unpivot_list vertex_extract __between __cast
    """) | {"IS DISTINCT FROM", "IS NOT DISTINCT FROM"},
}  # fmt: skip

_REFUSED_FAMILIES: tuple[tuple[str, RefusalReason], ...] = (
    ("__internal_", RefusalReason.INTERNAL),
    ("collate_", RefusalReason.INTERNAL),
    ("icu_collate_", RefusalReason.INTERNAL),
    ("duckdb_", RefusalReason.CATALOGUE),
    ("has_", RefusalReason.SESSION),
    ("json_", RefusalReason.SEMI_STRUCTURED),
    ("parquet_", RefusalReason.FILES),
    ("pg_", RefusalReason.CATALOGUE),
    ("pragma_", RefusalReason.CATALOGUE),
    ("read_", RefusalReason.FILES),
    ("st_", RefusalReason.SEMI_STRUCTURED),
    ("variant_", RefusalReason.SEMI_STRUCTURED),
)
"""Refused by the beginning of the name; a name listed above keeps its own reason."""

_FOLDED_ALLOWED = frozenset(name.lower() for name in ALLOWED_FUNCTIONS)

REFUSED_FUNCTIONS: Mapping[str, RefusalReason] = MappingProxyType(
    {name.lower(): reason for reason, names in _REFUSED.items() for name in names}
)
"""Every function refused by its full name; families refused by prefix come on top (see ``refusal_reason``)."""


def refusal_reason(name: str) -> RefusalReason | None:
    """Why ``name`` (in any case) may not be called, or None when it may."""
    folded = name.lower()
    if folded in _FOLDED_ALLOWED:
        return None
    listed = REFUSED_FUNCTIONS.get(folded)
    if listed is not None:
        return listed
    return next((reason for prefix, reason in _REFUSED_FAMILIES if folded.startswith(prefix)), RefusalReason.UNKNOWN)
