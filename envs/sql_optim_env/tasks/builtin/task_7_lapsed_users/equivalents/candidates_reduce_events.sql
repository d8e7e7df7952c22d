WITH candidates AS MATERIALIZED (
    SELECT id, tier
    FROM users
    WHERE id NOT IN (SELECT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01')
)
SELECT c.id, c.tier
FROM candidates AS c
JOIN (
    SELECT DISTINCT user_id FROM events WHERE event_type LIKE '%out' AND user_id IN (SELECT id FROM candidates)
) AS e ON e.user_id = c.id
