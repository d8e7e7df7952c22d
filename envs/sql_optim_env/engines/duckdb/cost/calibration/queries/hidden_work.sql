-- Attempts to do work where the cost model does not look.

--- one long list
SELECT list_sum(list_transform(range(1000000), lambda x: x * x % 7)) FROM range(1);

--- long list from a row
SELECT list_sum(list_transform(range(id * 200000), lambda x: x * x % 7)) FROM users WHERE id = 5;

--- list_reduce
SELECT list_reduce(range(id * 20000), lambda a, b: a + b % 3) FROM users WHERE id = 5;

--- nested lambdas
SELECT list_sum(list_transform(range(id * 200), lambda x: list_sum(list_transform(range(1000), lambda y: x * y % 5))))
  FROM users WHERE id = 5;

--- recursion over one row
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 20000) SELECT max(n) FROM t;

--- recursion with work
WITH RECURSIVE t AS (SELECT 1 AS n, 'a' AS s UNION ALL SELECT n + 1, md5(repeat(s, 300)) FROM t WHERE n < 2000) SELECT
  max(n), max(s) FROM t;

--- heavy regex
SELECT count(*) FROM users WHERE regexp_matches(email, '(a|b|u)*(se|r)+.*([0-9]+-?)*(1|2|3)+x?$');

--- regex with bounds
SELECT count(*) FROM users WHERE regexp_matches(email, '([a-z]{1,40}){1,20}[0-9]{1,30}z');

--- repeat
SELECT max(length(repeat(email, 20000))) FROM users WHERE id < 2000;

--- repeat and md5
SELECT max(md5(repeat(email, 2000))) FROM users WHERE id < 2000;

--- repeat and levenshtein
SELECT max(levenshtein(repeat(email, 30), repeat(email, 29) || 'x')) FROM users WHERE id < 300;

--- lpad and replace
SELECT max(length(replace(lpad(email, 100000, 'xy'), 'x', 'zzzz'))) FROM users WHERE id < 300;

--- hash chain behind an alias
SELECT max(z) FROM (SELECT sha256(md5(sha256(md5(event_type || id)))) AS z FROM events);

--- hash named like a column
SELECT max(event_type) FROM (SELECT md5(event_type || id) AS event_type FROM events);

--- lazy case
SELECT sum(CASE WHEN total < 10000 THEN length(md5(status || id)) ELSE 0 END) FROM orders;

--- deep sines
SELECT sum(sin(sin(sin(sin(sin(sin(sin(sin(total::DOUBLE))))))))) FROM orders;

--- giant ordered text
SELECT length(string_agg(status, ',' ORDER BY md5(id::VARCHAR))) FROM orders WHERE id < 200000;

--- giant sorted list
SELECT list_sort(list(total))[5] FROM orders;

--- unnest fan-out
SELECT count(*) FROM (SELECT unnest(range(10000)) FROM users WHERE id < 200);

--- generated series
SELECT count(*) FROM generate_series(1, 20000000) g(x) WHERE x % 3 = 0;

--- mode of text
SELECT mode(email || id % 7) FROM users;

--- list of quantiles
SELECT quantile_cont(total, [0.1, 0.5, 0.9]) FROM orders;

--- cross join with a function
SELECT count(*) FROM users a, users b WHERE a.id < 3000 AND b.id < 3000 AND sqrt(a.id * b.id) = 3.5;

--- printf
SELECT max(printf('%s-%08d-%f', status, id, total::DOUBLE)) FROM orders;

--- wide range frame
SELECT max(s) FROM (SELECT sum(total) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 20 DAY PRECEDING AND INTERVAL 20
  DAY FOLLOWING) AS s FROM orders);

--- wide quantile frame
SELECT max(s) FROM (SELECT quantile_cont(total, 0.3) OVER (ORDER BY id ROWS BETWEEN 5000 PRECEDING AND 5000 FOLLOWING)
  AS s FROM orders WHERE id < 100000);

--- split of a repeated text
SELECT sum(len(string_split(repeat(email, 50), '@'))) FROM users;

--- text of a long list
SELECT max(length(array_to_string(range(id * 1000), ','))) FROM users WHERE id < 100;

--- distinct of long lists
SELECT sum(len(list_distinct(range(id * 100)))) FROM users WHERE id < 300;

--- hidden in unnest
SELECT count(u) FROM (SELECT unnest([md5(email), sha256(email), md5(sha256(email))]) AS u FROM users);

--- hidden in a join key
SELECT count(*) FROM users a JOIN users b ON sha256(md5(a.email)) = sha256(md5(b.email));

--- hidden in a sort key
SELECT id FROM users ORDER BY sha256(md5(email)) LIMIT 3;

--- hidden in a window
SELECT max(w) FROM (SELECT max(sha256(md5(email))) OVER (PARTITION BY tier) AS w FROM users);

--- hidden in an aggregate's filter
SELECT count(*) FILTER (sha256(md5(email)) > 'a') FROM users;

--- hidden in a group key
SELECT count(*) FROM (SELECT sha256(md5(email)) AS k FROM users GROUP BY k);

--- hidden in constant folding
SELECT count(*) FROM users WHERE length(repeat('abc', 20000000)) > id;
