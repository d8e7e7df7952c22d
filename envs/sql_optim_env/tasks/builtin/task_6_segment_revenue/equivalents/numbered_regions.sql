WITH regions AS MATERIALIZED (
    SELECT region, (ROW_NUMBER() OVER ())::UTINYINT AS number FROM (SELECT DISTINCT region FROM users) AS r
),
home AS MATERIALIZED (
    SELECT u.id, r.number FROM users AS u JOIN regions AS r ON r.region IS NOT DISTINCT FROM u.region
)
SELECT r.region, g.orders, g.revenue
FROM (
    SELECT h.number, COUNT(*) AS orders, SUM(o.total) AS revenue
    FROM orders AS o
    JOIN home AS h ON h.id = o.customer_id
    WHERE o.created_at >= TIMESTAMP '2024-01-01'
      AND o.created_at < TIMESTAMP '2025-01-01'
      AND o.status = 'delivered'
    GROUP BY h.number
) AS g
JOIN regions AS r ON r.number = g.number
