WITH active AS MATERIALIZED (SELECT DISTINCT user_id FROM events WHERE event_type LIKE '%out'),
buyers AS MATERIALIZED (SELECT DISTINCT customer_id FROM orders WHERE created_at >= TIMESTAMP '2024-12-01' AND created_at < TIMESTAMP '2025-01-01')
SELECT id, tier
FROM users
WHERE EXISTS (FROM active WHERE user_id = id)
  AND NOT EXISTS (FROM buyers WHERE customer_id = id)
