WITH yardstick AS (
    SELECT
        (AVG(total) FILTER (WHERE status = 'delivered'))::DECIMAL(10,2) AS avg_delivered,
        (AVG(total) FILTER (WHERE status = 'returned'))::DECIMAL(10,2) AS avg_returned,
        (AVG(total) FILTER (WHERE status = 'cancelled'))::DECIMAL(10,2) AS avg_cancelled
    FROM orders
)
SELECT u.id AS customer_id, o.orders, e.events, o.largest_order, y.avg_delivered, y.avg_returned, y.avg_cancelled
FROM users AS u
JOIN (
    SELECT customer_id, COUNT(*) AS orders, MAX(total) AS largest_order
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
    GROUP BY customer_id
) AS o ON o.customer_id = u.id
JOIN (
    SELECT user_id, COUNT(*) AS events
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-07-01'
    GROUP BY user_id
) AS e ON e.user_id = u.id
CROSS JOIN yardstick AS y
WHERE u.plan IN ('monthly', 'annual')
