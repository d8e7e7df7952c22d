SELECT
    s.region,
    COUNT(*) AS orders,
    SUM(s.total) AS revenue
FROM (
    SELECT *
    FROM orders AS o, users AS u
    WHERE o.customer_id = u.id
      AND date_trunc('year', o.created_at) = TIMESTAMP '2024-01-01'
      AND o.status LIKE 'delivered'
) AS s
GROUP BY s.region
