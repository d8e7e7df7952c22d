SELECT u.id, u.email, u.tier
FROM users AS u
LEFT JOIN orders AS o ON o.customer_id = u.id AND o.created_at >= TIMESTAMP '2024-12-01' AND o.created_at < TIMESTAMP '2025-01-01'
LEFT JOIN events AS e ON e.user_id = u.id AND e.event_type LIKE '%out'
WHERE o.id IS NULL
  AND e.id IS NULL
