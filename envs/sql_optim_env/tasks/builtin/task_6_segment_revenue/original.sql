SELECT
    s.region,
    COUNT(*) AS orders,
    SUM(s.total) AS revenue
FROM (
    SELECT *
    FROM orders AS o, users AS u
    WHERE o.customer_id = u.id
      AND year(o.created_at) = 2024
      AND o.status LIKE 'delivered'
) AS s
GROUP BY s.region
