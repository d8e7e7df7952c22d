SELECT t.tier, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM events AS e
JOIN (SELECT id, tier FROM users WHERE id IN (SELECT user_id FROM events)) AS t ON t.id = e.user_id
WHERE e.occurred_at >= TIMESTAMP '2024-10-01'
  AND e.occurred_at < TIMESTAMP '2025-01-01'
  AND (e.event_type = 'cart' OR e.event_type = 'checkout' OR e.event_type = 'purchase')
GROUP BY t.tier
