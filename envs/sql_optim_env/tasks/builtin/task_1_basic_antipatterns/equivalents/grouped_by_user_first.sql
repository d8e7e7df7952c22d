SELECT u.tier, SUM(e.n)::BIGINT AS events, MAX(e.last_at) AS last_event_at
FROM (
    SELECT user_id, COUNT(*) AS n, MAX(occurred_at) AS last_at
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-10-01'
      AND occurred_at < TIMESTAMP '2025-01-01'
      AND event_type IN ('cart', 'checkout', 'purchase')
    GROUP BY user_id
) AS e
JOIN users AS u ON u.id = e.user_id
GROUP BY u.tier
