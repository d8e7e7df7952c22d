WITH home AS MATERIALIZED (SELECT id, region FROM users)
SELECT h.region, COUNT(*) AS orders, SUM(o.total) AS revenue
FROM orders AS o
JOIN home AS h ON h.id = o.customer_id
WHERE o.created_at >= TIMESTAMP '2024-01-01'
  AND o.created_at < TIMESTAMP '2025-01-01'
  AND o.status = 'delivered'
GROUP BY h.region
