WITH RECURSIVE link AS MATERIALIZED (
    SELECT id, downstream_id
    FROM reach
    WHERE downstream_id IS NOT NULL AND 1
),
up(id) AS (
    SELECT id FROM reach WHERE id = 12 AND shut IS NOT 1
    UNION
    SELECT l.id FROM up CROSS JOIN link l ON l.downstream_id = up.id
)
SELECT r.id, r.name, r.survey
FROM up
CROSS JOIN reach r ON r.id = up.id
WHERE r.shut IS NOT 1
ORDER BY r.id
