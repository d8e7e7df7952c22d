WITH partner AS MATERIALIZED (SELECT id, region FROM users WHERE email LIKE '%@web.example' AND region <> ''),
carts AS (
    SELECT p.region, COUNT(*) AS carts
    FROM events AS e JOIN partner AS p ON p.id = e.user_id
    WHERE e.event_type = 'cart' AND e.occurred_at >= TIMESTAMP '2024-07-01'
    GROUP BY p.region
),
purchases AS (
    SELECT p.region, COUNT(*) AS purchases, MAX(e.occurred_at) AS last_purchase_at
    FROM events AS e JOIN partner AS p ON p.id = e.user_id
    WHERE e.event_type = 'purchase' AND e.occurred_at >= TIMESTAMP '2024-07-01'
    GROUP BY p.region
)
SELECT region, COALESCE(carts, 0) AS carts, COALESCE(purchases, 0) AS purchases, last_purchase_at
FROM carts
FULL JOIN purchases USING (region)
