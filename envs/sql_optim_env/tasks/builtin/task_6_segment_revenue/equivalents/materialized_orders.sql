WITH delivered AS MATERIALIZED (
    SELECT customer_id, total
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-01-01'
      AND created_at < TIMESTAMP '2025-01-01'
      AND status = 'delivered'
)
SELECT u.region, COUNT(*) AS orders, SUM(d.total) AS revenue
FROM delivered AS d
JOIN users AS u ON u.id = d.customer_id
GROUP BY u.region
