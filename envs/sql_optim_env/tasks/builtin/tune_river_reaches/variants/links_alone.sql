WITH RECURSIVE link AS MATERIALIZED (SELECT id, downstream_id FROM reach WHERE downstream_id IS NOT NULL),
up(id, name, survey) AS (
    SELECT id, name, survey FROM reach WHERE id = 12 AND shut IS NOT 1
    UNION
    SELECT r.id, r.name, r.survey
    FROM up
    CROSS JOIN link l ON l.downstream_id = up.id
    CROSS JOIN reach r ON r.id = l.id
    WHERE r.shut IS NOT 1
)
SELECT id, name, survey
FROM up
ORDER BY id
