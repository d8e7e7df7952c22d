SELECT id, tier
FROM users
WHERE id IN (
    SELECT user_id FROM events WHERE event_type LIKE '%out' AND user_id NOT IN (SELECT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01')
)
