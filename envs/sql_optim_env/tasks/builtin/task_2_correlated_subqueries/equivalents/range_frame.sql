WITH ranked AS (
    SELECT customer_id, total, created_at, COUNT(*) OVER (
        PARTITION BY customer_id ORDER BY created_at
        RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 MICROSECOND PRECEDING
    ) AS position
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
),
last_return AS (
    SELECT customer_id, MAX(created_at) AS returned_at
    FROM orders
    WHERE status = 'returned'
    GROUP BY customer_id
)
SELECT
    u.tier,
    COUNT(*) AS credited_orders,
    SUM(r.total) AS credited_value,
    COUNT(*) FILTER (WHERE b.returned_at > r.created_at) AS before_a_return
FROM ranked AS r
JOIN users AS u ON u.id = r.customer_id
LEFT JOIN last_return AS b ON b.customer_id = r.customer_id
WHERE r.position % 3 = 2
GROUP BY u.tier
