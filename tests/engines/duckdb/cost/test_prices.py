from __future__ import annotations

from sql_optim_env.engines.duckdb.cost.kinds import Value
from sql_optim_env.engines.duckdb.cost.model import CostModel
from sql_optim_env.engines.duckdb.cost.prices import UNKNOWN_AGGREGATE, UNKNOWN_FUNCTION, Prices
from sql_optim_env.engines.duckdb.functions import ALLOWED_FUNCTIONS

PRICES = Prices.of(
    {"f|string": (1.0, 2.0), "f|integer": (3.0, 0.0)},
    {},
    frozenset(),
    {"sum|integer": {"ungrouped": (1.0, 0.0), "few_groups": (2.0, 0.0), "many_groups": (10.0, 0.0)}},
)


def test_the_dearest_kind_stands_in_for_an_unmeasured_one() -> None:
    assert PRICES.function("f", "float", 5.0) == 3.0 + 2.0 * 5.0


def test_an_aggregate_is_split_into_rows_and_groups() -> None:
    price = PRICES.aggregate("sum", Value("integer"))
    assert (price.ungrouped, price.grouped, price.per_group) == (1.0, 2.0, 8.0)


def test_an_unknown_aggregate_is_never_free() -> None:
    price = PRICES.aggregate("brand_new", Value("string", 10.0))
    assert not price.measured
    assert price.grouped == UNKNOWN_AGGREGATE[0] + 10.0 * UNKNOWN_AGGREGATE[1]


def test_no_packaged_price_is_zero_or_negative(model: CostModel) -> None:
    prices = model.weights.prices
    assert all(row > 0 and unit >= 0 for row, unit in prices.functions.values())
    assert all(max(row, unit) > 0 for modes in prices.aggregates.values() for row, unit in modes.values())


def test_the_unknown_price_is_above_nine_tenths_of_the_measured_ones(model: CostModel) -> None:
    measured = sorted(row + 16 * unit for row, unit in model.weights.prices.functions.values())
    assert UNKNOWN_FUNCTION[0] + 16 * UNKNOWN_FUNCTION[1] > measured[int(0.9 * len(measured))]


def test_the_common_functions_an_agent_may_call_are_all_measured(model: CostModel) -> None:
    common = frozenset(
        "abs ceil floor round sqrt ln exp lower upper length substr replace trim left right concat contains starts_with strpos "
        "regexp_matches regexp_replace md5 sha256 hash levenshtein string_split strftime date_trunc year month day hour epoch date_diff "
        "dayname last_day "
        "list_sort list_distinct list_contains list_transform list_filter len greatest least lpad reverse printf format".split()
    )
    assert common <= ALLOWED_FUNCTIONS
    assert [name for name in sorted(common) if not model.weights.prices.knows(name)] == []
