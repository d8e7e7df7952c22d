SELECT u.id, u.tier
FROM users AS u
JOIN (SELECT DISTINCT user_id FROM events WHERE event_type LIKE '%out') AS e ON e.user_id = u.id
LEFT JOIN (SELECT DISTINCT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01') AS o ON o.customer_id = u.id
WHERE o.customer_id IS NULL
