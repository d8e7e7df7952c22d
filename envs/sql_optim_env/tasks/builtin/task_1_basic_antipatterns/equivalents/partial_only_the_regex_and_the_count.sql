SELECT u.tier, COUNT(*) AS events, MAX(e.occurred_at) AS last_event_at
FROM (
    SELECT *
    FROM events
    WHERE strftime(occurred_at, '%Y-%m') IN ('2024-10', '2024-11', '2024-12')
      AND event_type IN ('cart', 'checkout', 'purchase')
) AS e
JOIN users AS u ON CAST(u.id AS VARCHAR) = CAST(e.user_id AS VARCHAR)
GROUP BY u.tier
