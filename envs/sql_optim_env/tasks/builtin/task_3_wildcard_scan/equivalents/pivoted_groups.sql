SELECT
    region,
    COALESCE(SUM(n) FILTER (WHERE event_type = 'cart'), 0)::BIGINT AS carts,
    COALESCE(SUM(n) FILTER (WHERE event_type = 'purchase'), 0)::BIGINT AS purchases,
    MAX(last_at) FILTER (WHERE event_type = 'purchase') AS last_purchase_at
FROM (
    SELECT u.region, e.event_type, COUNT(*) AS n, MAX(e.occurred_at) AS last_at
    FROM users AS u
    JOIN events AS e ON e.user_id = u.id
    WHERE right(u.email, 12) = '@web.example'
      AND u.region <> ''
      AND e.event_type IN ('cart', 'purchase')
      AND e.occurred_at >= TIMESTAMP '2024-07-01'
    GROUP BY u.region, e.event_type
) AS g
GROUP BY region
