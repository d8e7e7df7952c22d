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
    u.id AS customer_id,
    COUNT(DISTINCT o.id) AS orders,
    COUNT(DISTINCT e.id) AS events,
    MAX(o.total) AS largest_order,
    ANY_VALUE(y.avg_delivered) AS avg_delivered,
    ANY_VALUE(y.avg_returned) AS avg_returned,
    ANY_VALUE(y.avg_cancelled) AS avg_cancelled
FROM users AS u, orders AS o, events AS e, yardstick AS y
WHERE o.customer_id = u.id
  AND e.user_id = u.id
  AND u.plan IN ('monthly', 'annual')
  AND o.created_at >= TIMESTAMP '2024-07-01'
  AND e.occurred_at >= TIMESTAMP '2024-07-01'
GROUP BY u.id
