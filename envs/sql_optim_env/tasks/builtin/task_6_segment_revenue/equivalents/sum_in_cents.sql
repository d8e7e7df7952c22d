SELECT u.region, COUNT(*) AS orders, (SUM((o.total * 100)::INTEGER) / 100)::DECIMAL(38,2) AS revenue
FROM orders AS o
JOIN users AS u ON u.id = o.customer_id
WHERE o.created_at >= TIMESTAMP '2024-01-01'
  AND o.created_at < TIMESTAMP '2025-01-01'
  AND o.status = 'delivered'
GROUP BY u.region
