WITH activity AS (
    SELECT customer_id, total, 1 AS is_order FROM orders WHERE created_at >= TIMESTAMP '2024-07-01'
    UNION ALL
    SELECT user_id, NULL, 0 FROM events WHERE occurred_at >= TIMESTAMP '2024-07-01'
),
counted AS (
    SELECT
        customer_id,
        COUNT(*) FILTER (WHERE is_order = 1) AS orders,
        COUNT(*) FILTER (WHERE is_order = 0) AS events,
        MAX(total) AS largest_order
    FROM activity
    WHERE customer_id IN (SELECT id FROM users WHERE plan = 'monthly' OR plan = 'annual')
    GROUP BY customer_id
),
by_status AS MATERIALIZED (
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
SELECT c.customer_id, c.orders, c.events, c.largest_order, y.avg_delivered, y.avg_returned, y.avg_cancelled
FROM counted AS c, yardstick AS y
WHERE c.orders > 0 AND c.events > 0
