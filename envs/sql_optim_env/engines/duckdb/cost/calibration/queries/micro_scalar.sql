-- Scalar functions to benchmark, by the kind of argument: {s} string, {n} number, {i} integer, {t} time, {l} list, {w} list of strings.

--- string
lower({s}); upper({s}); lcase({s}); ucase({s}); length({s}); len({s}); strlen({s}); char_length({s}); length_grapheme({s});
reverse({s}); md5({s}); md5_number({s}); sha1({s}); sha256({s}); hash({s}); ascii({s}); ord({s}); unicode({s}); hex({s});
to_base64({s}::BLOB); base64({s}::BLOB); encode({s}); bit_length({s}); strip_accents({s}); nfc_normalize({s});
url_encode({s}); url_decode({s}); to_binary({s}); substr({s}, 2, 4); substring({s}, 3); substring_grapheme({s}, 2, 3);
left({s}, 4); right({s}, 4); left_grapheme({s}, 3); {s}[2:5]; trim({s}); ltrim({s}); rtrim({s}); trim({s}, 'ab');
lpad({s}, 24, 'x'); rpad({s}, 24, 'x'); repeat({s}, 2); repeat({s}, 6); replace({s}, 'a', 'bb');
translate({s}, 'abc', 'xyz'); overlay({s}, 'zz', 2, 2); concat({s}, 'x'); concat({s}, {s}); concat_ws('-', {s}, 'x');
{s} || 'x'; {s} || {s}; format('{}-{}', {s}, 1); printf('%s-%d', {s}, 1); contains({s}, 'a1'); starts_with({s}, 'a');
prefix({s}, 'ab'); suffix({s}, 'ab'); ends_with({s}, 'ab'); strpos({s}, 'f'); instr({s}, 'f'); position('f' IN {s});
{s} LIKE '%a1%'; {s} LIKE 'a%'; {s} LIKE '%a_b%c'; {s} LIKE '%9'; {s} ILIKE '%A1%'; {s} ILIKE 'ab%'; {s} NOT LIKE '%zz%';
{s} = 'abc'; {s} <> 'abc'; {s} < 'b'; {s} >= 'c'; {s} IN ('a', 'b', 'c'); {s} IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
{s} BETWEEN 'a' AND 'c'; {s} IS NULL; {s} IS NOT DISTINCT FROM 'a'; coalesce({s}, 'x'); nullif({s}, 'x');
greatest({s}, 'm'); least({s}, 'm'); regexp_matches({s}, '[0-9]+'); regexp_matches({s}, '^[a-f]+[0-9]{2}');
regexp_matches({s}, '(a|b)+c.*[0-9]$'); regexp_full_match({s}, '[a-f0-9]+'); regexp_replace({s}, '[0-9]+', '#');
regexp_replace({s}, '[0-9]+', '#', 'g'); regexp_extract({s}, '([a-f]+)([0-9]+)', 1); regexp_extract_all({s}, '[0-9]+');
regexp_split_to_array({s}, '[0-9]'); string_split_regex({s}, '[0-9]'); regexp_escape({s}); string_split({s}, 'a');
str_split({s}, 'b'); split_part({s}, 'a', 2); split({s}, 'c'); string_to_array({s}, 'a'); levenshtein({s}, 'abcdef0123');
damerau_levenshtein({s}, 'abcdef0123'); editdist3({s}, 'abcdef01'); jaccard({s}, 'abcdef01');
jaro_similarity({s}, 'abcdef01'); jaro_winkler_similarity({s}, 'abcdef01'); hamming(substr({s}, 1, 4), 'abcd');
mismatches(substr({s}, 1, 4), 'abcd'); {s}::BLOB; try_cast({s} AS INTEGER); try_cast({s} AS DOUBLE); try_cast({s} AS DATE);
try_cast({s} AS TIMESTAMP); try_cast({s} AS DECIMAL(12,2));
CASE WHEN {s} < 'b' THEN 'x' WHEN {s} < 'd' THEN 'y' ELSE 'z' END; CASE {s} WHEN 'a' THEN 1 ELSE 0 END; [{s}, 'x'];
struct_pack(a := {s}, b := 1); {s}::VARCHAR = 'q' OR {s} > 'e'; typeof({s}); array_extract({s}, 2);

--- number
{n} + 1; {n} - 1; {n} * 2; {n} / 3; {n} // 3; {n} % 7; -{n}; {n} + {n}; {n} * {n}; {n} - {n}; abs({n}); sign({n});
round({n}, 1); round({n}); floor({n}); ceil({n}); trunc({n}); mod({n}, 7); even({n}); sqrt({n}); cbrt({n}); exp({n} / 1e6);
ln({n} + 1); log({n} + 1); log2({n} + 1); log10({n} + 1); pow({n}, 2); power({n}, 0.5); {n} ** 2; sin({n}); cos({n});
tan({n}); cot({n} + 1); asin({n} / 1e9); acos({n} / 1e9); atan({n}); atan2({n}, 3); degrees({n}); radians({n});
gamma({n} / 1e5 + 1); lgamma({n} + 1); fmod({n}, 7); isnan({n}::DOUBLE); isinf({n}::DOUBLE); isfinite({n}::DOUBLE);
sinh({n} / 1e6); cosh({n} / 1e6); tanh({n}); signbit({n}::DOUBLE); roundbankers({n}, 1); nextafter({n}::DOUBLE, 1);
fdiv({n}, 7); divide({n}::BIGINT, 3); {n} = 5; {n} > 5; {n} <= 500; {n} <> 7; {n} BETWEEN 10 AND 200; {n} IN (1, 2, 3);
{n} IN (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610); {n} IS NULL; {n} IS DISTINCT FROM 3; coalesce({n}, 0);
nullif({n}, 3); greatest({n}, 50); least({n}, 50); hash({n}); {n}::VARCHAR; {n}::DOUBLE; {n}::BIGINT; {n}::HUGEINT;
{n}::DECIMAL(18,2); {n}::INTEGER; {n}::SMALLINT = 3; format('{}', {n}); CASE WHEN {n} > 500 THEN 1 ELSE 0 END;
CASE WHEN {n} > 900 THEN 'a' WHEN {n} > 500 THEN 'b' WHEN {n} > 100 THEN 'c' ELSE 'd' END;
CASE WHEN {n} > 500 THEN {n} END; if({n} > 5, 1, 2); {n} > 5 AND {n} < 500; {n} = 5 OR {n} = 9; NOT ({n} > 5); [{n}, {n}];
[{n}, {n}, {n}, {n}]; concat({n}, 'x'); ({n} > 5)::INTEGER; {n}::FLOAT;

--- integer
{i} & 7; {i} | 8; xor({i}, 5); {i} << 2; {i} >> 1; bit_count({i}); factorial({i}::INTEGER % 12); gcd({i}, 12);
lcm({i}, 12); to_hex({i}); hex({i}); bin({i}); to_base({i}, 16); chr(({i} % 90 + 32)::INTEGER); format_bytes({i});
bar({i}, 0, 1000000, 10); make_date(2020, 1 + {i} % 12, 1); make_timestamp({i}); make_time({i} % 24, 1, 1.5);
to_days({i}::INTEGER % 99); to_seconds({i}); to_minutes({i}); to_hours({i}); to_months({i}::INTEGER % 99);
to_weeks({i}::INTEGER % 9); to_years({i}::INTEGER % 9); to_timestamp({i}); epoch_ms({i}); printf('%05d', {i});
range({i} % 4); range({i} % 16); generate_series(1, {i} % 8); repeat('ab', ({i} % 4)::INTEGER); lpad({i}::VARCHAR, 8, '0');
formatReadableSize({i}); unbin(bin({i}));

--- time
year({t}); month({t}); day({t}); quarter({t}); week({t}); weekofyear({t}); dayofweek({t}); isodow({t}); dayofyear({t});
isoyear({t}); yearweek({t}); decade({t}); century({t}); era({t}); hour({t}); minute({t}); second({t}); millisecond({t});
microsecond({t}); epoch({t}); epoch_ms({t}); epoch_us({t}); epoch_ns({t}); julian({t}); date_part('month', {t});
extract(hour FROM {t}); date_part(['year', 'month'], {t}); date_trunc('month', {t}); date_trunc('day', {t});
date_trunc('hour', {t}); date_trunc('week', {t}); date_diff('day', {t}, TIMESTAMP '2024-06-01');
date_diff('month', {t}, TIMESTAMP '2024-06-01'); date_sub('day', {t}, TIMESTAMP '2024-06-01');
age({t}, TIMESTAMP '2024-06-01'); strftime({t}, '%Y-%m-%d'); strftime({t}, '%Y-%m'); strftime({t}, '%H:%M:%S');
strftime({t}, '%A %d %B %Y'); dayname({t}); monthname({t}); last_day({t}); time_bucket(INTERVAL 7 DAY, {t});
time_bucket(INTERVAL 1 HOUR, {t}::TIMESTAMP); {t} + INTERVAL 1 DAY; {t} - INTERVAL 3 HOUR; {t} + INTERVAL 2 MONTH;
{t} - TIMESTAMP '2023-01-01'; {t} = TIMESTAMP '2023-05-01'; {t} >= TIMESTAMP '2023-05-01';
{t} BETWEEN TIMESTAMP '2023-05-01' AND TIMESTAMP '2023-06-01'; {t} IN (DATE '2023-05-01', DATE '2023-05-02'); {t}::DATE;
{t}::TIMESTAMP; {t}::VARCHAR; {t}::TIMESTAMPTZ; hash({t}); coalesce({t}, TIMESTAMP '2023-01-01');
greatest({t}, TIMESTAMP '2023-05-01'); least({t}, TIMESTAMP '2023-05-01'); nullif({t}, TIMESTAMP '2023-05-01');
{t} IS NULL; days_in_month({t}); CASE WHEN {t} < TIMESTAMP '2023-05-01' THEN 'old' ELSE 'new' END; isfinite({t});
strptime(strftime({t}, '%Y-%m-%d'), '%Y-%m-%d'); try_strptime(strftime({t}, '%Y-%m-%d'), '%Y-%m-%d');
CAST(strftime({t}, '%Y-%m-%d') AS DATE); {t}::TIME; timezone('UTC', {t}::TIMESTAMP);

--- list
len({l}); array_length({l}); {l}[1]; {l}[2:4]; list_extract({l}, 2); list_element({l}, 1); list_slice({l}, 1, 3);
list_contains({l}, 7); list_position({l}, 7); list_has({l}, 5); list_sort({l}); list_reverse_sort({l}); list_grade_up({l});
list_distinct({l}); list_unique({l}); list_reverse({l}); list_concat({l}, [1]); list_append({l}, 3); list_prepend(3, {l});
list_has_any({l}, [1, 2]); list_has_all({l}, [1, 2]); list_intersect({l}, [1, 2, 3]); list_zip({l}, {l});
list_where({l}, [true, false]); list_resize({l}, 8); flatten([{l}, {l}]); list_sum({l}); list_avg({l}); list_min({l});
list_max({l}); list_median({l}); list_count({l}); list_mode({l}); list_first({l}); list_last({l}); list_any_value({l});
list_stddev_pop({l}); list_product({l}); list_aggregate({l}, 'sum'); list_approx_count_distinct({l}); list_bit_xor({l});
list_string_agg({l}); list_histogram({l}); list_entropy({l}); list_transform({l}, lambda x: x + 1);
list_transform({l}, lambda x: x * x % 7); list_filter({l}, lambda x: x > 50);
list_filter({l}, lambda x: x % 2 = 0 AND x > 9); list_reduce({l}, lambda a, b: a + b); {l} = [1, 2]; {l} IS NULL;
hash({l}); {l}::VARCHAR; {l}::BIGINT[]; array_to_string({l}, ','); unnest({l}); list_cosine_similarity({l}, {l});
list_dot_product({l}, {l}); list_distance({l}, {l}); array_slice({l}, 1, 2); list_pack({l}); list_select({l}, [1, 2]);
map_keys(map(list_distinct({l}), list_distinct({l}))); map_from_entries([{{'k': 1, 'v': {l}}}]);

--- words
len({w}); {w}[1]; list_contains({w}, 'b7'); list_sort({w}); list_distinct({w}); list_unique({w});
array_to_string({w}, ','); list_string_agg({w}); unnest({w}); list_max({w}); hash({w});
list_filter({w}, lambda x: x > 'b'); list_transform({w}, lambda x: upper(x)); list_position({w}, 'a3'); {w}::VARCHAR;
list_concat({w}, ['z']); list_has_any({w}, ['a1', 'b1']);

--- mixed columns
digits::INTEGER; digits::BIGINT; maybe_i IS NULL; maybe_s IS NULL; maybe_t IS NOT NULL; coalesce(maybe_i, 0);
coalesce(maybe_s, 'none'); coalesce(maybe_t, ts); coalesce(maybe_s, s20); ifnull(maybe_i, b); digits::DOUBLE;
digits::DECIMAL(12,2); bo AND i > 5; NOT bo; bo OR i > 5; bo::INTEGER; bo = true; CASE WHEN bo THEN d ELSE 0 END;
CASE WHEN bo THEN s20 ELSE s8 END; i + b; i * d; m * i; m + m; d > i; s8 < s20; s8 = s20; ts < ts + INTERVAL 1 DAY;
coalesce(nullif(i, 3), b); md5(i::VARCHAR || s8); (i::VARCHAR || '-' || b::VARCHAR); struct_pack(a := i, b := s8); pair.a;
pair.b; struct_extract(pair, 'a') + 1; named['x']; map_extract(named, 'y'); create_sort_key(i, 'ASC NULLS LAST');
create_sort_key(d, 'DESC NULLS LAST'); create_sort_key(m, 'ASC NULLS LAST'); create_sort_key(h, 'ASC NULLS LAST');
create_sort_key(ts, 'DESC NULLS LAST'); create_sort_key(s8, 'ASC NULLS LAST'); create_sort_key(s20, 'ASC NULLS LAST');
create_sort_key(s60, 'ASC NULLS LAST'); (i, s8); row(i, s8, d); m * m; m * 1.1; m / i; round(m * 1.1, 2); i // 10 * 10;
(ts::DATE)::VARCHAR; epoch(ts) - 1e9; ts - ts; uuid_extract_version('2f2b2c64-0000-4000-8000-000000000000'::UUID);

--- rarer functions of strings
{s} GLOB 'a*9'; like_escape({s}, '%a$_%', '$'); not_like_escape({s}, '%a$_%', '$'); ilike_escape({s}, '%A$_%', '$');
not_ilike_escape({s}, '%A$_%', '$'); {s} NOT ILIKE '%ZZ%'; octet_length({s}::BLOB); decode({s}::BLOB);
from_base64(to_base64({s}::BLOB)); unhex(hex({s})); md5_number_lower({s}); md5_number_upper({s}); right_grapheme({s}, 3);
regexp_split_to_table({s}, '[0-9]'); constant_or_null('x', {s}); invoke(lambda x: upper(x), {s});
switch({s}, MAP {{'a': 1, 'b': 2}}, 3);

--- rarer functions of numbers
asinh({n}); acosh({n} + 1); atanh({n} / 1e9); constant_or_null(1, {n}); switch({n}, MAP {{1: 10, 2: 20}}, 30); {n} + pi();
equi_width_bins(0, {n}::BIGINT, 5, false); equi_width_bins(0, {n}::BIGINT, 40, true);

--- rarer functions of integers
~{i}; binom(({i} % 20)::INTEGER, 3); formatReadableDecimalSize({i}); parse_formatted_bytes(format_bytes({i}));
make_timestamp_ms({i}); make_timestamp_ns({i}); make_timestamptz(2020, 1, 1 + {i} % 28, 3, 4, 5.5); to_microseconds({i});
to_milliseconds({i}); to_quarters({i}::INTEGER % 9); to_decades({i}::INTEGER % 9); to_centuries({i}::INTEGER % 9);
to_millennia({i}::INTEGER % 2); is_histogram_other_bin({i}); normalized_interval(to_hours({i}));

--- rarer functions of times
date_add({t}, INTERVAL 1 DAY); datediff('day', {t}, TIMESTAMP '2024-06-01'); datesub('day', {t}, TIMESTAMP '2024-06-01');
datepart('month', {t}); datetrunc('month', {t}); dayofmonth({t}); weekday({t}); millennium({t}); nanosecond({t});
timezone_hour({t}::TIMESTAMPTZ); timezone_minute({t}::TIMESTAMPTZ);

--- rarer functions of lists
{l} && [1, 2]; array_append({l}, 3); array_push_back({l}, 3); array_prepend(3, {l}); array_push_front({l}, 3);
array_pop_back({l}); array_pop_front({l}); array_reverse({l}); list_bit_and({l}); list_bit_or({l});
list_bool_and([{l}[1] > 5, {l}[2] > 5]); list_bool_or([{l}[1] > 5, {l}[2] > 5]); list_kurtosis({l}); list_kurtosis_pop({l});
list_mad({l}); list_sem({l}); list_skewness({l}); list_stddev_samp({l}); list_var_pop({l}); list_var_samp({l});
list_cosine_distance({l}::DOUBLE[], {l}::DOUBLE[]); list_inner_product({l}::DOUBLE[], {l}::DOUBLE[]);
list_negative_inner_product({l}::DOUBLE[], {l}::DOUBLE[]); array_to_string_comma_default({w}); generate_subscripts({l}, 1);

--- arrays, bits, enumerations, structs, maps
array_value(i, b, 3); array_distance(a3, a3); array_cosine_distance(a3, a3); array_cosine_similarity(a3, a3);
array_inner_product(a3, a3); array_negative_inner_product(a3, a3); array_cross_product(a3, a3); bitstring(bits, 64);
get_bit(bits, 3); set_bit(bits, 3, 1); bit_position(bits, bits); bits & bits; ~bits; enum_code(en); enum_first(en);
enum_last(en); enum_range(en); enum_range_boundary(en, 'c'::mood); uuid_extract_timestamp(uu); struct_concat(pair, {{'c': i}});
struct_contains(row(i, i), 5); struct_position(row(i, i), 5); struct_insert(pair, c := i); struct_update(pair, a := i);
struct_keys(pair); struct_values(pair); struct_extract_at(pair, 1); cardinality(named); map_concat(named, named);
map_contains(named, 'x'); map_contains_entry(named, 'x', 3::BIGINT); map_contains_value(named, 1); map_entries(named);
map_values(named); map_extract_value(named, 'y'); array_extract(a3, 2);

--- functions of long lists, which take longer an element
list_distinct(rarely_l120); list_unique(rarely_l120); list_intersect(rarely_l120, rarely_l120);
list_has_any(rarely_l120, rarely_l120); list_has_all(rarely_l120, rarely_l120); list_sort(rarely_l120);
list_reverse_sort(rarely_l120); list_grade_up(rarely_l120); list_mode(rarely_l120); list_histogram(rarely_l120);
list_entropy(rarely_l120); list_median(rarely_l120);
