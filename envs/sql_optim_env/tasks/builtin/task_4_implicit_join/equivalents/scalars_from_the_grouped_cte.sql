WITH averages AS MATERIALIZED (SELECT status, AVG(total)::DECIMAL(10,2) AS average FROM orders GROUP BY status)
SELECT
    u.id AS customer_id,
    o.orders,
    e.events,
    o.largest_order,
    (SELECT average FROM averages WHERE status = 'delivered') AS avg_delivered,
    (SELECT average FROM averages WHERE status = 'returned') AS avg_returned,
    (SELECT average FROM averages WHERE status = 'cancelled') AS avg_cancelled
FROM users AS u
JOIN (
    SELECT customer_id, COUNT(*) AS orders, MAX(total) AS largest_order
    FROM orders
    WHERE created_at >= TIMESTAMP '2024-07-01'
    GROUP BY customer_id
) AS o ON o.customer_id = u.id
JOIN (
    SELECT user_id, COUNT(*) AS events
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-07-01'
    GROUP BY user_id
) AS e ON e.user_id = u.id
WHERE u.plan NOT IN ('none', 'trial')
