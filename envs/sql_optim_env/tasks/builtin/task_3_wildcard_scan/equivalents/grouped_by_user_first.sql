SELECT u.region, e.event_type, SUM(e.n)::BIGINT AS events, MAX(e.last_at) AS last_event_at
FROM (
    SELECT user_id, event_type, COUNT(*) AS n, MAX(occurred_at) AS last_at
    FROM events
    WHERE event_type NOT IN ('view', 'search', 'login', 'logout')
    GROUP BY user_id, event_type
) AS e
JOIN users AS u ON u.id = e.user_id
WHERE right(u.email, 12) = '@web.example'
  AND u.region IS NOT NULL
GROUP BY u.region, e.event_type
