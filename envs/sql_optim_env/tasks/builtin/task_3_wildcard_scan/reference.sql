SELECT
    u.region,
    COUNT(*) FILTER (WHERE e.event_type = 'cart') AS carts,
    COUNT(*) FILTER (WHERE e.event_type = 'purchase') AS purchases,
    MAX(e.occurred_at) FILTER (WHERE e.event_type = 'purchase') AS last_purchase_at
FROM events AS e
JOIN users AS u ON u.id = e.user_id
WHERE e.occurred_at >= TIMESTAMP '2024-07-01'
  AND e.event_type IN ('cart', 'purchase')
  AND u.email LIKE '%@web.example'
  AND u.region <> ''
GROUP BY u.region
