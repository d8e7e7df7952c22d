SELECT u.tier, COUNT(DISTINCT e.id) AS events, MAX(e.occurred_at) AS last_event_at
FROM (
    SELECT *
    FROM events
    WHERE occurred_at >= TIMESTAMP '2024-10-01'
      AND occurred_at < TIMESTAMP '2025-01-01'
      AND regexp_matches(event_type, '^(cart|checkout|purchase)$')
) AS e
JOIN users AS u ON CAST(u.id AS VARCHAR) = CAST(e.user_id AS VARCHAR)
GROUP BY u.tier
