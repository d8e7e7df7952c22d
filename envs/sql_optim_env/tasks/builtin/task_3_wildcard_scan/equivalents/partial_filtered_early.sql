SELECT
    a.region,
    COUNT(*) FILTER (WHERE a.label LIKE '%@web.example/cart') AS carts,
    COUNT(*) FILTER (WHERE a.label LIKE '%@web.example/purchase') AS purchases,
    MAX(a.occurred_at) FILTER (WHERE a.label LIKE '%@web.example/purchase') AS last_purchase_at
FROM (
    SELECT DISTINCT e.*, u.*, u.email || '/' || e.event_type AS label
    FROM events AS e
    JOIN users AS u ON u.id = e.user_id
    WHERE e.occurred_at >= TIMESTAMP '2024-07-01'
      AND u.region <> ''
      AND u.email LIKE '%@web.example'
      AND e.event_type IN ('cart', 'purchase')
    ORDER BY e.occurred_at DESC
) AS a
GROUP BY a.region
HAVING carts > 0 OR purchases > 0
