WITH partner AS (
    SELECT id, region
    FROM users
    WHERE ends_with(email, '@web.example')
      AND region IS NOT NULL
)
SELECT p.region, e.event_type, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM events AS e, partner AS p
WHERE p.id = e.user_id
  AND (e.event_type LIKE 'c%' OR e.event_type = 'purchase')
GROUP BY ALL
