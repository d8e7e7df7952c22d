WITH instants AS (
    SELECT customer_id, created_at, COUNT(*) AS orders, SUM(total) AS value
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
    GROUP BY customer_id, created_at
),
counted AS (
    SELECT *, SUM(orders) OVER (PARTITION BY customer_id ORDER BY created_at) - orders AS earlier
    FROM instants
),
last_return AS (
    SELECT customer_id, MAX(created_at) AS returned_at
    FROM orders
    WHERE status = 'returned'
    GROUP BY customer_id
)
SELECT
    u.tier,
    SUM(c.orders)::BIGINT AS credited_orders,
    SUM(c.value) AS credited_value,
    COALESCE(SUM(c.orders) FILTER (WHERE b.returned_at > c.created_at), 0)::BIGINT AS before_a_return
FROM counted AS c
JOIN users AS u ON u.id = c.customer_id
LEFT JOIN last_return AS b ON b.customer_id = c.customer_id
WHERE c.earlier % 3 = 2
GROUP BY u.tier
