SELECT u.tier, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM events AS e
JOIN users AS u ON u.id = e.user_id
WHERE e.occurred_at >= TIMESTAMP '2024-10-01'
  AND e.occurred_at < TIMESTAMP '2025-01-01'
  AND e.event_type IN ('cart', 'checkout', 'purchase')
GROUP BY u.tier
