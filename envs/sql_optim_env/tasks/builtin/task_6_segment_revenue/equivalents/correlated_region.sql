SELECT s.region, COUNT(*) AS orders, SUM(s.total) AS revenue
FROM (
    SELECT o.total, (SELECT u.region FROM users AS u WHERE u.id = o.customer_id) AS region
    FROM orders AS o
    WHERE year(o.created_at) = 2024
      AND o.status = 'delivered'
) AS s
GROUP BY s.region
