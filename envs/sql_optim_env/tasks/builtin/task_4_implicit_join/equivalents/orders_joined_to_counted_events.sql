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
SELECT
    o.customer_id,
    COUNT(*) AS orders,
    e.events,
    MAX(o.total) AS largest_order,
    (SELECT avg_delivered FROM yardstick) AS avg_delivered,
    (SELECT avg_returned FROM yardstick) AS avg_returned,
    (SELECT avg_cancelled FROM yardstick) AS avg_cancelled
FROM orders AS o
JOIN (
    SELECT user_id, COUNT(*) AS events
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-07-01'
      AND user_id IN (SELECT id FROM users WHERE plan IN ('monthly', 'annual'))
    GROUP BY user_id
) AS e ON e.user_id = o.customer_id
WHERE o.created_at >= TIMESTAMP '2024-07-01'
GROUP BY o.customer_id, e.events
