SELECT region, SUM(n)::BIGINT AS orders, SUM(value)::DECIMAL(38,2) AS revenue
FROM (
    SELECT u.region, month(o.created_at) AS m, COUNT(*) AS n, SUM(o.total) AS value
    FROM orders AS o
    JOIN users AS u ON u.id = o.customer_id
    WHERE o.created_at >= TIMESTAMP '2024-01-01'
      AND o.created_at < TIMESTAMP '2025-01-01'
      AND o.status = 'delivered'
    GROUP BY u.region, m
) AS b
GROUP BY region
