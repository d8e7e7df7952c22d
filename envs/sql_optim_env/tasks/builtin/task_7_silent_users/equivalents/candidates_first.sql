WITH candidates AS MATERIALIZED (
    SELECT id, email, tier
    FROM users
    WHERE id NOT IN (SELECT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01')
)
SELECT c.id, c.email, c.tier
FROM candidates AS c
WHERE NOT EXISTS (
    SELECT 1 FROM events AS e WHERE e.event_type LIKE '%out' AND e.user_id IN (SELECT id FROM candidates) AND e.user_id = c.id
)
