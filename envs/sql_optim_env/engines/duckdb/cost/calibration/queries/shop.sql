-- Hand-written queries over the shop, by family.

--- join
SELECT p.category, count(*), sum(o.total) FROM orders o JOIN products p ON p.id = o.product_id JOIN users u ON u.id =
  o.customer_id WHERE u.tier <> 'free' GROUP BY 1;
SELECT u.region, p.category, sum(o.total) FROM orders o JOIN products p ON p.id = o.product_id JOIN users u ON u.id =
  o.customer_id GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20;
SELECT o.id, u.email, p.name, o.total FROM orders o JOIN users u ON u.id = o.customer_id LEFT JOIN products p ON p.id =
  o.product_id;
SELECT count(*) FROM users a JOIN users b ON lower(a.email) = lower(b.email);
SELECT count(*) FROM users a JOIN users b ON a.region = b.region AND a.tier = b.tier AND a.id <> b.id WHERE a.id < 2000;
SELECT e.event_type, count(DISTINCT o.id) FROM events e JOIN orders o ON o.customer_id = e.user_id AND
  o.created_at::DATE = e.occurred_at::DATE GROUP BY 1;
SELECT u.id, max(o.created_at), max(e.occurred_at) FROM users u LEFT JOIN orders o ON o.customer_id = u.id LEFT JOIN
  events e ON e.user_id = u.id AND e.event_type = 'logout' GROUP BY 1;
SELECT count(*) FROM events e JOIN users u ON u.id = e.user_id AND u.created_at <= e.occurred_at;

--- subquery
SELECT id, total FROM orders o WHERE total > (SELECT avg(total) FROM orders p WHERE p.customer_id = o.customer_id);
SELECT id, total FROM orders o WHERE total = (SELECT max(total) FROM orders p WHERE p.product_id = o.product_id);
SELECT id FROM users u WHERE (SELECT count(*) FROM orders o WHERE o.customer_id = u.id) > 50;
SELECT id FROM users WHERE id IN (SELECT customer_id FROM orders WHERE status = 'returned') OR region = 'eu-west';
SELECT id, (SELECT name FROM products p WHERE p.id = o.product_id) AS name FROM orders o WHERE total > 100;
SELECT id FROM products p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.product_id = p.id AND o.status = 'cancelled');
SELECT count(*) FROM events e WHERE e.occurred_at = (SELECT min(f.occurred_at) FROM events f WHERE f.user_id =
  e.user_id);
SELECT u.id, (SELECT sum(total) FROM orders o WHERE o.customer_id = u.id AND o.status = 'paid') AS paid, (SELECT
  max(occurred_at) FROM events e WHERE e.user_id = u.id) AS seen FROM users u;

--- window
SELECT id, total, sum(total) OVER (PARTITION BY customer_id ORDER BY created_at, id) AS running FROM orders;
SELECT user_id, occurred_at, occurred_at - lag(occurred_at) OVER (PARTITION BY user_id ORDER BY occurred_at, id) AS gap
  FROM events;
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY occurred_at RANGE BETWEEN INTERVAL 30 MINUTE PRECEDING AND
  CURRENT ROW) AS n FROM events;
SELECT customer_id, total, row_number() OVER (PARTITION BY customer_id ORDER BY total DESC, id) AS a, avg(total) OVER
  (PARTITION BY customer_id) AS b FROM orders;
SELECT session_id, first_value(event_type) OVER w AS f, last_value(event_type) OVER w AS l FROM events WINDOW w AS
  (PARTITION BY session_id ORDER BY occurred_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);
SELECT id, total * 1.0 / sum(total) OVER () AS share FROM orders;
SELECT id, quantile_disc(total, 0.5) OVER (PARTITION BY product_id) AS med FROM orders;
SELECT created_at::DATE AS day, sum(total) AS s, avg(sum(total)) OVER (ORDER BY created_at::DATE ROWS BETWEEN 6
  PRECEDING AND CURRENT ROW) AS week FROM orders GROUP BY 1;
SELECT id FROM orders QUALIFY rank() OVER (PARTITION BY customer_id ORDER BY created_at DESC) = 1;
SELECT id, min(occurred_at) OVER (PARTITION BY user_id ORDER BY occurred_at RANGE BETWEEN INTERVAL 1 MICROSECOND
  FOLLOWING AND UNBOUNDED FOLLOWING) AS nxt FROM events WHERE occurred_at >= TIMESTAMP '2024-07-01';

--- group
SELECT customer_id, status, count(*), sum(total), min(created_at), max(created_at) FROM orders GROUP BY ALL;
SELECT user_id, session_id, count(*), min(occurred_at), max(occurred_at) FROM events GROUP BY ALL;
SELECT date_trunc('week', created_at) AS w, status, sum(total) FROM orders GROUP BY 1, 2;
SELECT session_id, count(*) FROM events WHERE session_id IS NOT NULL GROUP BY 1 HAVING count(*) > 20;
SELECT total, count(*) FROM orders GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10;
SELECT user_id, bool_or(event_type = 'purchase') AS bought, count(*) FILTER (event_type = 'view') AS views FROM events
  GROUP BY 1;
SELECT customer_id % 100 AS bucket, product_id % 10 AS part, sum(total), count(*) FROM orders GROUP BY 1, 2;

--- order
SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 10;
SELECT o.id, o.total, u.email FROM orders o JOIN users u ON u.id = o.customer_id ORDER BY o.total DESC, o.id LIMIT 10;
SELECT * FROM events ORDER BY user_id, occurred_at LIMIT 100 OFFSET 10000;
SELECT id, email FROM users ORDER BY lower(email);
SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1 ORDER BY s DESC LIMIT 10;
SELECT id FROM orders ORDER BY created_at, id;

--- set_operation
SELECT id, customer_id, total FROM orders WHERE status = 'paid' UNION SELECT id, customer_id, total FROM orders WHERE
  status = 'shipped';
SELECT 'order' AS src, id, created_at AS at FROM orders UNION ALL SELECT 'event', id, occurred_at FROM events;
SELECT 'order' AS src, id, created_at AS at FROM orders UNION SELECT 'event', id, occurred_at FROM events WHERE id <
  300000;
SELECT user_id FROM events WHERE event_type = 'cart' INTERSECT SELECT user_id FROM events WHERE event_type = 'purchase';
SELECT customer_id FROM orders EXCEPT SELECT user_id FROM events WHERE event_type = 'logout';

--- list
SELECT user_id FROM events GROUP BY user_id HAVING ',' || string_agg(event_type, ',') || ',' LIKE '%,logout,%';
SELECT customer_id FROM orders GROUP BY 1 HAVING list_contains(list(status), 'returned');
SELECT customer_id, len(string_split(string_agg(id::VARCHAR, ','), ',')) AS n FROM orders GROUP BY 1;
SELECT u.id, x.part FROM users u, unnest(string_split(u.email, '@')) x(part);
SELECT part, count(*) FROM (SELECT unnest(string_split(email, '.')) AS part FROM users) GROUP BY 1;
SELECT customer_id, list_sum(list_transform(list(total), lambda x: x * 2)) AS s FROM orders GROUP BY 1;
SELECT d.day, count(o.id) FROM (SELECT unnest(generate_series(TIMESTAMP '2024-12-01', TIMESTAMP '2024-12-31', INTERVAL 1
  DAY)) AS day) d LEFT JOIN orders o ON o.created_at::DATE = d.day GROUP BY 1;

--- date
SELECT id, user_id FROM events WHERE strftime(occurred_at, '%Y-%m') = '2024-03';
SELECT id, user_id FROM events WHERE year(occurred_at) * 100 + month(occurred_at) = 202403;
SELECT id, user_id FROM events WHERE date_diff('day', occurred_at, TIMESTAMP '2024-12-31 12:00:00') BETWEEN 0 AND 2;
SELECT id FROM orders WHERE created_at::DATE = DATE '2024-03-05';
SELECT id FROM orders WHERE cast(created_at AS VARCHAR) LIKE '2024-03%';
SELECT hour(occurred_at) AS h, dayofweek(occurred_at) AS d, count(*) FROM events GROUP BY 1, 2;

--- string
SELECT split_part(email, '@', 2) AS domain, count(*) FROM users GROUP BY 1;
SELECT id FROM users WHERE regexp_matches(email, '^user[0-9]*7@');
SELECT lower(name), upper(category) FROM products;
SELECT id, md5(email || tier || plan) AS h FROM users;
SELECT o.id, md5(u.email || o.status || o.id::VARCHAR) AS h FROM orders o JOIN users u ON u.id = o.customer_id WHERE
  o.total > 60;
SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id WHERE u.email LIKE '%1@%' AND o.status LIKE '%ed';
SELECT id, sha256(status || total::VARCHAR) AS h FROM orders WHERE customer_id < 3000;
SELECT format('{}-{}', id, status) AS f FROM orders WHERE product_id < 200;

--- filter
SELECT id, customer_id FROM orders WHERE status IN ('paid', 'shipped') AND total BETWEEN 20 AND 80 AND created_at >=
  TIMESTAMP '2024-01-01';
SELECT id FROM events WHERE id * 2 + 1 = 1000001;
SELECT id FROM events WHERE id BETWEEN 500000 AND 509999;
SELECT id FROM orders WHERE coalesce(product_id, 0) = 0;
SELECT id FROM orders WHERE product_id IS NULL AND status <> 'cancelled';
SELECT id FROM orders WHERE (status = 'paid' AND total > 100) OR (status = 'returned' AND total < 10);
SELECT id FROM orders WHERE NOT (status LIKE '%ed') AND customer_id % 3 = 0;
SELECT count(*) FROM events WHERE event_type NOT IN ('view', 'search') AND session_id IS NOT NULL AND user_id > 100;

--- cte
WITH s AS MATERIALIZED (SELECT user_id, session_id, count(*) AS n FROM events GROUP BY ALL) SELECT * FROM s WHERE
  user_id = 14;
WITH t AS MATERIALIZED (SELECT id, total, customer_id FROM orders ORDER BY total DESC, id LIMIT 10) SELECT t.id,
  count(e.id) FROM t LEFT JOIN events e ON e.user_id = t.customer_id GROUP BY 1;
WITH a AS (SELECT customer_id, count(*) AS n FROM orders GROUP BY 1), b AS (SELECT user_id, count(*) AS n FROM events
  GROUP BY 1) SELECT a.customer_id, a.n, b.n FROM a JOIN b ON a.customer_id = b.user_id;
WITH c AS MATERIALIZED (SELECT * FROM events WHERE occurred_at >= TIMESTAMP '2024-01-01') SELECT event_type, count(*)
  FROM c GROUP BY 1 UNION ALL SELECT 'users', count(DISTINCT user_id) FROM c;

--- recursion
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 1000) SELECT sum(n) FROM t;
WITH RECURSIVE t AS (SELECT id, 1 AS d FROM users WHERE id <= 300 UNION ALL SELECT id, d + 1 FROM t WHERE d < 40) SELECT
  count(*), max(d) FROM t;
