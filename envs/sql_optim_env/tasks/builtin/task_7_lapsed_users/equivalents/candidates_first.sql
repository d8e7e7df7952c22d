WITH candidates AS MATERIALIZED (
    SELECT id, tier
    FROM users AS u
    WHERE NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.customer_id = u.id AND o.created_at >= TIMESTAMP '2024-12-01' AND o.created_at < TIMESTAMP '2025-01-01')
)
SELECT id, tier
FROM candidates
WHERE id IN (SELECT user_id FROM events WHERE event_type LIKE '%out')
