WITH buying AS (
    SELECT user_id, occurred_at
    FROM events
    WHERE event_type IN ('cart', 'checkout', 'purchase')
      AND occurred_at >= TIMESTAMP '2024-10-01'
      AND occurred_at < TIMESTAMP '2025-01-01'
)
SELECT tier, COUNT(*) AS events, MAX(occurred_at) AS last_event_at
FROM buying
JOIN users ON users.id = buying.user_id
GROUP BY tier
