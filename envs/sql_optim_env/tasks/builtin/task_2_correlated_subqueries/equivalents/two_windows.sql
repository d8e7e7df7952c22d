SELECT
    u.tier,
    COUNT(*) AS credited_orders,
    SUM(r.total) AS credited_value,
    COUNT(*) FILTER (WHERE r.returned_at > r.created_at) AS before_a_return
FROM (
    SELECT
        customer_id,
        total,
        created_at,
        RANK() OVER (PARTITION BY customer_id ORDER BY created_at) AS position,
        MAX(created_at) FILTER (WHERE status = 'returned') OVER (PARTITION BY customer_id) AS returned_at
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
) AS r
JOIN users AS u ON u.id = r.customer_id
WHERE r.position % 3 = 0
GROUP BY u.tier
