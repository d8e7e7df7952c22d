WITH activity AS (
    SELECT DISTINCT e.*, u.*
    FROM events AS e
    JOIN users AS u ON u.id = e.user_id
    WHERE u.email LIKE '%@web.example'
      AND e.event_type IN ('cart', 'checkout', 'purchase')
)
SELECT
    region,
    event_type,
    COUNT(*) AS events,
    MAX(occurred_at) AS last_event_at
FROM (SELECT * FROM activity ORDER BY occurred_at DESC) AS a
WHERE region IS NOT NULL
GROUP BY region, event_type
