SELECT u.region, SUM(o.n)::BIGINT AS orders, SUM(o.value)::DECIMAL(38,2) AS revenue
FROM (
    SELECT customer_id, COUNT(*) AS n, SUM(total) AS value
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-01-01'
      AND created_at < TIMESTAMP '2025-01-01'
      AND status = 'delivered'
    GROUP BY customer_id
) AS o
JOIN users AS u ON u.id = o.customer_id
GROUP BY u.region
