SELECT u.tier, COUNT(e.id) AS events, MAX(e.occurred_at) AS last_event_at
FROM users AS u, events AS e
WHERE e.user_id = u.id
  AND e.occurred_at BETWEEN TIMESTAMP '2024-10-01' AND TIMESTAMP '2024-12-31 23:59:59.999999'
  AND (e.event_type LIKE 'c%' OR e.event_type = 'purchase')
GROUP BY u.tier
