SELECT DISTINCT u.id, u.tier
FROM users AS u
JOIN events AS e ON e.user_id = u.id
WHERE e.event_type LIKE '%out'
  AND u.id NOT IN (SELECT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01')
