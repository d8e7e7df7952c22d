SELECT u.id, u.tier
FROM users AS u
JOIN (SELECT user_id, COUNT(*) AS n FROM events WHERE contains(event_type, 'out') GROUP BY user_id) AS e ON e.user_id = u.id
LEFT JOIN (SELECT customer_id, COUNT(*) AS n FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01' GROUP BY customer_id) AS o ON o.customer_id = u.id
WHERE COALESCE(o.n, 0) = 0
  AND e.n > 0
