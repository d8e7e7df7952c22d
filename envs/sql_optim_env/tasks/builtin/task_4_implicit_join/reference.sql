WITH by_status AS MATERIALIZED (
    SELECT status, AVG(total)::DECIMAL(10,2) AS average
    FROM orders
    GROUP BY status
),
yardstick AS MATERIALIZED (
    SELECT
        MAX(average) FILTER (WHERE status = 'delivered') AS avg_delivered,
        MAX(average) FILTER (WHERE status = 'returned') AS avg_returned,
        MAX(average) FILTER (WHERE status = 'cancelled') AS avg_cancelled
    FROM by_status
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
