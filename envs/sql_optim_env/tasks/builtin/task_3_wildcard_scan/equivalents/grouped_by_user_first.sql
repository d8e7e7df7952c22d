SELECT
    u.region,
    SUM(e.carts)::BIGINT AS carts,
    SUM(e.purchases)::BIGINT AS purchases,
    MAX(e.last_purchase_at) AS last_purchase_at
FROM (
    SELECT
        user_id,
        COUNT(*) FILTER (WHERE event_type = 'cart') AS carts,
        COUNT(*) FILTER (WHERE event_type = 'purchase') AS purchases,
        MAX(occurred_at) FILTER (WHERE event_type = 'purchase') AS last_purchase_at
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-07-01'
      AND (event_type = 'cart' OR event_type = 'purchase')
    GROUP BY user_id
) AS e
JOIN users AS u ON u.id = e.user_id
WHERE u.email LIKE '%@web.example'
  AND u.region <> ''
GROUP BY u.region
