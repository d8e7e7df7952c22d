WITH credited AS (
    SELECT customer_id, total, created_at
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
    QUALIFY (RANK() OVER (PARTITION BY customer_id ORDER BY created_at) - 1) % 3 = 2
)
SELECT
    users.tier,
    COUNT(*) AS credited_orders,
    SUM(credited.total) AS credited_value,
    COUNT(CASE WHEN credited.created_at < last_return.returned_at THEN 1 END) AS before_a_return
FROM credited
JOIN users ON users.id = credited.customer_id
LEFT JOIN (
    SELECT customer_id, MAX(created_at) AS returned_at FROM orders WHERE status = 'returned' GROUP BY ALL
) AS last_return USING (customer_id)
GROUP BY users.tier
