SELECT region, orders, revenue
FROM (
    SELECT
        u.region,
        COUNT(*) FILTER (WHERE o.status = 'delivered') AS orders,
        SUM(o.total) FILTER (WHERE o.status = 'delivered') AS revenue
    FROM orders AS o
    JOIN users AS u ON u.id = o.customer_id
    WHERE o.created_at >= TIMESTAMP '2024-01-01'
      AND o.created_at < TIMESTAMP '2025-01-01'
    GROUP BY u.region
) AS g
WHERE orders > 0
