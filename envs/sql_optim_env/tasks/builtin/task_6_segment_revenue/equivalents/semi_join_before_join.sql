SELECT u.region, COUNT(*) AS orders, SUM(o.total) AS revenue
FROM orders AS o
JOIN users AS u ON u.id = o.customer_id
WHERE o.created_at >= TIMESTAMP '2024-01-01'
  AND o.created_at < TIMESTAMP '2025-01-01'
  AND o.status = 'delivered'
  AND o.customer_id IN (SELECT id FROM users)
GROUP BY u.region
