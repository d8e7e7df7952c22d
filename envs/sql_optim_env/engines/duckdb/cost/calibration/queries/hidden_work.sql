-- Attempts to do work where the cost model does not look, each with what it relies on.

--- one long list: a list made from a constant is one row to every counter
SELECT list_sum(list_transform(range(1000000), lambda x: x * x % 7)) FROM range(1);

--- long list from a row: the length of a list comes from a value
SELECT list_sum(list_transform(range(id * 200000), lambda x: x * x % 7)) FROM users WHERE id = 5;

--- list_reduce: a lambda that runs once an element of a list made from a value
SELECT list_reduce(range(id * 20000), lambda a, b: a + b % 3) FROM users WHERE id = 5;

--- nested lambdas: lambdas in lambdas multiply the lengths of their lists
SELECT list_sum(list_transform(range(id * 200), lambda x: list_sum(list_transform(range(1000), lambda y: x * y % 5))))
  FROM users WHERE id = 5;

--- recursion over one row: no counter tells how often a recursion iterates
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 20000) SELECT max(n) FROM t;

--- recursion with work: work inside an iteration counts once
WITH RECURSIVE t AS (SELECT 1 AS n, 'a' AS s UNION ALL SELECT n + 1, md5(repeat(s, 300)) FROM t WHERE n < 2000) SELECT
  max(n), max(s) FROM t;

--- heavy regex: how hard a pattern is depends on its text
SELECT count(*) FROM users WHERE regexp_matches(email, '(a|b|u)*(se|r)+.*([0-9]+-?)*(1|2|3)+x?$');

--- regex with bounds: bounded repetitions blow the automaton up
SELECT count(*) FROM users WHERE regexp_matches(email, '([a-z]{1,40}){1,20}[0-9]{1,30}z');

--- repeat: a text made by the query is longer than any column
SELECT max(length(repeat(email, 20000))) FROM users WHERE id < 2000;

--- repeat and md5: a dear function of a text made by the query
SELECT max(md5(repeat(email, 2000))) FROM users WHERE id < 2000;

--- repeat and levenshtein: quadratic in the length of a text made by the query
SELECT max(levenshtein(repeat(email, 30), repeat(email, 29) || 'x')) FROM users WHERE id < 300;

--- lpad and replace: padding makes text, replacing makes it longer
SELECT max(length(replace(lpad(email, 100000, 'xy'), 'x', 'zzzz'))) FROM users WHERE id < 300;

--- hash chain behind an alias: the profile prints the alias only
SELECT max(z) FROM (SELECT sha256(md5(sha256(md5(event_type || id)))) AS z FROM events);

--- hash named like a column: the alias is the name of a column that is there
SELECT max(event_type) FROM (SELECT md5(event_type || id) AS event_type FROM events);

--- lazy case: a branch that is always taken looks as if it were taken sometimes
SELECT sum(CASE WHEN total < 10000 THEN length(md5(status || id)) ELSE 0 END) FROM orders;

--- deep sines: many cheap functions of one value
SELECT sum(sin(sin(sin(sin(sin(sin(sin(sin(total::DOUBLE))))))))) FROM orders;

--- giant ordered text: an aggregate sorts by a key of its own
SELECT length(string_agg(status, ',' ORDER BY md5(id::VARCHAR))) FROM orders WHERE id < 200000;

--- giant sorted list: one list holds the whole table
SELECT list_sort(list(total))[5] FROM orders;

--- unnest fan-out: rows made from a list
SELECT count(*) FROM (SELECT unnest(range(10000)) FROM users WHERE id < 200);

--- generated series: rows made from a constant
SELECT count(*) FROM generate_series(1, 20000000) g(x) WHERE x % 3 = 0;

--- mode of text: an aggregate that the optimizer rewrites
SELECT mode(email || id % 7) FROM users;

--- list of quantiles: one aggregate computes several results
SELECT quantile_cont(total, [0.1, 0.5, 0.9]) FROM orders;

--- cross join with a function: a function for every pair of rows
SELECT count(*) FROM users a, users b WHERE a.id < 3000 AND b.id < 3000 AND sqrt(a.id * b.id) = 3.5;

--- printf: a format makes text from everything
SELECT max(printf('%s-%08d-%f', status, id, total::DOUBLE)) FROM orders;

--- wide range frame: the width of a frame is in no count
SELECT max(s) FROM (SELECT sum(total) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 20 DAY PRECEDING AND INTERVAL 20
  DAY FOLLOWING) AS s FROM orders);

--- wide quantile frame: a holistic aggregate over wide frames
SELECT max(s) FROM (SELECT quantile_cont(total, 0.3) OVER (ORDER BY id ROWS BETWEEN 5000 PRECEDING AND 5000 FOLLOWING)
  AS s FROM orders WHERE id < 100000);

--- split of a repeated text: a short column becomes a long list
SELECT sum(len(string_split(repeat(email, 50), '@'))) FROM users;

--- text of a long list: a list made from a value becomes text
SELECT max(length(array_to_string(range(id * 1000), ','))) FROM users WHERE id < 100;

--- distinct of long lists: a hash table for every list made from a value
SELECT sum(len(list_distinct(range(id * 100)))) FROM users WHERE id < 300;

--- hidden in unnest: the profile does not print what is unnested
SELECT count(u) FROM (SELECT unnest([md5(email), sha256(email), md5(sha256(email))]) AS u FROM users);

--- hidden in a join key: the profile prints keys by their position
SELECT count(*) FROM users a JOIN users b ON sha256(md5(a.email)) = sha256(md5(b.email));

--- hidden in a sort key: the key of a top-N is computed for every row
SELECT id FROM users ORDER BY sha256(md5(email)) LIMIT 3;

--- hidden in a window: the argument of a window function
SELECT max(w) FROM (SELECT max(sha256(md5(email))) OVER (PARTITION BY tier) AS w FROM users);

--- hidden in an aggregate's filter: a predicate for every row of an aggregate
SELECT count(*) FILTER (sha256(md5(email)) > 'a') FROM users;

--- hidden in a group key: the key is printed by its alias
SELECT count(*) FROM (SELECT sha256(md5(email)) AS k FROM users GROUP BY k);

--- hidden in constant folding: what folds is done while planning, which is in no profile
SELECT count(*) FROM users WHERE length(repeat('abc', 20000000)) > id;

--- behind a bit constant: the engine cannot write down a plan with such a constant, so only aliases are left to be priced
SELECT count(DISTINCT event_type) FROM (SELECT md5(sha256(md5(event_type || id))) AS event_type, id FROM events)
  WHERE bit_position('101'::BIT, id::BIT) < 99;

--- behind a dictionary: a function of a short dictionary is priced once an entry, one of two columns is not
SELECT max(md5(event_type || user_id)) FROM events;

--- behind a cheap conjunct: no count tells how many rows a conjunct leaves to the next one
SELECT count(*) FROM events WHERE id > 0 AND md5(event_type || id) <> 'a';

--- self join on a skewed key: no count shows the pairs that a key matches before another predicate drops them
SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.total + b.total < 0 WHERE a.id < 20000;
