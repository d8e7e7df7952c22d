SELECT u.id, u.tier
FROM users AS u
WHERE NOT EXISTS (
    SELECT 1
    FROM orders AS o
    WHERE o.customer_id = u.id
      AND o.created_at >= TIMESTAMP '2024-12-01'
      AND o.created_at < TIMESTAMP '2025-01-01'
)
AND EXISTS (
    SELECT 1
    FROM events AS e
    WHERE e.user_id = u.id
      AND ends_with(e.event_type, 'out')
)
