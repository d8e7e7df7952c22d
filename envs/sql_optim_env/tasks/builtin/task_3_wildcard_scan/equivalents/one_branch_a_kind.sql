SELECT u.region, e.event_type, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM users AS u JOIN events AS e ON e.user_id = u.id
WHERE u.region IS NOT NULL AND u.email LIKE '%@web.example' AND e.event_type = 'cart'
GROUP BY ALL
UNION ALL
SELECT u.region, e.event_type, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM users AS u JOIN events AS e ON e.user_id = u.id
WHERE u.region IS NOT NULL AND u.email LIKE '%@web.example' AND e.event_type = 'checkout'
GROUP BY ALL
UNION ALL
SELECT u.region, e.event_type, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM users AS u JOIN events AS e ON e.user_id = u.id
WHERE u.region IS NOT NULL AND u.email LIKE '%@web.example' AND e.event_type = 'purchase'
GROUP BY ALL
