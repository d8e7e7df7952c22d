SELECT region, event_type, COUNT(*) AS events, MAX(occurred_at) AS last_event_at
FROM events
JOIN (SELECT id AS user_id, region FROM users WHERE email LIKE '%@web.example') AS partner USING (user_id)
GROUP BY region, event_type
HAVING region IS NOT NULL
   AND event_type IN ('cart', 'checkout', 'purchase')
