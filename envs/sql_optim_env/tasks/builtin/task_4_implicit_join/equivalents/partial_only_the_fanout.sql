SELECT u.id AS customer_id, o.orders, e.events, o.largest_order,
    (SELECT AVG(total) FROM orders WHERE status = 'delivered')::DECIMAL(10,2) AS avg_delivered,
    (SELECT AVG(total) FROM orders WHERE status = 'returned')::DECIMAL(10,2) AS avg_returned,
    (SELECT AVG(total) FROM orders WHERE status = 'cancelled')::DECIMAL(10,2) AS avg_cancelled
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
WHERE u.plan IN ('monthly', 'annual')
