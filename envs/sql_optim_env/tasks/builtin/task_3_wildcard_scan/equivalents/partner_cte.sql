WITH partner AS (
    SELECT id, region
    FROM users
    WHERE ends_with(email, '@web.example')
      AND region <> ''
)
SELECT
    p.region,
    COUNT(CASE WHEN e.event_type = 'cart' THEN e.id END) AS carts,
    COUNT(CASE WHEN e.event_type = 'purchase' THEN e.id END) AS purchases,
    MAX(CASE WHEN e.event_type = 'purchase' THEN e.occurred_at END) AS last_purchase_at
FROM events AS e, partner AS p
WHERE p.id = e.user_id
  AND e.occurred_at >= TIMESTAMP '2024-07-01'
GROUP BY ALL
HAVING carts + purchases > 0
