-- Aggregates to benchmark; {x} is every column in turn.

--- aggregates
count({x}); sum({x}); avg({x}); min({x}); max({x}); any_value({x}); first({x}); last({x}); list({x}); array_agg({x});
string_agg({x}, ','); median({x}); mode({x}); quantile_cont({x}, 0.9); quantile_disc({x}, 0.9);
quantile_cont({x}, [0.1, 0.5, 0.9]); approx_quantile({x}, 0.9); mad({x}); stddev({x}); stddev_pop({x}); variance({x});
var_pop({x}); skewness({x}); kurtosis({x}); entropy({x}); approx_count_distinct({x}); approx_top_k({x}, 3); histogram({x});
arg_max({x}, d); arg_min({x}, i); arg_max({x}, m); arg_max({x}, i); arg_min({x}, d); arg_min({x}, s20); arg_max({x}, ts); arg_max({x}, s20); arg_min({x}, m); arg_min({x}, ts);
max({x}, 3); min({x}, 3); max_by({x}, b); min_by({x}, b); bit_and({x}); bit_or({x}); bit_xor({x}); bool_and({x} > 5);
bool_or({x} > 5); count_if({x} > 5); product({x}); fsum({x}); favg({x}); kahan_sum({x}); sem({x}); geomean({x} + 1);
corr({x}, d); covar_pop({x}, d); covar_samp({x}, d); regr_slope({x}, d); regr_r2({x}, d); regr_count({x}, d);
regr_intercept({x}, d); regr_avgx({x}, d); list({x} ORDER BY d); string_agg({x}, ',' ORDER BY b); first({x} ORDER BY b);
last({x} ORDER BY b); any_value({x} ORDER BY b); array_agg({x} ORDER BY ts);

--- rarer aggregates
arg_max_null({x}, d); arg_min_null({x}, d); arg_max_nulls_last({x}, d); arg_min_nulls_last({x}, d); bitstring_agg({x}, 0, 999);
count_star(); geometric_mean({x} + 1); histogram_exact({x}, [1, 5, 9]); kurtosis_pop({x}); quantile({x}, 0.9); regr_avgy({x}, d);
regr_sxx({x}, d); regr_sxy({x}, d); regr_syy({x}, d); stddev_samp({x}); var_samp({x}); wavg({x}, d); weighted_avg({x}, d);
