SELECT
    u.region,
    COUNT(*) FILTER (WHERE e.event_type = 'cart' AND u.email LIKE '%@web.example') AS carts,
    COUNT(*) FILTER (WHERE e.event_type = 'purchase' AND u.email LIKE '%@web.example') AS purchases,
    MAX(e.occurred_at) FILTER (WHERE e.event_type = 'purchase' AND u.email LIKE '%@web.example') AS last_purchase_at
FROM events AS e
JOIN users AS u ON u.id = e.user_id
WHERE e.occurred_at >= TIMESTAMP '2024-07-01'
  AND u.region <> ''
GROUP BY u.region
HAVING carts > 0 OR purchases > 0
