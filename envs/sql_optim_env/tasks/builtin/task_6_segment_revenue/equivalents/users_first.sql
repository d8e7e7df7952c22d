FROM users AS u
JOIN orders AS o ON o.customer_id = u.id
SELECT u.region, COUNT(*) AS orders, SUM(o.total) AS revenue
WHERE o.created_at BETWEEN TIMESTAMP '2024-01-01' AND TIMESTAMP '2024-12-31 23:59:59.999999'
  AND o.status IN ('delivered')
GROUP BY ALL
