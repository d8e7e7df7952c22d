WITH activity AS (
    SELECT u.region, e.event_type, e.occurred_at
    FROM events AS e
    JOIN users AS u ON u.id = e.user_id
    WHERE u.email || '/' || e.event_type LIKE '%@web.example/cart'
       OR u.email || '/' || e.event_type LIKE '%@web.example/checkout'
       OR u.email || '/' || e.event_type LIKE '%@web.example/purchase'
)
SELECT
    region,
    event_type,
    COUNT(*) AS events,
    MAX(occurred_at) AS last_event_at
FROM (SELECT * FROM activity) AS a
WHERE region IS NOT NULL
GROUP BY region, event_type
