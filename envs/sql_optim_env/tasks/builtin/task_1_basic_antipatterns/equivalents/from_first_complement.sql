FROM events AS e
JOIN users AS u ON u.id = e.user_id
SELECT u.tier, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
WHERE date_trunc('quarter', e.occurred_at) = TIMESTAMP '2024-10-01'
  AND e.event_type NOT IN ('view', 'search', 'login', 'logout')
GROUP BY ALL
