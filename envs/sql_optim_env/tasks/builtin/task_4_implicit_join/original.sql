SELECT
    u.id AS customer_id,
    COUNT(DISTINCT o.id) AS orders,
    COUNT(DISTINCT e.id) AS events,
    MAX(o.total) AS largest_order,
    (SELECT AVG(total) FROM orders WHERE status = 'delivered')::DECIMAL(10,2) AS avg_delivered,
    (SELECT AVG(total) FROM orders WHERE status = 'returned')::DECIMAL(10,2) AS avg_returned,
    (SELECT AVG(total) FROM orders WHERE status = 'cancelled')::DECIMAL(10,2) AS avg_cancelled
FROM users AS u, orders AS o, events AS e
WHERE o.customer_id = u.id
  AND e.user_id = u.id
  AND u.plan IN ('monthly', 'annual')
  AND o.created_at >= TIMESTAMP '2024-07-01'
  AND e.occurred_at >= TIMESTAMP '2024-07-01'
GROUP BY u.id
