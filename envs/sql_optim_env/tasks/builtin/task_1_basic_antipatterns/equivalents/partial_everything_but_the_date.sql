SELECT u.tier, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM events AS e
JOIN users AS u ON u.id = e.user_id
WHERE strftime(e.occurred_at, '%Y-%m') IN ('2024-10', '2024-11', '2024-12')
  AND e.event_type IN ('cart', 'checkout', 'purchase')
GROUP BY u.tier
