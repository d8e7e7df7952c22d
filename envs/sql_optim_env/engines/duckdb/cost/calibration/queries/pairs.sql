-- Pairs: the dear query of each first, the cheap one second.

--- rank by counting
SELECT o.id, (SELECT count(*) FROM orders p WHERE p.product_id = o.product_id AND p.total > o.total) AS n FROM orders o
  WHERE o.id < 40000;
SELECT id, rank() OVER (PARTITION BY product_id ORDER BY total DESC) - 1 AS n FROM orders;

--- running total by triangle
SELECT a.id, sum(b.total) AS s FROM orders a JOIN orders b ON b.product_id = a.product_id AND b.id <= a.id WHERE a.id <
  60000 AND b.id < 60000 GROUP BY 1;
SELECT id, sum(total) OVER (PARTITION BY product_id ORDER BY id) AS s FROM orders WHERE id < 60000;

--- latest by anti join
SELECT a.id FROM orders a LEFT JOIN orders b ON b.customer_id = a.customer_id AND b.created_at > a.created_at WHERE b.id
  IS NULL AND a.id > 250000;
SELECT id FROM orders WHERE id > 250000 QUALIFY rank() OVER (PARTITION BY customer_id ORDER BY created_at DESC) = 1;

--- difference in the predicate
SELECT a.id, b.id FROM events a, events b WHERE a.id BETWEEN 1000 AND 5000 AND b.id BETWEEN 1000 AND 5000 AND a.id -
  b.id = 3;
SELECT a.id, b.id FROM events a JOIN events b ON a.id = b.id + 3 WHERE a.id BETWEEN 1000 AND 5000 AND b.id BETWEEN 1000
  AND 5000;

--- alternative keys
SELECT a.id, b.id FROM orders a JOIN orders b ON a.customer_id = b.customer_id OR a.created_at = b.created_at WHERE a.id
  < 4000 AND b.id < 4000;
SELECT a.id, b.id FROM orders a JOIN orders b ON a.customer_id = b.customer_id WHERE a.id < 4000 AND b.id < 4000 UNION
  ALL SELECT a.id, b.id FROM orders a JOIN orders b ON a.created_at = b.created_at WHERE a.customer_id <> b.customer_id
  AND a.id < 4000 AND b.id < 4000;

--- month by text
SELECT id, total FROM orders WHERE strftime(created_at, '%Y%m') = '202406';
SELECT id, total FROM orders WHERE created_at >= TIMESTAMP '2024-06-01' AND created_at < TIMESTAMP '2024-07-01';

--- day by text
SELECT count(*) FROM events WHERE strftime(occurred_at, '%d.%m.%Y') = '05.03.2024';
SELECT count(*) FROM events WHERE occurred_at >= TIMESTAMP '2024-03-05' AND occurred_at < TIMESTAMP '2024-03-06';

--- date parts
SELECT id FROM events WHERE year(occurred_at) = 2023 AND month(occurred_at) = 7;
SELECT id FROM events WHERE occurred_at >= TIMESTAMP '2023-07-01' AND occurred_at < TIMESTAMP '2023-08-01';

--- moved interval
SELECT id FROM orders WHERE created_at - INTERVAL 2 DAY >= TIMESTAMP '2024-12-01';
SELECT id FROM orders WHERE created_at >= TIMESTAMP '2024-12-03';

--- text of a key
SELECT * FROM orders WHERE customer_id::VARCHAR = '77';
SELECT * FROM orders WHERE customer_id = 77;

--- prefix of a key's text
SELECT count(*) FROM events WHERE user_id::VARCHAR LIKE '12%';
SELECT count(*) FROM events WHERE user_id = 12 OR user_id BETWEEN 120 AND 129 OR user_id BETWEEN 1200 AND 1299;

--- regex for equality
SELECT count(*) FROM orders WHERE regexp_matches(status, '^ret.*ned$');
SELECT count(*) FROM orders WHERE status = 'returned';

--- regex for like
SELECT count(*) FROM users WHERE regexp_matches(email, '^user1.*example$');
SELECT count(*) FROM users WHERE email LIKE 'user1%example';

--- distinct over a fan-out
SELECT DISTINCT u.id, u.email FROM users u JOIN orders o ON o.customer_id = u.id WHERE o.total > 20;
SELECT u.id, u.email FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = u.id AND o.total > 20);

--- union of disjoint parts
SELECT id, user_id FROM events WHERE event_type = 'cart' UNION SELECT id, user_id FROM events WHERE event_type =
  'checkout';
SELECT id, user_id FROM events WHERE event_type IN ('cart', 'checkout');

--- union without need
SELECT customer_id AS u, created_at AS at, 'o' AS k FROM orders UNION SELECT user_id, occurred_at, 'e' FROM events;
SELECT customer_id AS u, created_at AS at, 'o' AS k FROM orders UNION ALL SELECT user_id, occurred_at, 'e' FROM events;

--- membership in a text
SELECT customer_id FROM orders GROUP BY 1 HAVING contains(string_agg(status, ','), 'returned');
SELECT DISTINCT customer_id FROM orders WHERE status = 'returned';

--- count by splitting
SELECT user_id, len(string_split(string_agg(id::VARCHAR, ';'), ';')) AS n FROM events GROUP BY 1;
SELECT user_id, count(*) AS n FROM events GROUP BY 1;

--- membership in a list
SELECT user_id FROM events GROUP BY 1 HAVING list_contains(list(event_type), 'logout');
SELECT DISTINCT user_id FROM events WHERE event_type = 'logout';

--- list to count
SELECT customer_id, len(list(id)) AS n FROM orders GROUP BY 1;
SELECT customer_id, count(*) AS n FROM orders GROUP BY 1;

--- list to count distinct
SELECT customer_id, len(list_distinct(list(product_id))) AS n FROM orders GROUP BY 1;
SELECT customer_id, count(DISTINCT product_id) AS n FROM orders GROUP BY 1;

--- sorted list for a maximum
SELECT product_id, list_sort(list(total))[-1] AS m FROM orders GROUP BY 1;
SELECT product_id, max(total) AS m FROM orders GROUP BY 1;

--- distinct over a key
SELECT user_id, count(DISTINCT id) AS n FROM events GROUP BY 1;
SELECT user_id, count(*) AS n FROM events GROUP BY 1;

--- paging by row number
SELECT id, status, total FROM (SELECT *, row_number() OVER (ORDER BY total DESC, id) AS rn FROM orders) WHERE rn <= 20;
SELECT id, status, total FROM orders ORDER BY total DESC, id LIMIT 20;

--- newest by row number
SELECT user_id, occurred_at FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY occurred_at DESC, id) AS rn
  FROM events) WHERE rn = 1;
SELECT user_id, max(occurred_at) FROM events GROUP BY 1;

--- largest by row number
SELECT product_id, id FROM (SELECT product_id, id, row_number() OVER (PARTITION BY product_id ORDER BY total DESC, id)
  AS rn FROM orders) WHERE rn = 1;
SELECT product_id, arg_max(id, total) FROM orders GROUP BY 1;

--- late limit
SELECT u.id, u.email, (SELECT count(DISTINCT session_id) FROM events e WHERE e.user_id = u.id) AS n FROM users u ORDER
  BY u.created_at, u.id LIMIT 5;
WITH t AS MATERIALIZED (SELECT id, email FROM users ORDER BY created_at, id LIMIT 5) SELECT t.id, t.email, (SELECT
  count(DISTINCT session_id) FROM events e WHERE e.user_id = t.id) AS n FROM t;

--- limit below joins
SELECT o.id, u.email, p.name FROM orders o JOIN users u ON u.id = o.customer_id JOIN products p ON p.id = o.product_id
  ORDER BY o.created_at DESC, o.id LIMIT 15;
SELECT o.id, u.email, p.name FROM (SELECT * FROM orders WHERE product_id IS NOT NULL ORDER BY created_at DESC, id LIMIT
  15) o JOIN users u ON u.id = o.customer_id JOIN products p ON p.id = o.product_id;

--- sort without need
SELECT product_id, sum(total) FROM (SELECT * FROM orders ORDER BY total LIMIT 10000000) GROUP BY 1;
SELECT product_id, sum(total) FROM orders GROUP BY 1;

--- filter after grouping
SELECT o.customer_id, sum(o.total) FROM orders o JOIN users u ON u.id = o.customer_id GROUP BY 1 HAVING
  any_value(u.plan) = 'trial';
SELECT o.customer_id, sum(o.total) FROM orders o JOIN users u ON u.id = o.customer_id WHERE u.plan = 'trial' GROUP BY 1;

--- fine grouping first
SELECT customer_id, sum(n) FROM (SELECT customer_id, created_at, total, count(*) AS n FROM orders GROUP BY ALL) GROUP BY
  1;
SELECT customer_id, count(*) FROM orders GROUP BY 1;

--- except for a filter
SELECT * FROM orders EXCEPT SELECT * FROM orders WHERE status = 'cancelled';
SELECT * FROM orders WHERE status <> 'cancelled';

--- intersect for a filter
SELECT id, user_id FROM events WHERE event_type = 'view' INTERSECT SELECT id, user_id FROM events WHERE user_id < 500;
SELECT id, user_id FROM events WHERE event_type = 'view' AND user_id < 500;

--- session gaps by self join
SELECT e.id FROM events e WHERE e.id < 200000 AND NOT EXISTS (SELECT 1 FROM events p WHERE p.user_id = e.user_id AND
  p.occurred_at < e.occurred_at AND p.occurred_at >= e.occurred_at - INTERVAL 30 MINUTE AND p.id < 200000);
SELECT id FROM (SELECT id, occurred_at, lag(occurred_at) OVER (PARTITION BY user_id ORDER BY occurred_at) AS l FROM
  events WHERE id < 200000) WHERE l IS NULL OR l < occurred_at - INTERVAL 30 MINUTE;

--- median by row numbers
SELECT product_id, total FROM (SELECT product_id, total, row_number() OVER (PARTITION BY product_id ORDER BY total, id)
  AS rn, count(*) OVER (PARTITION BY product_id) AS n FROM orders) WHERE rn = (n + 1) // 2;
SELECT product_id, quantile_disc(total, 0.5) FROM orders GROUP BY 1;

--- days by range join
SELECT d.day, count(o.id) FROM (SELECT unnest(generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-12-31', INTERVAL 1
  DAY)) AS day) d LEFT JOIN orders o ON o.created_at >= d.day AND o.created_at < d.day + INTERVAL 1 DAY GROUP BY 1;
SELECT created_at::DATE AS day, count(*) FROM orders WHERE created_at >= TIMESTAMP '2024-01-01' GROUP BY 1;

--- days by cross join
SELECT d.day, count(*) FILTER (date_trunc('day', o.created_at) = d.day) FROM (SELECT unnest(generate_series(TIMESTAMP
  '2024-06-01', TIMESTAMP '2024-06-10', INTERVAL 1 DAY)) AS day) d, orders o GROUP BY 1;
SELECT date_trunc('day', created_at) AS day, count(*) FROM orders WHERE created_at >= TIMESTAMP '2024-06-01' AND
  created_at < TIMESTAMP '2024-06-11' GROUP BY 1;

--- rolling count by subquery
SELECT o.id, (SELECT count(*) FROM orders p WHERE p.customer_id = o.customer_id AND p.created_at <= o.created_at AND
  p.created_at > o.created_at - INTERVAL 7 DAY) AS n FROM orders o WHERE o.id < 50000;
SELECT id, count(*) OVER (PARTITION BY customer_id ORDER BY created_at RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND
  CURRENT ROW) AS n FROM orders;

--- last seen by subquery
SELECT o.id, (SELECT max(e.occurred_at) FROM events e WHERE e.user_id = o.customer_id AND e.occurred_at <= o.created_at)
  AS s FROM orders o WHERE o.id < 30000;
SELECT o.id, e.occurred_at AS s FROM orders o ASOF LEFT JOIN events e ON e.user_id = o.customer_id AND e.occurred_at <=
  o.created_at WHERE o.id < 30000;

--- next by subquery
SELECT e.id, (SELECT min(n.occurred_at) FROM events n WHERE n.user_id = e.user_id AND n.occurred_at > e.occurred_at) AS
  x FROM events e WHERE e.id > 900000;
SELECT id, lead(occurred_at) OVER (PARTITION BY user_id ORDER BY occurred_at) AS x FROM events WHERE id > 900000;

--- window for a sum
SELECT DISTINCT customer_id, sum(total) OVER (PARTITION BY customer_id) AS s FROM orders;
SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1;

--- window then filter
SELECT id, n FROM (SELECT *, count(*) OVER (PARTITION BY session_id) AS n FROM events) WHERE n > 15;
SELECT e.id, g.n FROM events e JOIN (SELECT session_id, count(*) AS n FROM events GROUP BY 1 HAVING count(*) > 15) g ON
  g.session_id = e.session_id;

--- window over everything
SELECT id, s FROM (SELECT *, sum(total) OVER (PARTITION BY customer_id ORDER BY created_at, id) AS s FROM orders) WHERE
  customer_id = 77;
SELECT id, sum(total) OVER (ORDER BY created_at, id) AS s FROM orders WHERE customer_id = 77;

--- average by a window
SELECT id FROM (SELECT id, total, avg(total) OVER () AS a FROM orders) WHERE total > 3 * a;
SELECT id FROM orders WHERE total > 3 * (SELECT avg(total) FROM orders);

--- two windows for one
SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY occurred_at, id) AS a, row_number() OVER (PARTITION BY
  session_id ORDER BY occurred_at, id) AS b FROM events WHERE id < 400000;
SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY occurred_at, id) AS a FROM events WHERE id < 400000;

--- wide sort
SELECT * FROM orders ORDER BY total, id;
SELECT id FROM orders ORDER BY total, id;

--- wide group
SELECT customer_id, status, max(created_at), count(*) FROM orders GROUP BY 1, 2;
SELECT customer_id, count(*) FROM orders GROUP BY 1;

--- scans for a pivot
SELECT (SELECT sum(total) FROM orders WHERE status = 'paid'), (SELECT sum(total) FROM orders WHERE status = 'shipped'),
  (SELECT sum(total) FROM orders WHERE status = 'returned'), (SELECT sum(total) FROM orders WHERE status = 'pending');
SELECT sum(total) FILTER (status = 'paid'), sum(total) FILTER (status = 'shipped'), sum(total) FILTER (status =
  'returned'), sum(total) FILTER (status = 'pending') FROM orders;

--- joins for a pivot
SELECT u.id, a.n, b.n, c.n FROM users u LEFT JOIN (SELECT user_id, count(*) AS n FROM events WHERE event_type = 'view'
  GROUP BY 1) a ON a.user_id = u.id LEFT JOIN (SELECT user_id, count(*) AS n FROM events WHERE event_type = 'cart' GROUP
  BY 1) b ON b.user_id = u.id LEFT JOIN (SELECT user_id, count(*) AS n FROM events WHERE event_type = 'search' GROUP BY
  1) c ON c.user_id = u.id;
SELECT user_id, count(*) FILTER (event_type = 'view'), count(*) FILTER (event_type = 'cart'), count(*) FILTER
  (event_type = 'search') FROM events GROUP BY 1;

--- join before grouping
SELECT u.region, count(*) FROM events e JOIN users u ON u.id = e.user_id GROUP BY 1;
SELECT u.region, sum(e.n) FROM (SELECT user_id, count(*) AS n FROM events GROUP BY 1) e JOIN users u ON u.id = e.user_id
  GROUP BY 1;

--- join without need
SELECT o.id, o.total FROM orders o JOIN users u ON u.id = o.customer_id JOIN products p ON p.id = o.product_id;
SELECT id, total FROM orders WHERE product_id IS NOT NULL;

--- fan-out then distinct count
SELECT u.tier, count(DISTINCT o.id), count(DISTINCT e.id) FROM users u JOIN orders o ON o.customer_id = u.id JOIN events
  e ON e.user_id = u.id WHERE u.id < 60 GROUP BY 1;
SELECT u.tier, sum(o.n), sum(e.n) FROM users u JOIN (SELECT customer_id, count(*) AS n FROM orders WHERE customer_id <
  60 GROUP BY 1) o ON o.customer_id = u.id JOIN (SELECT user_id, count(*) AS n FROM events WHERE user_id < 60 GROUP BY
  1) e ON e.user_id = u.id GROUP BY 1;

--- hash of every row
SELECT count(DISTINCT md5(customer_id::VARCHAR || status)) FROM orders;
SELECT count(DISTINCT (customer_id, status)) FROM orders;

--- hash for a comparison
SELECT count(*) FROM events WHERE md5(event_type || user_id::VARCHAR) = md5('view' || '77');
SELECT count(*) FROM events WHERE event_type = 'view' AND user_id = 77;

--- formatted group key
SELECT strftime(created_at, '%Y-%m') AS m, sum(total) FROM orders GROUP BY 1;
SELECT date_trunc('month', created_at) AS m, sum(total) FROM orders GROUP BY 1;

--- text group key
SELECT customer_id::VARCHAR || '/' || product_id::VARCHAR AS k, count(*) FROM orders GROUP BY 1;
SELECT customer_id, product_id, count(*) FROM orders GROUP BY 1, 2;

--- text join key
SELECT count(*) FROM orders o JOIN users u ON u.id::VARCHAR = o.customer_id::VARCHAR;
SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id;

--- concatenated join key
SELECT count(*) FROM orders a JOIN orders b ON concat(a.customer_id, '|', a.created_at) = concat(b.customer_id, '|',
  b.created_at);
SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.created_at = b.created_at;

--- like join
SELECT count(*) FROM users u JOIN products p ON u.email LIKE '%r' || p.id || '@%' WHERE u.id < 1500 AND p.id < 500;
SELECT count(*) FROM users u JOIN products p ON split_part(u.email, '@', 1) = 'user' || p.id WHERE u.id < 1500 AND p.id
  < 500;

--- materialised without need
WITH c AS MATERIALIZED (SELECT * FROM events) SELECT count(*) FROM c WHERE event_type = 'logout';
SELECT count(*) FROM events WHERE event_type = 'logout';

--- count to exist
SELECT u.id FROM users u WHERE (SELECT count(*) FROM orders o WHERE o.customer_id = u.id AND o.total > 200) > 0;
SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = u.id AND o.total > 200);

--- ordered aggregate
SELECT customer_id, first(total ORDER BY created_at DESC) FROM orders GROUP BY 1;
SELECT customer_id, arg_max(total, created_at) FROM orders GROUP BY 1;

--- histogram for a count
SELECT user_id, histogram(event_type)['view'] AS n FROM events GROUP BY 1;
SELECT user_id, count(*) FILTER (event_type = 'view') AS n FROM events GROUP BY 1;

--- percentile by ntile
SELECT max(total) FROM (SELECT total, ntile(10) OVER (ORDER BY total) AS t FROM orders) WHERE t = 9;
SELECT quantile_disc(total, 0.9) FROM orders;

--- cube for one level
SELECT status, customer_id, sum(total) FROM orders GROUP BY CUBE (status, customer_id);
SELECT status, sum(total) FROM orders GROUP BY 1;

--- unnest for or
SELECT DISTINCT o.id FROM orders o, unnest(['paid', 'shipped']) s(x) WHERE o.status = s.x;
SELECT id FROM orders WHERE status IN ('paid', 'shipped');

--- full join for a difference
SELECT coalesce(a.id, b.id) FROM (SELECT id FROM orders WHERE total > 50) a FULL JOIN (SELECT id FROM orders WHERE
  status = 'paid') b ON a.id = b.id WHERE a.id IS NULL OR b.id IS NULL;
SELECT id FROM orders WHERE (total > 50) <> (status = 'paid');

--- self join for a lag
WITH r AS (SELECT id, customer_id, total, row_number() OVER (PARTITION BY customer_id ORDER BY created_at, id) AS rn
  FROM orders) SELECT a.id, a.total - b.total AS d FROM r a JOIN r b ON b.customer_id = a.customer_id AND b.rn = a.rn -
  1;
SELECT id, total - lag(total) OVER (PARTITION BY customer_id ORDER BY created_at, id) AS d FROM orders;

--- levenshtein for equality
SELECT count(*) FROM users WHERE levenshtein(plan, 'trial') = 0 AND levenshtein(email, 'user77@mail.example') < 2;
SELECT count(*) FROM users WHERE plan = 'trial' AND email LIKE 'user77%';

--- already optimal scan
SELECT status, sum(total) FROM orders GROUP BY status;
SELECT status, sum(total) AS s FROM orders GROUP BY 1;

--- erased subquery
SELECT u.id, (SELECT count(*) FROM orders o WHERE o.customer_id = u.id) AS n FROM users u;
SELECT u.id, coalesce(c.n, 0) AS n FROM users u LEFT JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY 1) c
  ON c.customer_id = u.id;

--- erased cast
SELECT id FROM events WHERE occurred_at::DATE = DATE '2024-05-06';
SELECT id FROM events WHERE occurred_at >= TIMESTAMP '2024-05-06' AND occurred_at < TIMESTAMP '2024-05-07';
