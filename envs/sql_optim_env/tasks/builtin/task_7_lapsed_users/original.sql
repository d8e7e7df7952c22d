SELECT
    u.id,
    u.tier
FROM users AS u
WHERE EXISTS (
        SELECT *
        FROM events AS e
        WHERE e.user_id = u.id
          AND e.event_type LIKE '%out'
    )
  AND NOT EXISTS (
        SELECT *
        FROM orders AS o
        WHERE o.customer_id = u.id
          AND date_trunc('month', o.created_at) = TIMESTAMP '2024-12-01'
    )
