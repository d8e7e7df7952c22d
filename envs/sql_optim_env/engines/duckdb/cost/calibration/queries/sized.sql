-- Joins without an equality, for several sizes: {n} rows on one side, {n3} = 3 x {n} on the other.

--- non_equi_join
SELECT count(*) FROM users u JOIN users v ON u.created_at > v.created_at AND u.region <> v.region WHERE u.id < {n} AND
  v.id < {n};
SELECT count(*) FROM orders a JOIN orders b ON a.total > b.total WHERE a.id < {n3} AND b.id < {n};
SELECT count(*) FROM orders o, products p WHERE o.total + p.price > 300 AND o.id < {n};
SELECT count(*) FROM users u JOIN products p ON u.email LIKE '%' || p.id || '@%' WHERE u.id < {n} AND p.id < 300;
SELECT count(*) FROM orders a JOIN orders b ON a.created_at BETWEEN b.created_at AND b.created_at + INTERVAL 1 HOUR
  WHERE a.id < {n3} AND b.id < {n3};
SELECT sum(p.price * q.price) FROM products p, products q WHERE p.id < {n};
SELECT u.id, (SELECT count(*) FROM users v WHERE v.created_at > u.created_at) AS c FROM users u WHERE u.id < {n};
SELECT count(*) FROM orders o LEFT JOIN products p ON o.total < p.price WHERE o.id < {n};
SELECT o.id, (SELECT count(*) FROM orders p WHERE p.customer_id = o.customer_id AND p.created_at < o.created_at) AS c
  FROM orders o WHERE o.id < {n3};
SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id OR a.product_id = b.product_id WHERE a.id <
  {n3} AND b.id < {n};
SELECT count(*) FROM users a JOIN users b ON abs(a.id - b.id) <= 2 WHERE a.id < {n} AND b.id < {n3};
SELECT o.id, p.id FROM orders o JOIN products p ON p.price BETWEEN o.total - 1 AND o.total + 1 WHERE o.id < {n3};
SELECT count(*) FROM (SELECT * FROM events WHERE id < {n3}) e ASOF JOIN orders o ON e.user_id = o.customer_id AND
  e.occurred_at >= o.created_at;
SELECT count(*) FROM (SELECT * FROM orders WHERE id < {n3}) o ASOF LEFT JOIN users u ON o.created_at >= u.created_at;
