SELECT
    u.id,
    u.email,
    u.tier
FROM users AS u
WHERE NOT EXISTS (
        SELECT *
        FROM orders AS o
        WHERE o.customer_id = u.id
          AND date_trunc('month', o.created_at) = TIMESTAMP '2024-12-01'
    )
  AND NOT EXISTS (
        SELECT *
        FROM events AS e
        WHERE e.user_id = u.id
          AND e.event_type LIKE '%out'
    )
