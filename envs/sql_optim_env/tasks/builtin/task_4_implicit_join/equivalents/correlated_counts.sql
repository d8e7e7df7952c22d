SELECT c.*,
    (SELECT AVG(total) FROM orders WHERE status = 'delivered')::DECIMAL(10,2) AS avg_delivered,
    (SELECT AVG(total) FROM orders WHERE status = 'returned')::DECIMAL(10,2) AS avg_returned,
    (SELECT AVG(total) FROM orders WHERE status = 'cancelled')::DECIMAL(10,2) AS avg_cancelled
FROM (
    SELECT
        u.id AS customer_id,
        (SELECT COUNT(*) FROM orders AS o WHERE o.customer_id = u.id AND o.created_at >= TIMESTAMP '2024-07-01') AS orders,
        (SELECT COUNT(*) FROM events AS e WHERE e.user_id = u.id AND e.occurred_at >= TIMESTAMP '2024-07-01') AS events,
        (SELECT MAX(total) FROM orders AS o WHERE o.customer_id = u.id AND o.created_at >= TIMESTAMP '2024-07-01') AS largest_order
    FROM users AS u
    WHERE u.plan IN ('monthly', 'annual')
) AS c
WHERE c.orders > 0 AND c.events > 0
