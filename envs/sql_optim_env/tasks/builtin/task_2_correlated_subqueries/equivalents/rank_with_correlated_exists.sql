SELECT
    u.tier,
    COUNT(*) AS credited_orders,
    SUM(c.total) AS credited_value,
    COUNT(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM orders AS b
        WHERE b.customer_id = c.customer_id AND b.status = 'returned' AND b.created_at > c.created_at
    )) AS before_a_return
FROM (
    SELECT *
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
    QUALIFY RANK() OVER (PARTITION BY customer_id ORDER BY created_at) % 3 = 0
) AS c
JOIN users AS u ON u.id = c.customer_id
GROUP BY u.tier
